"""`Authorization: Bearer <token>` for scripts."""

from typing import Any

from django.utils import timezone
from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

from benchmark.models import ApiToken, secret_hash


class ApiTokenAuthentication(BaseAuthentication):
    """A person's API token."""

    def authenticate(self, request: Request) -> tuple[Any, ApiToken] | None:
        scheme, _, secret = request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() != "bearer":
            return None
        token = ApiToken.objects.usable().select_related("user").filter(secret_hash=secret_hash(secret.strip())).first()
        if token is None:
            raise AuthenticationFailed("This API token is unknown or revoked.")
        ApiToken.objects.filter(pk=token.pk).update(last_used_at=timezone.now())
        return token.user, token

    def authenticate_header(self, request: Request) -> str:
        return "Bearer"
