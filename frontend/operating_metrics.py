"""What Prometheus is told: read from the database at each scrape, so that every web process tells the same."""

from collections.abc import Iterator

from django.conf import settings
from django.db.models import Count, Max, Sum
from django.utils import timezone
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric, SummaryMetricFamily
from prometheus_client.registry import Collector

from benchmark.models import HELD, Run, RunState
from frontend.queue_page import queue_page
from grading.models import Submission, Verdict
from traces.models import ResourceSample


class Platform(Collector):
    """See the module. Names and meanings: docs/operating.md."""

    def collect(self) -> Iterator[Metric]:
        yield from _queue()
        yield from _runs()
        yield from _grading()
        yield from _machines()


def _queue() -> Iterator[Metric]:
    depth = GaugeMetricFamily("agent2_queue_depth", "Pieces of work that wait", labels=["kind"])
    age = GaugeMetricFamily("agent2_queue_oldest_seconds", "Age of the oldest one that waits", labels=["kind"])
    busy = GaugeMetricFamily("agent2_queue_running", "Pieces of work that workers hold", labels=["kind"])
    page, now = queue_page(), timezone.now()
    for waiting in page.waiting:
        kind = [waiting.kind.lower()]
        depth.add_metric(kind, waiting.depth)
        age.add_metric(kind, (now - waiting.oldest).total_seconds() if waiting.oldest else 0.0)
        busy.add_metric(kind, waiting.running)
    yield from (depth, age, busy)
    yield GaugeMetricFamily("agent2_workers_busy", "Worker processes that hold work", value=page.working)
    silent = len(page.silent)
    yield GaugeMetricFamily("agent2_workers_silent", "Those not heard of for two heartbeats", value=silent)


def _runs() -> Iterator[Metric]:
    local = Run.objects.filter(origin="local")
    states = GaugeMetricFamily("agent2_runs", "Runs by state", labels=["state"])
    counted = dict(local.order_by().values_list("state").annotate(Count("pk")))
    for state in RunState.values:
        states.add_metric([state], counted.get(state, 0))
    faults = CounterMetricFamily("agent2_run_faults", "Runs that ended by a fault", labels=["code"])
    for code, count in local.exclude(fault_code="").order_by().values_list("fault_code").annotate(Count("pk")):
        faults.add_metric([code], count)
    yield from (states, faults)


def _grading() -> Iterator[Metric]:
    submissions = GaugeMetricFamily("agent2_submissions", "Submissions by state", labels=["state"])
    for state, count in Submission.objects.order_by().values_list("state").annotate(Count("pk")):
        submissions.add_metric([state], count)
    faults = CounterMetricFamily("agent2_verdict_failures", "Verdicts without a score", labels=["code"])
    for code, count in Verdict.objects.exclude(code="").order_by().values_list("code").annotate(Count("pk")):
        faults.add_metric([code], count)
    spent = SummaryMetricFamily("agent2_evaluation_seconds", "Time the grading runner took", labels=["protocol"])
    rows = Verdict.objects.filter(code="").order_by().values("protocol")
    for row in rows.annotate(count=Count("pk"), seconds=Sum("seconds")):
        spent.add_metric([row["protocol"]], count_value=row["count"], sum_value=row["seconds"] or 0.0)
    yield from (submissions, faults, spent)


def _machines() -> Iterator[Metric]:
    """The last look of each running agent's worker at its GPUs."""
    labels = ["worker", "gpu"]
    use = GaugeMetricFamily("agent2_gpu_utilization_ratio", "Of each GPU, as nvidia-smi tells", labels=labels)
    memory = GaugeMetricFamily("agent2_gpu_memory_used_bytes", "Of each GPU", labels=labels)
    held = Run.objects.filter(state__in=HELD)
    last = held.annotate(looked=Max("samples__pk")).exclude(looked=None).values_list("looked", flat=True)
    told: dict[tuple[str, str], dict[str, float | None]] = {}
    for sample in ResourceSample.objects.filter(pk__in=list(last)).select_related("run"):
        for gpu in sample.gpus:
            told[sample.run.worker.partition("/")[0], str(gpu.get("index"))] = gpu
    for place, gpu in told.items():
        if (percent := gpu.get("percent")) is not None:
            use.add_metric(place, percent / 100)
        if (used := gpu.get("memory_bytes")) is not None:
            memory.add_metric(place, used)
    yield from (use, memory)
    yield GaugeMetricFamily("agent2_heartbeat_seconds", "The time between two heartbeats", value=settings.HEARTBEAT_S)
