from django.apps import AppConfig
from django.conf import settings


class TracesConfig(AppConfig):
    name = "traces"
    verbose_name = "Traces"

    def ready(self) -> None:
        """On a host that shares no disk with the web server, records are sent there too."""
        if settings.PLACE:
            from traces.services import carrying, snapshots_store
            from traces.storage import files

            files.carried = carrying.carry
            snapshots_store.carried = carrying.carry_code
