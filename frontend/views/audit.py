"""Who changed what, for admins."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from frontend.access import with_permission
from frontend.account_page import audit_page
from frontend.bad_query import bad_queries_told
from frontend.roles import READ_AUDIT


@never_cache
@with_permission(READ_AUDIT)
@bad_queries_told
@require_safe
def audit(request: HttpRequest) -> HttpResponse:
    return render(request, "frontend/audit.html", {"page": audit_page(request.GET.dict())})
