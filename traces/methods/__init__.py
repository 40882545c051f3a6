"""Which method made a checkpoint, judged from the code that a run wrote; nothing is executed."""

from traces.methods.label import label_submission
from traces.methods.words import Confidence, Evidence, Method, MethodFinding, MethodReport, Route

__all__ = ["Confidence", "Evidence", "Method", "MethodFinding", "MethodReport", "Route", "label_submission"]
