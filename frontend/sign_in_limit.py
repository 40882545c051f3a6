"""Passwords cannot be tried quickly."""

import hashlib

from django.conf import settings
from django.http import HttpRequest

from frontend.api.throttling import counted


def sign_in_allowed(request: HttpRequest, name: str) -> bool:
    """False after SIGN_INS_PER_MINUTE tries in a minute, from one address or at one account."""
    account = hashlib.sha256(name.casefold().encode("utf-8", "replace")).hexdigest()[:32]
    address = request.META.get("REMOTE_ADDR", "")
    most = settings.SIGN_INS_PER_MINUTE
    tries = [counted(f"sign-in-{who}") for who in (account, address)]
    return not most or max(tries) <= most
