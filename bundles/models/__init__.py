"""Bundles, the uploads they arrive by, appeals and notifications."""

from bundles.models.appeal import Appeal, AppealState
from bundles.models.bundle import ACCEPTED, IN_CHECK, Bundle, BundleState
from bundles.models.notification import Notification
from bundles.models.upload import Upload

__all__ = [
    "ACCEPTED",
    "IN_CHECK",
    "Appeal",
    "AppealState",
    "Bundle",
    "BundleState",
    "Notification",
    "Upload",
]
