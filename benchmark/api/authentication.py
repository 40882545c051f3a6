"""`Authorization: Bearer <token>` for scripts."""

from typing import Any

from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed, PermissionDenied
from rest_framework.permissions import SAFE_METHODS
from rest_framework.request import Request

from benchmark.models import ApiToken, TokenScope, secret_hash


class ApiTokenAuthentication(BaseAuthentication):
    """A person's API token, within its scopes.

    A view names the scope of each method in `scopes`. Without one, reading needs `read`, and writing is not for tokens:
    so a view that forgets it is closed. Who authenticates outside of a view names the `scope` of writing here.
    """

    def __init__(self, scope: str | None = None) -> None:
        self.scope = scope

    def authenticate(self, request: Request) -> tuple[Any, ApiToken] | None:
        """Raises: AuthenticationFailed, PermissionDenied."""
        scheme, _, secret = request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() != "bearer":
            return None
        told = secret_hash(secret.strip().encode("utf-8", "replace").decode())
        token = ApiToken.objects.usable().select_related("user").filter(secret_hash=told).first()
        if token is None:
            raise AuthenticationFailed("This API token is unknown, revoked or expired.")
        _within_scope(token, request, self.scope)
        token.use()
        return token.user, token

    def authenticate_header(self, request: Request) -> str:
        return "Bearer"


def _within_scope(token: ApiToken, request: Request, writing: str | None) -> None:
    scopes = getattr((request.parser_context or {}).get("view"), "scopes", {})
    scope = scopes.get(request.method, TokenScope.READ if request.method in SAFE_METHODS else writing)
    if scope is None:
        raise PermissionDenied("This cannot be done with an API token.")
    if not token.allows(scope):
        raise PermissionDenied(f"This token has not the scope {scope}.")
