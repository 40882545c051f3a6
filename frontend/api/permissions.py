"""Who may do what over the API."""

from typing import TYPE_CHECKING

from rest_framework.permissions import SAFE_METHODS, BasePermission
from rest_framework.request import Request

if TYPE_CHECKING:  # the other way round it is a circle
    from rest_framework.views import APIView


class ByNeed(BasePermission):
    """Each view says which permission a method needs (`needs`); what it does not name is for reading only."""

    def has_permission(self, request: Request, view: "APIView") -> bool:
        needed = getattr(view, "needs", {}).get(request.method, "" if request.method in SAFE_METHODS else None)
        if needed is None:
            return request.method not in [name.upper() for name in view.http_method_names if hasattr(view, name)]
        self.message = f"This needs the permission {needed}."
        return not needed or bool(request.user and request.user.has_perm(needed))
