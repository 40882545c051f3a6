"""Celery's configuration, loaded lazily by `config.celery`."""

from typing import Any

from django.conf import settings

from config.broker import register

register()

broker_url = settings.BROKER_URL or "folder://localhost"
task_ignore_result = True
task_acks_late = False
worker_prefetch_multiplier = 1
task_serializer = "json"
accept_content = ["json"]
broker_connection_retry_on_startup = True
broker_connection_timeout = 3
# For ever: after the default's 100 tries, 46 minutes, a worker would end, and with it every agent in bubblewrap.
broker_connection_max_retries = None
task_publish_retry = False
worker_hijack_root_logger = False
worker_send_task_events = False
task_default_queue = "default"
task_routes = {f"{room}.jobs.*": {"queue": "default"} for room in ("benchmark", "grading", "traces", "bundles")} | {
    "benchmark.jobs.run_execute": {"queue": "agents"},
    "grading.jobs.evaluation_execute": {"queue": "grading"},
}
LATE_S = 10
"""A sweep that comes late is better than none; one that comes later than this is not alone in the queue."""
beat_schedule = {
    name: {"task": name, "schedule": settings.SWEEP_S, "options": {"expires": max(LATE_S, settings.SWEEP_S)}}
    for name in (
        *("benchmark.jobs.runs_sweep", "grading.jobs.grading_sweep", "traces.jobs.recordings_sweep"),
        "bundles.jobs.bundles_sweep",
    )
}
if "artifacts" in settings.STORAGES:
    storing = "benchmark.jobs.artifacts_store"
    every = 4 * settings.SWEEP_S
    beat_schedule[storing] = {"task": storing, "schedule": every, "options": {"expires": every}}
beat_schedule_filename = str(settings.DATA_DIR / "beat")
broker_transport_options: dict[str, Any] = {}

if not settings.BROKER_URL:
    for name in ("messages", "control", "processed"):
        (settings.QUEUE_DIR / name).mkdir(parents=True, exist_ok=True)
    broker_transport_options = {
        "data_folder_in": str(settings.QUEUE_DIR / "messages"),
        "data_folder_out": str(settings.QUEUE_DIR / "messages"),
        "control_folder": str(settings.QUEUE_DIR / "control"),
        "processed_folder": str(settings.QUEUE_DIR / "processed"),
        "polling_interval": 0.02,
    }
