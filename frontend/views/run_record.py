"""What was recorded of a run: its report, the difference of its code between submissions, its labels."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required, permission_required
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from benchmark.catalogue import task_slug
from benchmark.models import Run
from frontend.access import run_seen
from frontend.annotate_access import may_see_failures
from frontend.bad_query import bad_queries_told
from frontend.run_diff import code_diff
from frontend.run_methods import method_class
from frontend.run_task import task_asked
from grading.services.records import run_account
from traces.methods.words import Method
from traces.models import CodeSnapshot, MethodLabel
from traces.services.labels import label_correct

LABEL = "traces.label_run"


@require_safe
@bad_queries_told
def run_report(request: HttpRequest, slug: str) -> HttpResponse:
    """Of a run with several tasks on one of them, by default its first."""
    run = run_seen(request, slug)
    task = task_asked(request, run) or run.task
    name = f"{run.slug}-{task_slug(task)}" if run.task_list else run.slug
    disposition = {"Content-Disposition": f'attachment; filename="{name}-report.md"'}
    text = run_account(run, task).report(withhold_failures=not may_see_failures(request.user, run))
    return HttpResponse(text, content_type="text/markdown; charset=utf-8", headers=disposition)


@require_safe
def run_diff(request: HttpRequest, slug: str, a: int, b: int) -> HttpResponse:
    """From submission `a` to `b`; 0 is the empty folder. `?part=1` gives the fragment alone."""
    run = run_seen(request, slug)
    diff = code_diff(run, a, b)
    if diff is None:
        raise Http404(f"No code was kept of submission {a} or {b}.")
    template = "frontend/parts/diff.html" if request.GET.get("part") else "frontend/diff.html"
    return render(request, template, {"run": run, "diff": diff})


@require_safe
def run_labels(request: HttpRequest, slug: str, number: int) -> HttpResponse:
    """Every label that a submission was given, and its code's listing."""
    run = run_seen(request, slug)
    if not run.submissions.filter(number=number).exists():
        raise Http404("No such submission.")
    return render(request, "frontend/labels.html", _labels(request, run, number))


def _labels(request: HttpRequest, run: Run, number: int) -> dict[str, object]:
    labels = MethodLabel.objects.filter(run=run, number=number).order_by("-id")
    return {
        "run": run,
        "number": number,
        "labels": [(label, [(method, method_class(method)) for method in label.words]) for label in labels],
        "snapshot": CodeSnapshot.objects.filter(run=run, number=number).first(),
        "methods": [method.value for method in Method if method != Method.NONE],
        "may_label": request.user.has_perm(LABEL),
    }


@login_required
@permission_required(LABEL, raise_exception=True)
@require_http_methods(["POST"])
def run_label_correct(request: HttpRequest, slug: str, number: int) -> HttpResponse:
    run = run_seen(request, slug)
    assert isinstance(request.user, User)
    given, reason = request.POST.get("methods", ""), request.POST.get("reason", "")
    words = [word.strip() for word in given.replace("→", ",").split(",") if word.strip()]
    try:
        label_correct(run=run, number=number, methods=words, author=request.user, reason=reason)
    except ValidationError as error:
        told = {"problems": error.message_dict, "given": given, "reason": reason}
        return render(request, "frontend/labels.html", _labels(request, run, number) | told, status=422)
    messages.info(request, f"Submission {number} is labelled by you now; the earlier labels stay in the record.")
    return redirect("run-labels", run.slug, number)
