"""What the annotation pages show."""

from dataclasses import dataclass
from functools import cached_property

from django.contrib.auth.models import AnonymousUser, User

from benchmark.models import Run
from frontend.annotate_form import AnnotationForm
from grading.services.annotation_suggest import suggestions_reveal
from traces.models import ADJUDICATE, ANNOTATE, Adjudication, Annotation, Labelling, Suggestion, Trace
from traces.services.annotation_reading import annotations_for


@dataclass(frozen=True)
class AnnotatePage:
    """A run as one researcher may see it."""

    run: Run
    user: User

    @cached_property
    def mine(self) -> Labelling | None:
        return Labelling.objects.filter(run=self.run, author=self.user).first()

    @property
    def submitted(self) -> bool:
        return self.mine is not None and self.mine.submitted_at is not None

    @cached_property
    def labels(self) -> list[Annotation]:
        """Own ones; after submission everybody's submitted ones."""
        return annotations_for(self.user, self.run)

    @property
    def own(self) -> list[Annotation]:
        return [each for each in self.labels if each.author_id == self.user.pk]

    @cached_property
    def hidden(self) -> int:
        """How many others have submitted labels that are hidden."""
        return 0 if self.submitted else Labelling.objects.submitted().filter(run=self.run).count()

    @cached_property
    def suggestions(self) -> list[Suggestion]:
        return suggestions_reveal(self.user, self.run) if self.submitted else []

    @cached_property
    def decisions(self) -> list[Adjudication]:
        return list(Adjudication.objects.visible_to(self.user).filter(run=self.run).select_related("author"))

    @property
    def may_adjudicate(self) -> bool:
        others = any(each.author_id != self.user.pk for each in self.labels)
        return self.submitted and others and self.user.has_perm(ADJUDICATE)

    @cached_property
    def traces(self) -> list[Trace]:
        return list(Trace.objects.filter(run=self.run).order_by("id"))

    @property
    def releasable(self) -> bool:
        return self.mine is not None and not self.submitted and not self.labels


def open_labellings(user: User) -> list[Labelling]:
    """Taken or begun, and not submitted."""
    return list(Labelling.objects.open().filter(author=user).select_related("run").order_by("id"))


def submitted_labellings(user: User, most: int = 50) -> list[Labelling]:
    """The latest first."""
    return list(
        Labelling.objects.submitted().filter(author=user).select_related("run").order_by("-submitted_at")[:most]
    )


def annotate_side(user: User | AnonymousUser, run: Run, trace: Trace) -> dict[str, object]:
    """The form beside a trace, for people who may label an ended run; it shows nothing of others."""
    if not isinstance(user, User) or not run.terminal or not user.has_perm(ANNOTATE):
        return {}
    return {"annotate": AnnotatePage(run, user), "form": AnnotationForm(initial={"trace": trace.key})}
