"""What secrets look like: literals that are looked for, and the expression that then must match.

Standard library only, Python 3.9 and newer: the packer of bundles carries this module.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from urllib.parse import quote

MASK = "•••".encode()
LONGEST = 16_384
SHORTEST_SECRET = 6
CONTEXT = 16
"""Bytes in front that tell whether a word begins."""
_WORD = re.compile(rb"[A-Za-z0-9]\Z")
_NO_WORD = re.compile(rb"(?:\\[nrtbf]|\\u[0-9a-fA-F]{4}|%[0-9a-fA-F]{2}|\[[0-9;]{0,12}m)\Z")
"""Escapes of JSON and of URLs and terminal colours end in letters, and a word may begin behind them all the same."""
NAMED = rb"[A-Za-z0-9_]{0,40}+[\"'\\]{0,4}[ \t]{0,8}[:=][ \t]{0,8}[\"'\\]{0,4}"
VALUE = (
    rb"((?=[A-Za-z0-9_+/=~-]{0,60}[0-9])(?=[0-9_+/=~-]{0,60}[A-Za-z])[A-Za-z0-9_+/=~-]{16,4096})"
    rb"(?![A-Za-z0-9_+/=~.(\[-])"
)
_KEY = rb"[A-Za-z0-9_-]"

RULES: tuple[tuple[tuple[str, ...], bytes], ...] = (
    (("sk-",), rb"sk-(?=[A-Za-z0-9_-]{0,60}[0-9])" + _KEY + rb"{20,4096}"),
    (("sk_live_", "sk_test_", "rk_live_"), rb"[sr]k_(?:live|test)_[A-Za-z0-9]{16,256}"),
    (("AKIA", "ASIA"), rb"A[KS]IA[A-Z0-9]{16}(?![A-Za-z0-9])"),
    (("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), rb"gh[pousr]_[A-Za-z0-9]{30,256}"),
    (("github_pat_",), rb"github_pat_[A-Za-z0-9_]{22,256}"),
    (("glpat-",), rb"glpat-" + _KEY + rb"{20,256}"),
    (("hf_",), rb"hf_[A-Za-z0-9]{30,256}"),
    (("xoxb-", "xoxp-", "xoxa-", "xoxr-", "xoxs-"), rb"xox[abprs]-[A-Za-z0-9-]{10,512}"),
    (("AIza",), rb"AIza" + _KEY + rb"{35}"),
    (("ya29.",), rb"ya29\." + _KEY + rb"{20,2048}"),
    (("npm_",), rb"npm_[A-Za-z0-9]{36}"),
    (("pypi-",), rb"pypi-" + _KEY + rb"{50,1024}"),
    (("gsk_",), rb"gsk_[A-Za-z0-9]{20,256}"),
    (("xai-", "nvapi-", "tvly-", "pplx-"), rb"(?:xai|nvapi|tvly|pplx)-" + _KEY + rb"{20,256}"),
    (("r8_",), rb"r8_[A-Za-z0-9]{37}"),
    (("dckr_pat_",), rb"dckr_pat_" + _KEY + rb"{20,256}"),
    (("eyJ",), rb"eyJ" + _KEY + rb"{10,4000}\.eyJ" + _KEY + rb"{4,4000}\." + _KEY + rb"{6,1024}"),
    (("/grading/",), rb"/grading/([A-Za-z0-9_-]{30,256})"),
    (("://",), rb"://[^/\s:@\"'\\]{1,64}:([^/\s@\"'\\$]{4,256})@"),
    (
        ("uthorization", "UTHORIZATION"),
        rb"(?i:uthorization)[\"'\\]{0,4}[ \t]{0,8}[:=][ \t]{0,8}[\"'\\]{0,4}(?:[A-Za-z]{1,20} +)?"
        rb"([^\s\"'\\,$<>{}]{12,4096})",
    ),
    (("earer ", "EARER "), rb"(?i:earer) +([A-Za-z0-9._~+/=-]{16,4096})"),
    (
        ("-----BEGIN ",),
        rb"-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----((?:(?!-----END )[^\n\"]){1,8000})",
    ),
)
NAMES = (
    *("api_key", "api-key", "apikey", "apiKey", "API_KEY", "Api-Key", "API-Key", "_TOKEN", "_SECRET", "_KEY"),
    *("_PASSWORD", "_token", "_secret", "PASSWORD", "password"),
)
"""Of variables, headers and JSON members whose value is a secret if it looks random."""
BOUNDED = {rule[0] for rule in RULES[:17]}
"""Rules whose literal must not continue a word."""


def within_word(before: bytes) -> bool:
    """Whether what follows `before` continues a word."""
    return _WORD.search(before) is not None and _NO_WORD.search(before) is None


def replaced(data: bytes, spans: list[tuple[int, int]]) -> bytes:
    """`data` with `MASK` in place of each span."""
    if not spans:
        return data
    parts, last = [], 0
    for start, end in spans:
        parts += [data[last:start], MASK]
        last = end
    return b"".join([*parts, data[last:]])


def written_forms(secrets: Iterable[str]) -> list[bytes]:
    """Each secret as it may stand in a file: as it is, in JSON with and without escapes, in a URL."""
    forms: set[bytes] = set()
    for secret in secrets:
        if len(secret) < SHORTEST_SECRET:
            raise ValueError(f"A secret of {len(secret)} characters cannot be masked: give {SHORTEST_SECRET} or more.")
        plain, escaped = json.dumps(secret, ensure_ascii=False)[1:-1], json.dumps(secret)[1:-1]
        for form in (secret, plain, escaped, plain.replace("/", "\\/"), quote(secret, safe="")):
            forms.add(form.encode("utf-8", "surrogatepass"))
    return sorted(forms, key=lambda form: (-len(form), form))
