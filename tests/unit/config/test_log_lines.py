"""Log lines for people and for machines say which run they belong to."""

import json
import logging
import sys

from benchmark.log_context import log_about, log_fields
from config.logs import JsonLines, Lines


def record(message: str, *, broken: bool = False) -> logging.LogRecord:
    made = logging.LogRecord("room.part", logging.WARNING, __file__, 1, message, (), None)
    if broken:
        try:
            raise ValueError("of the test")
        except ValueError:
            made.exc_info = sys.exc_info()
    return made


def test_json_carries_what_the_work_is_about() -> None:
    with log_about(run="20261129-0214-3f9a1c"), log_about(evaluation=7):
        told = json.loads(JsonLines().format(record('says "ü"\nand more')))
    assert (told["run"], told["evaluation"], told["level"]) == ("20261129-0214-3f9a1c", 7, "WARNING")
    assert told["message"] == 'says "ü"\nand more'
    assert log_fields() == {}


def test_one_line_whatever_is_said() -> None:
    text = JsonLines().format(record("a\nb", broken=True))
    assert "\n" not in text
    assert "ValueError: of the test" in json.loads(text)["traceback"]


def test_nobody_can_write_a_record_or_colours_into_the_log() -> None:
    text = Lines().format(record("GET /a\r\n2026-11-30 ERROR forged\x1b[31m\x9b1m\tü"))
    first, second = text.split("\n")
    assert first.endswith("GET /a\\x0d")
    assert second == "    2026-11-30 ERROR forged\\x1b[31m\\x9b1m\tü"


def test_people_see_it_at_the_end() -> None:
    with log_about(run="slug"):
        assert Lines().format(record("done")).endswith("WARNING room.part done [run=slug]")
    assert Lines().format(record("done")).endswith("done")
