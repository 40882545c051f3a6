"""Which evaluation is a run's baseline."""

from django.db import models

from benchmark.models import Run
from grading.models.evaluation import Evaluation


class Baseline(models.Model):
    """The base model's own evaluation on the run's task, shared by all runs of the same base model and protocol."""

    run = models.OneToOneField(Run, on_delete=models.CASCADE, related_name="baseline", primary_key=True)
    evaluation = models.ForeignKey(Evaluation, on_delete=models.PROTECT, related_name="baselines")

    def __str__(self) -> str:
        return f"baseline of {self.run_id}"
