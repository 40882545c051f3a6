"""Providers of language models, from the environment. Workers alone need the keys."""

from collections.abc import Mapping

from django.core.exceptions import ImproperlyConfigured

from benchmark.gateway.providers import Dialect, Provider
from config import env

KNOWN: Mapping[str, tuple[Dialect, str]] = {
    "anthropic": ("anthropic", "https://api.anthropic.com"),
    "openai": ("openai", "https://api.openai.com/v1"),
    "gemini": ("gemini", "https://generativelanguage.googleapis.com"),
    "compatible": ("openai", ""),
}
"""Name: what its API speaks, and where it is unless `AGENT2_<NAME>_URL` says otherwise."""


def providers_from_env() -> dict[str, Provider]:
    """Those with a key, and those with an address of their own: a local server may need no key.

    Raises: ImproperlyConfigured.
    """
    found = {}
    for name, (dialect, usual) in KNOWN.items():
        told, key = env.url(f"{name.upper()}_URL", ""), env.text(f"{name.upper()}_KEY", "")
        if not (key.isascii() and key.isprintable()):
            raise ImproperlyConfigured(f"AGENT2_{name.upper()}_KEY must be printable ASCII.")
        if key and not (told or usual):
            raise ImproperlyConfigured(f"Set AGENT2_{name.upper()}_URL as well: the key alone leads nowhere.")
        if key or told:
            found[name] = Provider(name, dialect, told or usual, key)
    return found
