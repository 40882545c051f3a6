"""Which evaluation is a run's baseline on each of its tasks."""

from django.db import models

from benchmark.models import Run
from grading.models.evaluation import Evaluation


class Baseline(models.Model):
    """The base model's own evaluation on a task, shared by all runs of the same base model and protocol."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="baselines")
    task = models.CharField(max_length=64, blank=True)
    """Which of its run's tasks; empty: the run has only one."""
    evaluation = models.ForeignKey(Evaluation, on_delete=models.PROTECT, related_name="baselines")

    class Meta:
        ordering = ("id",)
        constraints = (models.UniqueConstraint(fields=("run", "task"), name="baseline_once"),)

    def __str__(self) -> str:
        return f"baseline of {self.run_id}"
