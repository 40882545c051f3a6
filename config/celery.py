"""The Celery application. Messages are doorbells: the database holds the queue, so losing one loses nothing."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

app = Celery("agent2")
app.config_from_object("config.celeryconfig")
app.conf["CELERY_DB_REUSE_MAX"] = 200
app.autodiscover_tasks(["benchmark", "grading"], related_name="jobs")
