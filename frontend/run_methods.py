"""How a submission's method is shown: its label, its switch, and the difference of its code."""

from dataclasses import dataclass

from grading.services.records import RunAccount
from traces.methods.switches import MethodSwitch
from traces.methods.words import POLICY_GRADIENT, PREFERENCE, Method
from traces.models import LabelSource, MethodLabel


def method_class(method: Method) -> str:
    """The CSS class of a method's mark: filled is reinforcement learning, grey preference, dashed merging."""
    if method in POLICY_GRADIENT:
        return "rl"
    if method in PREFERENCE:
        return "pref"
    return "merge" if method == Method.MERGING else ""


@dataclass(frozen=True)
class MethodCell:
    """One submission's. `before` is the submission that its code is compared with; None: no code was kept."""

    label: MethodLabel | None
    switch: MethodSwitch | None
    before: int | None

    @property
    def marks(self) -> list[tuple[str, str]]:
        """`(name, class)` of each method, in pipeline order."""
        return [(method.value, method_class(method)) for method in self.label.words] if self.label else []

    @property
    def by_person(self) -> bool:
        return self.label is not None and self.label.source == LabelSource.PERSON

    @property
    def doubtful(self) -> bool:
        return self.label is not None and self.label.confidence in ("probable", "possible")

    @property
    def switch_class(self) -> str:
        return "bad" if self.switch is not None and not self.switch.is_success else ""

    @property
    def switch_told(self) -> str:
        if self.switch is None:
            return ""
        told = {True: "raised the best score", False: "did not raise the best score", None: "was not scored"}
        return told[self.switch.is_success]


def method_cells(account: RunAccount) -> dict[int, MethodCell]:
    """By submission."""
    switches = {switch.number: switch for switch in account.record.switches}
    kept = sorted(account.snapshots)
    before = dict(zip(kept, [0, *kept], strict=False))
    return {
        each.number: MethodCell(account.labels.get(each.number), switches.get(each.number), before.get(each.number))
        for each in account.record.submissions
    }
