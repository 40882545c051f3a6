"""The stream of a transcript with its secrets masked, the same however the source is cut into pieces."""

from collections.abc import Iterator

from benchmark.masking import CONTEXT, LONGEST, MASK, Masker, replaced

WINDOW = 1 << 20
WITHHELD = b"[withheld: masking failed]"
_BEGIN, _END, _KEY = b"-----BEGIN ", b"-----END ", b"PRIVATE KEY-----"
KEY_LINES = 200


class MaskedStream:
    """`feed` answers what can be masked for certain; the rest waits. Masking that fails withholds the lines."""

    def __init__(self, masker: Masker) -> None:
        self._masker = masker
        self._held: list[bytes] = []
        self._held_size = 0
        self._before = b"\n"
        self._key_lines = 0
        self.withheld = 0
        """Lines that could not be masked and are therefore not there."""

    @property
    def masked(self) -> int:
        return self._masker.count

    def feed(self, data: bytes) -> bytes:
        self._held.append(data)
        self._held_size += len(data)
        if b"\n" not in data and self._held_size < WINDOW + LONGEST:
            return b""
        held = b"".join(self._held)
        out = []
        start = 0
        while (end := held.rfind(b"\n", start, start + WINDOW + LONGEST) + 1) or len(held) - start >= WINDOW + LONGEST:
            if end:
                out.append(self._masked(held[start:end]))
                start = end
            else:
                part, start = self._part_of_line(held, start)
                out.append(part)
        self._held, self._held_size = [held[start:]], len(held) - start
        return b"".join(out)

    def finish(self) -> bytes:
        rest, self._held = b"".join(self._held), []
        return self._masked(rest) if rest else b""

    def _part_of_line(self, held: bytes, start: int) -> tuple[bytes, int]:
        """The first `WINDOW` bytes of a long line, less what a secret across the cut needs."""
        window = held[start : start + WINDOW + LONGEST]
        try:
            spans = self._masker.spans(window, self._before)
        except Exception:
            self.withheld += 1
            return WITHHELD, start + WINDOW
        cut = next((s for s, e in spans if s < WINDOW < e), WINDOW)
        spans = [span for span in spans if span[1] <= cut]
        self._masker.count += len(spans)
        self._before = window[max(0, cut - CONTEXT) : cut]
        return replaced(window[:cut], spans), start + cut

    def _masked(self, lines: bytes) -> bytes:
        try:
            out = self._masker.mask(lines, self._before)
            if self._key_lines or _KEY in out:
                out = b"".join(self._without_key(out))
        except Exception:
            count = lines.count(b"\n")
            self.withheld += max(1, count)
            out = (WITHHELD + b"\n") * count if lines.endswith(b"\n") else (WITHHELD + b"\n") * count + WITHHELD
        self._before = b"\n"
        return out

    def _without_key(self, data: bytes) -> Iterator[bytes]:
        """A private key printed over several lines: its lines are masked up to its end, or `KEY_LINES` of them."""
        for line in data.splitlines(keepends=True) if b"\r" not in data else _lines(data):
            ending = b"\n" if line.endswith(b"\n") else b""
            if self._key_lines:
                self._key_lines = 0 if _END in line else self._key_lines - 1
                yield MASK + ending
            else:
                begin = line.rfind(_BEGIN)
                if begin >= 0 and _KEY in line[begin:] and _END not in line[begin:] and MASK not in line[begin:]:
                    self._key_lines = KEY_LINES
                yield line


def _lines(data: bytes) -> list[bytes]:
    parts = data.split(b"\n")
    return [part + b"\n" for part in parts[:-1]] + ([parts[-1]] if parts[-1] else [])
