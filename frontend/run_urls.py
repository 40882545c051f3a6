"""Addresses below one run's own, beside those that its page had first."""

from django.urls import URLPattern

urlpatterns: list[URLPattern] = []
