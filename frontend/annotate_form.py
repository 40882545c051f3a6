"""The form for one label; `annotation_create` judges it."""

from typing import Any

from django import forms

from benchmark.models import Run
from traces.methods.failures import FailureType
from traces.models import Annotation, Trace
from traces.models.annotation import NOTE_MOST
from traces.services.annotation_suggestions import SYMPTOMS

NUMBERED = {str(number): kind for number, kind in enumerate(FailureType, start=1)}
"""The keys 1 to 5; 0 is none of them."""


class AnnotationForm(forms.Form):
    """`type` is a digit; events are numbers of the transcript."""

    type = forms.ChoiceField(
        choices=[(key, key) for key in ("0", *NUMBERED)], error_messages={"required": "Choose one."}
    )
    first_seq = forms.IntegerField(min_value=1, required=False)
    last_seq = forms.IntegerField(min_value=1, required=False)
    critical_seq = forms.IntegerField(min_value=1, required=False)
    note = forms.CharField(max_length=NOTE_MOST, required=False)
    trace = forms.SlugField(max_length=32, required=False)
    revises = forms.IntegerField(min_value=1, required=False)

    @property
    def types(self) -> list[tuple[str, str, str, bool]]:
        """`(key, name, symptom, chosen)`."""
        chosen = str(self["type"].value() or "")
        found = [(key, kind.value, SYMPTOMS[kind], key == chosen) for key, kind in NUMBERED.items()]
        return [*found, ("0", "None of the five", "", chosen == "0")]

    def values(self, run: Run, author_id: int) -> dict[str, Any]:
        """The arguments of `annotation_create`. Raises: Annotation.DoesNotExist, Trace.DoesNotExist."""
        given = dict(self.cleaned_data)
        kind, trace, revises = given.pop("type"), given.pop("trace"), given.pop("revises")
        known = Trace.objects.filter(run=run)
        return given | {
            "failure_type": NUMBERED[kind].value if kind in NUMBERED else "",
            "trace": known.get(key=trace) if trace else known.first() if known.count() == 1 else None,
            "revises": Annotation.objects.get(pk=revises, run=run, author_id=author_id) if revises else None,
        }


def form_for(query: dict[str, Any], revised: Annotation | None) -> AnnotationForm:
    """Empty, or filled from the place in the trace that a link names, or from a label that is to be revised."""
    first = {name: query[name] for name in AnnotationForm.base_fields if query.get(name)}
    if revised is not None:
        keys = {kind.value: key for key, kind in NUMBERED.items()}
        first |= {name: getattr(revised, name) for name in ("first_seq", "last_seq", "critical_seq", "note")}
        first |= {"type": keys.get(revised.failure_type, "0"), "revises": revised.pk}
        first |= {"trace": revised.trace.key if revised.trace else ""}
    return AnnotationForm(initial=first)
