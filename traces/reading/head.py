"""The first bytes of what may be a JSON document."""

import json

from traces.contract import DocumentHead
from traces.reading.documents import Broken, DocumentSplitter

HEAD = 65_536
"""Bytes looked at, or the whole where it is shorter."""
_BOM = b"\xef\xbb\xbf"


def is_decided(data: bytes) -> bool:
    """Whether more bytes would change nothing: no JSON begins here, or a first object ends with its line."""
    start = data.removeprefix(_BOM).lstrip()
    if not start or _BOM.startswith(data):
        return False
    if start[:1] not in (b"{", b"["):
        return True
    line, ended, _ = start.partition(b"\n")
    if not ended or start[:1] == b"[" or len(line) > HEAD // 2:
        return False
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


def document_head(data: bytes) -> DocumentHead | None:
    """None when the bytes begin neither an object nor a list of objects."""
    start = data.removeprefix(_BOM).lstrip()
    is_list = start.startswith(b"[")
    if is_list:
        start = start[1:].lstrip()
    if not start.startswith(b"{"):
        return None
    splitter = DocumentSplitter(lambda path: not path, 0, 1, 2 * HEAD)
    keys: dict[str, bytes] = {}
    try:
        for leaf in splitter.feed(start[:HEAD]):
            if leaf.path:
                keys.setdefault(str(leaf.path[0]), leaf.data[:200])
    except Broken:
        return None
    pending = splitter.pending() if not splitter.done else None
    if pending is not None and pending.path:
        keys.setdefault(str(pending.path[0]), pending.data[:200])
    return DocumentHead(is_list, keys)
