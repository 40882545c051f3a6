"""Who may start and cancel runs."""

from rest_framework.permissions import SAFE_METHODS, BasePermission
from rest_framework.request import Request
from rest_framework.views import APIView


class OperateOrRead(BasePermission):
    """Everybody reads; changing anything needs `benchmark.operate_run`."""

    message = "Starting and cancelling runs needs the permission to operate runs."

    def has_permission(self, request: Request, view: APIView) -> bool:
        return request.method in SAFE_METHODS or bool(request.user and request.user.has_perm("benchmark.operate_run"))
