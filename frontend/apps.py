"""What a person sees."""

from django.apps import AppConfig


class FrontendConfig(AppConfig):
    name = "frontend"
