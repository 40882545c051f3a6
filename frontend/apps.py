"""What a person sees."""

from django.apps import AppConfig
from django.db.models.signals import post_migrate


class FrontendConfig(AppConfig):
    name = "frontend"

    def ready(self) -> None:
        """Roles follow migrations; the schema learns of our tokens."""
        from frontend.api import schema  # noqa: F401
        from frontend.roles import roles_after_migrate

        post_migrate.connect(roles_after_migrate, dispatch_uid="frontend.roles")
