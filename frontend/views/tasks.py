"""The tasks, and the page of one."""

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from frontend.bad_query import bad_queries_told
from frontend.figures.task_designs import designs_figure
from frontend.figures.task_scores import task_scores_figure
from frontend.published import designs, scores
from frontend.task_page import AXES, TaskPage, task_lines, task_page_of


@require_safe
def task_list(request: HttpRequest) -> HttpResponse:
    context = {"lines": task_lines(), "axes": AXES, "source": scores().source}
    return render(request, "frontend/tasks.html", context)


@require_safe
def task_designs(request: HttpRequest) -> HttpResponse:
    """Figure 4; `?task=` of one task alone."""
    asked = request.GET.get("task", "")
    if asked and asked not in designs():
        raise Http404
    return JsonResponse(designs_figure([designs()[asked]] if asked else list(designs().values())))


def _page(request: HttpRequest, task_id: str) -> TaskPage:
    page = task_page_of(task_id, request.GET)
    if page is None:
        raise Http404
    return page


@require_safe
@bad_queries_told
def task(request: HttpRequest, task_id: str) -> HttpResponse:
    context = {"page": _page(request, task_id), "axes": AXES, "source": scores().source}
    return render(request, "frontend/task.html", context)


@require_safe
@bad_queries_told
def task_scores(request: HttpRequest, task_id: str) -> HttpResponse:
    return JsonResponse(task_scores_figure(_page(request, task_id).groups))
