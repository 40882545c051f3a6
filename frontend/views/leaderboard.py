"""The first page."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from frontend.access import may_operate
from frontend.leaderboard import leaderboard
from frontend.readings import findings
from frontend.run_list import active_runs


@require_safe
def leaderboard_page(request: HttpRequest) -> HttpResponse:
    panels = leaderboard()
    context = {
        "panels": panels,
        "findings": findings(panels),
        "active": active_runs(),
        "may_operate": may_operate(request),
    }
    return render(request, "frontend/leaderboard.html", context)
