"""What a person was told."""

from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from bundles.models import Notification
from bundles.services.notifications import notifications_read
from frontend.access import signed_in


@login_required
@require_safe
def notices(request: HttpRequest) -> HttpResponse:
    rows = Notification.objects.filter(user=signed_in(request))
    context = {"page": Paginator(rows, 50).get_page(request.GET.get("page")), "unread": rows.unread().count()}
    return render(request, "frontend/bundle_notices.html", context)


@login_required
@require_POST
def notices_read(request: HttpRequest) -> HttpResponse:
    notifications_read(signed_in(request))
    return redirect("notices")
