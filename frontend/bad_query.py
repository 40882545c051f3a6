"""What is wrong with an address: told on a page of its own, status 400, naming the parameter."""

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

P = ParamSpec("P")
View = Callable[Concatenate[HttpRequest, P], HttpResponse]


class BadQuery(Exception):
    """`parameter` cannot be what it was; `mend` is an address that works, empty: the page without parameters."""

    def __init__(self, parameter: str, message: str, mend: str = "") -> None:
        super().__init__(message)
        self.parameter, self.message, self.mend = parameter, message, mend


def bad_queries_told(view: "View[P]") -> "View[P]":
    """Answer 400 with what is wrong, and a way on."""

    @wraps(view)
    def answer(request: HttpRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
        try:
            return view(request, *args, **kwargs)
        except BadQuery as error:
            return render(request, "frontend/bad_query.html", {"error": error}, status=400)

    return answer
