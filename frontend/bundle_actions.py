"""What moderators can do with a bundle, by name: for pages and the API alike."""

from collections.abc import Callable, Mapping
from typing import Any

from django.contrib.auth.models import User

from bundles.models import Bundle
from bundles.services.moderation import (
    bundle_ask,
    bundle_flag,
    bundle_hide,
    bundle_publish,
    bundle_recheck,
    bundle_unflag,
)
from bundles.services.regrade_request import regrade_request

Action = Callable[[Bundle, User, Mapping[str, Any]], None]
"""All raise ValidationError."""


def _publish(bundle: Bundle, actor: User, given: Mapping[str, Any]) -> None:
    bundle_publish(bundle=bundle, actor=actor, reviewed=bool(given.get("reviewed")))


def _hide(bundle: Bundle, actor: User, given: Mapping[str, Any]) -> None:
    bundle_hide(bundle=bundle, actor=actor, reason=given.get("reason", ""))


def _flag(bundle: Bundle, actor: User, given: Mapping[str, Any]) -> None:
    bundle_flag(bundle=bundle, actor=actor, reason=given.get("reason", ""), final=given.get("final"))


def _unflag(bundle: Bundle, actor: User, given: Mapping[str, Any]) -> None:
    bundle_unflag(bundle=bundle, actor=actor, reason=given.get("reason", ""))


def _ask(bundle: Bundle, actor: User, given: Mapping[str, Any]) -> None:
    bundle_ask(bundle=bundle, actor=actor, text=given.get("text", ""))


def _recheck(bundle: Bundle, actor: User, _: Mapping[str, Any]) -> None:
    bundle_recheck(bundle=bundle, actor=actor)


def _regrade(bundle: Bundle, actor: User, given: Mapping[str, Any]) -> None:
    regrade_request(bundle=bundle, actor=actor, number=given["number"])


ACTIONS: Mapping[str, Action] = {
    "publish": _publish,
    "hide": _hide,
    "flag": _flag,
    "unflag": _unflag,
    "ask": _ask,
    "recheck": _recheck,
    "regrade": _regrade,
}
