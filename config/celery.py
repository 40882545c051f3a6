"""The Celery application. Messages are doorbells: the database holds the queue, so losing one loses nothing."""

import os
import sys

from celery import Celery
from celery.signals import task_prerun

from config.consuming import Consuming

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

# Threads that answer must not wait 5 ms (the default) for those that compute.
sys.setswitchinterval(0.0005)

app = Celery("agent2")
app.config_from_object("config.celeryconfig")
app.conf["CELERY_DB_REUSE_MAX"] = 200
app.steps["consumer"].add(Consuming)
app.autodiscover_tasks(["benchmark", "grading", "traces", "bundles"], related_name="jobs")


@task_prerun.connect
def _connection_mended(**_: object) -> None:
    """A thread keeps its database connection over many jobs: one that broke is given back before the next."""
    from django.db import connection

    if connection.errors_occurred:
        connection.close_if_unusable_or_obsolete()
