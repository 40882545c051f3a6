"""Secrets: what is masked, what is left alone, and that pieces make no difference."""

import json
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmark.masking import MASK, Masker, mask_text
from tests.unit.traces.support import CLAUDE, read
from traces.reading.masked import WINDOW, WITHHELD, MaskedStream

HIDDEN = {
    "anthropic": "sk-ant-api03-" + "aB3_" * 20,
    "openai": "sk-proj-" + "aB3d" * 12,
    "github": "ghp_" + "aB3d" * 9,
    "fine-grained": "github_pat_" + "aB3d_" * 8,
    "hub": "hf_" + "aBcD" * 9,
    "google": "AIza" + "aB3_d" * 7,
    "aws": "AKIAIOSFODNN7EXAMPLE",
    "slack": "xoxb-123456789012-abcdefABCDEF",
    "groq": "gsk_" + "aB3d" * 10,
    "web token": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N",
}
NAMED = {
    'export WANDB_API_KEY="{}"': "0123456789abcdef0123456789abcdef01234567",
    "Authorization: Bearer {}": "abc.DEF-123456789012",
    '{{"authorization": "Basic {}"}}': "dXNlcjpwYXNzd29yZDEyMw==",
    "curl -H 'x-api-key: {}'": "9f8e7d6c5b4a39281706",
    "https://user:{}@host/path": "passw0rd",
    "AWS_SECRET_ACCESS_KEY={}": "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLE1KY",
    "POST http://127.0.0.1:8080/grading/{}/submit": "aB3_" * 10,
}
PLAIN = (
    '"apiKeySource":"ANTHROPIC_API_KEY"',
    "api_key=os.environ['OPENAI_API_KEY']",
    '"pad_token": "<|endoftext|>", "max_new_tokens": 5120000000000000000',
    '"input_tokens":123456789012345678901234',
    "class task-list sk-learn",
    "https://example.org:8443/a@b",
    "-----BEGIN CERTIFICATE-----",
)


@pytest.mark.parametrize("secret", HIDDEN.values(), ids=HIDDEN)
def test_known_shapes_are_masked_wherever_they_stand(secret: str) -> None:
    for around in ("{}", "key={} end", '{{"k":"{}"}}', "\\n{}\\n", "\\u001b[32m{}\\u001b[0m", "\x1b[0m{}", "\\u000a{}"):
        assert secret not in mask_text(around.format(secret))


@pytest.mark.parametrize("before", ["a\n", "done 1\n", "a\r\n", "%20", "%0A", "\x1b[1;32m", "é", "\t", "\x00", "key="])
@pytest.mark.parametrize("secret", HIDDEN.values(), ids=HIDDEN)
def test_known_shapes_are_masked_whatever_stands_before(secret: str, before: str) -> None:
    written = before + secret
    for text in (written, json.dumps(written), json.dumps(written, ensure_ascii=False), json.dumps({"a": [written]})):
        assert secret not in mask_text(text + "\n")
        log = text.encode() + b"\nend\n"
        stream = MaskedStream(Masker())
        assert secret.encode() not in stream.feed(log) + stream.finish()


@pytest.mark.parametrize(("around", "secret"), NAMED.items())
def test_values_with_a_telling_name_are_masked(around: str, secret: str) -> None:
    assert mask_text(around.format(secret)) == around.format("•••")


@pytest.mark.parametrize("text", PLAIN)
def test_ordinary_text_is_left_alone(text: str) -> None:
    assert mask_text(text) == text


def test_given_values_are_masked_however_they_are_written() -> None:
    masker = Masker(['p"ä/ss\nword'])
    for written in (
        'p"ä/ss\nword',
        json.dumps('p"ä/ss\nword'),
        json.dumps('p"ä/ss\nword', ensure_ascii=False),
        "p%22%C3%A4%2Fss%0Aword",
    ):
        out = masker.mask(written.encode())
        assert b"word" not in out
        assert MASK in out


def test_a_given_value_that_is_too_short_is_refused() -> None:
    with pytest.raises(ValueError, match="6 or more"):
        Masker(["abc"])


def test_private_keys_are_masked_on_one_line_and_over_several() -> None:
    body = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC"
    one = f'"-----BEGIN RSA PRIVATE KEY-----\\n{body}\\n-----END RSA PRIVATE KEY-----\\n"'
    assert body not in mask_text(one)
    several = f"before\n-----BEGIN PRIVATE KEY-----\n{body}\n{body}\n-----END PRIVATE KEY-----\nafter\n"
    events, _ = read(several.encode())
    text = "\n".join(event.text for event in events)
    assert body not in text
    assert text.startswith("before")
    assert text.endswith("after")


def test_a_masked_record_is_still_json_and_its_events_are_masked() -> None:
    secret = HIDDEN["anthropic"]
    data = CLAUDE[0] + CLAUDE[3].replace(b"README.md", secret.encode() + b" and given-secret")
    events, summary = read(data, secrets=["given-secret"])
    assert [event.text for event in events[1:]] == ["••• and •••"]
    assert summary.reasons == {}


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 60), st.integers(2_000, 70_000), st.sampled_from(list(HIDDEN.values())))
def test_a_secret_across_a_cut_is_masked(shift: int, size: int, secret: str) -> None:
    """Long lines are masked in windows, and the source may come in pieces of any size."""
    data = b"x " * ((WINDOW - shift) // 2) + b" " + secret.encode() + b" y" * 30_000 + b"\n"
    whole, pieces = MaskedStream(Masker()), MaskedStream(Masker())
    expected = whole.feed(data) + whole.finish()
    found = b"".join(pieces.feed(data[at : at + size]) for at in range(0, len(data), size)) + pieces.finish()
    assert found == expected
    assert secret.encode() not in found
    assert len(found) == len(data) - len(secret) + len(MASK)


def test_masking_that_fails_withholds_the_text(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> bytes:
        raise RuntimeError("broken")

    monkeypatch.setattr(Masker, "mask", broken)
    stream = MaskedStream(Masker())
    assert stream.feed(b"one\ntwo\n") + stream.feed(b"three") + stream.finish() == (WITHHELD + b"\n") * 2 + WITHHELD
    assert stream.withheld == 3
    events, summary = read(b"".join(CLAUDE))
    assert "I look" not in str(events)
    assert "withheld" in summary.notes[0]


def test_hostile_text_costs_no_more_than_its_size() -> None:
    data = (b"sk-" * 100_000 + b"api_key" * 50_000 + b"eyJ" * 100_000 + b"://a:" * 50_000 + b"Bearer " * 50_000) * 2
    start = time.process_time()
    Masker().mask(data)
    assert time.process_time() - start < 5
