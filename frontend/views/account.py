"""One's own account: tokens and password; and, for admins, everybody's roles."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.models import User
from django.contrib.auth.views import LoginView, PasswordChangeView
from django.core.exceptions import ValidationError
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from benchmark.models import ApiToken
from benchmark.services.audit import audit_record
from benchmark.services.tokens import token_create, token_revoke
from frontend.access import signed_in, with_permission
from frontend.account_page import AccountPage, account_rows
from frontend.accounts import account_active, account_create, account_roles
from frontend.bad_query import BadQuery, bad_queries_told
from frontend.roles import MANAGE_ACCOUNTS
from frontend.sign_in_limit import sign_in_allowed

admins_only = with_permission(MANAGE_ACCOUNTS)


@never_cache
@login_required
@require_safe
def account(request: HttpRequest) -> HttpResponse:
    return render(request, "frontend/account.html", {"page": AccountPage(signed_in(request))})


@never_cache
@login_required
@require_POST
def token_new(request: HttpRequest) -> HttpResponse:
    """The secret is in this one answer and nowhere else."""
    given = request.POST
    context: dict[str, Any] = {"page": AccountPage(signed_in(request)), "given": given}
    try:
        days = _days(given.get("days", ""))
        _, context["secret"] = token_create(
            user=signed_in(request), name=given.get("name", ""), scopes=given.getlist("scopes"), days=days
        )
    except ValidationError as error:
        context["problems"] = error.message_dict
        context["chosen"] = given.getlist("scopes")
    return render(request, "frontend/account.html", context, status=400 if "problems" in context else 200)


def _days(text: str) -> int | None:
    if text == "never":
        return None
    if not (text.isascii() and text.isdigit() and len(text) < 6):
        raise ValidationError({"days": "Give a number of days, or never."})
    return int(text)


@login_required
@require_POST
def token_revoke_view(request: HttpRequest, pk: int) -> HttpResponse:
    token = get_object_or_404(ApiToken, pk=pk, user=signed_in(request))
    done = token_revoke(token=token, actor=signed_in(request))
    messages.info(request, f"The token “{token.name}” {'is revoked' if done else 'was revoked before'}.")
    return redirect("account")


class SignIn(LoginView):
    """Sign in; too many tries from one address or at one account are put off."""

    template_name = "frontend/login.html"
    redirect_authenticated_user = True

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if not sign_in_allowed(request, request.POST.get("username", "")):
            told = {"form": self.get_form(), "put_off": True, "next": request.POST.get("next", "")}
            return render(request, self.template_name, told, status=429)
        return super().post(request, *args, **kwargs)

    def form_valid(self, form: AuthenticationForm) -> HttpResponse:
        answer = super().form_valid(form)
        user = form.get_user()
        audit_record(actor=user, action="account.sign_in", subject=user, name=user.get_username())
        return answer


class PasswordChange(PasswordChangeView):
    """One's own password; other sessions end."""

    template_name = "frontend/password.html"
    success_url = reverse_lazy("account")

    def form_valid(self, form: Any) -> HttpResponse:
        answer = super().form_valid(form)
        audit_record(actor=self.request.user, action="account.password", subject=form.user, name=form.user.username)
        messages.info(self.request, "Your password is changed. Other sessions are signed out; tokens go on working.")
        return answer


@never_cache
@admins_only
@bad_queries_told
@require_safe
def accounts(request: HttpRequest) -> HttpResponse:
    text = request.GET.get("q", "")
    for name in request.GET:
        if name != "q":
            raise BadQuery(name, "There is no such parameter; known is q.")
    if len(text) > 150 or not text.isprintable():
        raise BadQuery("q", "Give at most 150 printable characters.")
    return render(request, "frontend/accounts.html", {"rows": account_rows(text), "q": text})


@never_cache
@admins_only
@require_POST
def account_new(request: HttpRequest) -> HttpResponse:
    """The password that was made up is in this one answer and nowhere else."""
    name, roles = request.POST.get("name", ""), request.POST.getlist("roles")
    context: dict[str, Any] = {"given": name}
    try:
        made, context["password"] = account_create(name=name, roles=roles, actor=signed_in(request))
        context["made"] = made
    except ValidationError as error:
        context["problems"] = error.messages
    context["rows"] = account_rows()
    return render(request, "frontend/accounts.html", context, status=400 if "problems" in context else 200)


@admins_only
@require_POST
def account_change(request: HttpRequest, pk: int) -> HttpResponse:
    """Roles, and whether the account is open."""
    user = get_object_or_404(User, pk=pk)
    try:
        with transaction.atomic():
            held = account_roles(user=user, roles=request.POST.getlist("roles"), actor=signed_in(request))
            active = request.POST.get("active") == "1"
            if active != user.is_active:
                account_active(user=user, active=active, actor=signed_in(request))
    except ValidationError as error:
        told = {"rows": account_rows(), "problems": error.messages}
        return render(request, "frontend/accounts.html", told, status=400)
    state = "" if active else ", and the account is closed"
    messages.info(request, f"{user.username} is {', '.join(held) or 'visitor'} now{state}.")
    return redirect("accounts")
