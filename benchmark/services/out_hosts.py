"""The operator's allow-list: what agents may reach besides their provider."""

import re
from collections.abc import Iterable, Mapping, Sequence

from django.conf import settings

from benchmark.gateway.ledger import Ledger
from benchmark.gateway.out_route import PREFIX, OutRoute
from benchmark.gateway.routes import Route

HOST = r"[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)+"
ENTRY = re.compile(rf"(?:([A-Z]+(?:\+[A-Z]+)*):)?({HOST}(?::\d{{1,5}})?)")
READING = frozenset({"GET", "HEAD"})
KNOWN: Mapping[str, Mapping[str, str]] = {
    "pypi.org": {"PIP_INDEX_URL": "/simple/", "UV_INDEX_URL": "/simple/"},
    "huggingface.co": {"HF_ENDPOINT": ""},
    "registry.npmjs.org": {"NPM_CONFIG_REGISTRY": "/"},
}
"""How clients of well-known hosts are told to ask through the gateway: variable → path."""


class BadAllowList(ValueError):
    """An entry of AGENT2_ALLOW is not understood."""


def hosts_allowed(entries: Iterable[str] | None = None) -> Mapping[str, frozenset[str]]:
    """Methods by host. Raises: BadAllowList."""
    allowed: dict[str, frozenset[str]] = {}
    for entry in settings.ALLOW if entries is None else entries:
        found = ENTRY.fullmatch(entry)
        if found is None:
            raise BadAllowList(f"AGENT2_ALLOW: {entry!r} must be a host, such as pypi.org, or GET+HEAD+POST:host.")
        methods = frozenset(found[1].split("+")) if found[1] else READING
        allowed[found[2]] = allowed.get(found[2], frozenset()) | methods
    return allowed


def hosts_missing(needed: Iterable[str]) -> str:
    """One sentence that names the needed hosts that are not allowed; empty when all are."""
    allowed, wanted = hosts_allowed(), hosts_allowed(needed)
    missing = [host for host, methods in wanted.items() if not methods <= allowed.get(host, frozenset())]
    return f"It needs to reach {', '.join(missing)}: add that to AGENT2_ALLOW." if missing else ""


def out_routes(ledger: Ledger) -> Sequence[Route]:
    """The gateway's way to what is allowed."""
    allowed = hosts_allowed()
    return [OutRoute(allowed, ledger)] if allowed else []


def out_environment() -> dict[str, str]:
    """What tells the agent's programs of it. The sandbox fills in `{gateway}`."""
    allowed = hosts_allowed()
    if not allowed:
        return {}
    told = {"ALLOWED_HOSTS": ",".join(sorted(allowed)), "OUT_URL": "{gateway}" + PREFIX.rstrip("/")}
    for host, variables in KNOWN.items():
        if host in allowed:
            told |= {name: "{gateway}" + PREFIX + host + path for name, path in variables.items()}
    if "huggingface.co" in allowed:
        told |= {"HF_HUB_OFFLINE": "0", "HF_HUB_DISABLE_XET": "1"}
    return told
