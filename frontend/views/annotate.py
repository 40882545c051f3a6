"""Labelling runs: queues, the form of one run, decisions, and agreement."""

from urllib.parse import urlencode

from django.contrib import messages
from django.core.exceptions import ObjectDoesNotExist, ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from benchmark.models import Run
from frontend.access import run_seen, signed_in
from frontend.annotate_access import (
    MAKE_QUEUES,
    adjudicators_only,
    annotators_only,
    queue_makers_only,
)
from frontend.annotate_form import NUMBERED, AnnotationForm, form_for
from frontend.annotate_page import AnnotatePage, open_labellings, submitted_labellings
from frontend.numbers import whole_number
from traces.agreement import LEAST_OVERLAP
from traces.models import Annotation, LabellingQueue
from traces.services.annotation import adjudication_create, annotation_create, labels_submit
from traces.services.annotation_queue import claim_release, queue_create, queues_progress, run_claim
from traces.services.annotation_reading import agreement


@annotators_only
@require_safe
def annotate(request: HttpRequest) -> HttpResponse:
    return render(request, "frontend/annotate.html", _progress(request))


def _progress(request: HttpRequest) -> dict[str, object]:
    user = signed_in(request)
    return {
        "queues": queues_progress(user),
        "open": open_labellings(user),
        "submitted": submitted_labellings(user),
        "may_make": user.has_perm(MAKE_QUEUES),
    }


@annotators_only
@queue_makers_only
@require_POST
def queue_new(request: HttpRequest) -> HttpResponse:
    given = {name: request.POST.get(name, "").replace("\x00", "") for name in ("name", "annotators", "runs")}
    wanted = whole_number(given["annotators"]) or 0
    slugs = given["runs"].replace(",", " ").split()
    try:
        queue = queue_create(name=given["name"], slugs=slugs, annotators=wanted, created_by=signed_in(request))
    except ValidationError as error:
        told = {"problems": error.message_dict, "given": given}
        return render(request, "frontend/annotate.html", _progress(request) | told, status=422)
    messages.info(request, f"The queue {queue.name} has been made.")
    return redirect("annotate")


@annotators_only
@require_POST
def queue_next(request: HttpRequest, pk: int) -> HttpResponse:
    claimed = run_claim(queue=get_object_or_404(LabellingQueue, pk=pk), author=signed_in(request))
    if claimed is None:
        messages.info(
            request, "Nothing is left for you in this queue: its runs have their labels or are being labelled."
        )
        return redirect("annotate")
    return redirect("run-annotate", claimed.run.slug)


@annotators_only
@require_http_methods(["GET", "HEAD", "POST"])
def run_annotate(request: HttpRequest, slug: str) -> HttpResponse:
    run, user = run_seen(request, slug), signed_in(request)
    if request.method == "POST":
        return _label_stored(request, run)
    asked = whole_number(request.GET.get("revises"))
    mine = Annotation.objects.filter(run=run, author=user, revisions=None)
    revised = mine.filter(pk=asked).first() if asked else None
    return _form(request, run, form_for(request.GET.dict(), revised))


def _label_stored(request: HttpRequest, run: Run) -> HttpResponse:
    form, user = AnnotationForm(request.POST), signed_in(request)
    if form.is_valid():
        try:
            made = annotation_create(author=user, run=run, **form.values(run, user.pk))
            messages.info(request, "Your label is stored.")
            if "submit" in request.POST and labels_submit(author=user, run=run):
                messages.info(request, "Your labels are submitted; what others said is below.")
            return _back(request, made)
        except ObjectDoesNotExist:
            form.add_error(None, "The transcript or the label that this refers to is not there any more.")
        except ValidationError as error:
            for name, told in error.message_dict.items():
                form.add_error(name if name in form.fields else None, told)
    return _form(request, run, form, status=422)


def _back(request: HttpRequest, made: Annotation) -> HttpResponse:
    """To the trace where the label was given there, unless others' labels can be seen from now on."""
    if request.POST.get("back") != "trace" or "submit" in request.POST or made.trace is None:
        return redirect("run-annotate", made.run.slug)
    place = urlencode({"trace": made.trace.key, "event": made.first_seq or 1})
    return redirect(f"{reverse('trace', args=[made.run.slug])}?{place}")


def _form(request: HttpRequest, run: Run, form: AnnotationForm, status: int = 200, **more: object) -> HttpResponse:
    context = {"run": run, "page": AnnotatePage(run, signed_in(request)), "form": form, "numbered": NUMBERED} | more
    return render(request, "frontend/annotate_run.html", context, status=status)


@annotators_only
@require_POST
def run_annotate_submit(request: HttpRequest, slug: str) -> HttpResponse:
    run = run_seen(request, slug)
    try:
        done = labels_submit(author=signed_in(request), run=run)
    except ValidationError as error:
        return _form(request, run, AnnotationForm(), status=422, problem=" ".join(error.messages))
    messages.info(request, "Your labels are submitted." if done else "Your labels had been submitted before.")
    return redirect("run-annotate", run.slug)


@annotators_only
@require_POST
def run_annotate_release(request: HttpRequest, slug: str) -> HttpResponse:
    run = run_seen(request, slug)
    gone = claim_release(run=run, author=signed_in(request))
    messages.info(request, f"You gave {run.slug} back." if gone else "A run that you have labelled stays with you.")
    return redirect("annotate")


@annotators_only
@adjudicators_only
@require_POST
def run_adjudicate(request: HttpRequest, slug: str) -> HttpResponse:
    run = run_seen(request, slug)
    types = [NUMBERED[key].value for key in request.POST.getlist("types") if key in NUMBERED]
    note = request.POST.get("note", "")
    try:
        adjudication_create(author=signed_in(request), run=run, failure_types=types, note=note)
    except ValidationError as error:
        told = {"decision": {"types": request.POST.getlist("types"), "note": note, "problems": error.messages}}
        return _form(request, run, AnnotationForm(), status=422, **told)
    messages.info(request, "Your decision is stored beside the labels.")
    return redirect("run-annotate", run.slug)


@annotators_only
@require_safe
def agreement_page(request: HttpRequest) -> HttpResponse:
    asked = whole_number(request.GET.get("queue"))
    queue = get_object_or_404(LabellingQueue, pk=asked) if asked else None
    tags, pairs = agreement(queue)
    context = {"tags": tags, "pairs": pairs, "queue": queue, "queues": LabellingQueue.objects.all()}
    return render(request, "frontend/agreement.html", context | {"least": LEAST_OVERLAP})
