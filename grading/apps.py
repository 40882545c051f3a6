"""Turns a checkpoint into a verdict."""

from django.apps import AppConfig


class GradingConfig(AppConfig):
    name = "grading"
