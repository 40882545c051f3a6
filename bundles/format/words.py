"""Names and limits of the bundle format."""

from __future__ import annotations

FORMAT = "agent2-bundle"
VERSION = "1.0"
MANIFEST = "manifest.json"
MANIFEST_LIMIT = 8 << 20
"""Bytes. 20,000 files need about half of it."""
FILES_MOST = 20_000
SUBMISSIONS_MOST = 10_000
SCORE_LIMIT = 100.0
ROLES = ("transcript", "code", "log", "summary", "samples", "prompt", "metadata", "other")
MODES = ("free", "sft-only", "rl-oriented", "multi")
LAYOUTS = ("agent2", "workspace", "posttrainbench", "harbor", "atif")
OUTCOMES = ("finished", "failed", "cancelled", "timed_out")
