"""What pages show of bundles."""

from typing import Any

from django import template
from django.contrib.auth.models import User

from bundles.models import Notification

register = template.Library()


@register.simple_tag
def unread(person: Any) -> int:
    """Notifications that this person has not read."""
    return Notification.objects.filter(user=person).unread().count() if isinstance(person, User) else 0
