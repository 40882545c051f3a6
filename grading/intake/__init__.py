"""Intake: a submitted folder becomes a private, hashed, checked copy, or a list of what to mend."""

from grading.intake.base import BaseFacts, BaseModelFault, base_facts
from grading.intake.limits import IntakeLimits
from grading.intake.report import Distance, GradedFile, IntakeReport
from grading.intake.take import checkpoint_take
from grading.intake.view import View

__all__ = [
    "BaseFacts",
    "BaseModelFault",
    "Distance",
    "GradedFile",
    "IntakeLimits",
    "IntakeReport",
    "View",
    "base_facts",
    "checkpoint_take",
]
