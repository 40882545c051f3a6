"""The first page, and its numbers as files."""

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from frontend.access import may_operate
from frontend.bad_query import bad_queries_told
from frontend.board import Filters, board
from frontend.board.export import FIELDS, board_rows
from frontend.csv_text import csv_text
from frontend.leaderboard import ALSO, leaderboard_of
from frontend.leaderboard_latex import board_latex
from frontend.published import scores
from frontend.run_list import active_runs


@require_safe
@bad_queries_told
def leaderboard_page(request: HttpRequest) -> HttpResponse:
    context = {
        "page": leaderboard_of(request.GET),
        "source": scores().source,
        "active": active_runs(),
        "may_operate": may_operate(request),
    }
    return render(request, "frontend/leaderboard.html", context)


@require_safe
@bad_queries_told
def leaderboard_csv(request: HttpRequest) -> HttpResponse:
    rows = board_rows(board(Filters.read(request.GET, also=ALSO)))
    text = csv_text(FIELDS, ([row[name] for name in FIELDS] for row in rows))
    return _file(text, "text/csv; charset=utf-8", "leaderboard.csv")


@require_safe
@bad_queries_told
def leaderboard_json(request: HttpRequest) -> HttpResponse:
    filters = Filters.read(request.GET, also=ALSO)
    answer = JsonResponse({"filters": filters.chosen, "rows": list(board_rows(board(filters)))})
    answer.headers["Content-Disposition"] = 'attachment; filename="leaderboard.json"'
    return answer


@require_safe
@bad_queries_told
def leaderboard_tex(request: HttpRequest) -> HttpResponse:
    return _file(
        board_latex(board(Filters.read(request.GET, also=ALSO))), "text/x-tex; charset=utf-8", "leaderboard.tex"
    )


def _file(text: str, kind: str, name: str) -> HttpResponse:
    return HttpResponse(text, content_type=kind, headers={"Content-Disposition": f'attachment; filename="{name}"'})
