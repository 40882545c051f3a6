#!/usr/bin/env python3
"""Write benchmark/gateway/prices.yaml anew from the list prices that LiteLLM's maintainers keep (MIT licence).

    scripts/list_prices.py 1.110.2      (the version of the PyPI package litellm, which is fetched and not installed)

Models of Anthropic, OpenAI and Gemini that write text. A model without a price or with a price of 0 is left out: its
cost is unknown. So is a dated version at the price of its undated name, which the platform finds by itself.
"""

import json
import re
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

TARGET = Path(__file__).resolve().parents[1] / "benchmark" / "gateway" / "prices.yaml"
DATA = "litellm/model_prices_and_context_window_backup.json"
FIELDS = {
    "input": "input_cost_per_token",
    "output": "output_cost_per_token",
    "cached": "cache_read_input_token_cost",
    "written": "cache_creation_input_token_cost",
}
LONG = re.compile(r"input_cost_per_token_above_(\d+)k_tokens")
OTHER = re.compile(r"^ft:|audio|realtime|image|search|tts|transcribe|computer-use|robotics|-latest$|live|exp")
HEAD = """\
# List prices in US dollars for a million tokens, from the PyPI package litellm {version} (MIT licence), which follows
# the providers' price pages. Written by scripts/list_prices.py: run it with a newer version, edit nothing here.
# `long`: for requests that read more than `above` tokens. An operator's file, named in AGENT2_PRICES, comes over this.
"""


def dollars(told: Mapping[str, Any], suffix: str = "") -> dict[str, float]:
    """For a million tokens; a kind without a price is left out."""
    found = {name: told.get(field + suffix) for name, field in FIELDS.items()}
    return {name: float(f"{value * 1e6:.6g}") for name, value in found.items() if value}


def price(told: Mapping[str, Any]) -> dict[str, Any]:
    """Empty where either of the two prices that every model has is missing."""
    plain = dollars(told)
    if not {"input", "output"} <= set(plain):
        return {}
    above = [int(match[1]) for key in told if (match := LONG.fullmatch(key))]
    long = dollars(told, f"_above_{min(above)}k_tokens") if above else {}
    return plain | ({"long": {"above": min(above) * 1000, **plain, **long}} if long else {})


def prices(known: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    found = {}
    for name, told in known.items():
        ours = told.get("litellm_provider") in ("anthropic", "openai", "gemini")
        if ours and told.get("mode") in ("chat", "responses") and not OTHER.search(name) and (made := price(told)):
            found[name.removeprefix("gemini/")] = made
    bases = {name: re.sub(r"-20\d\d-?\d\d-?\d\d$", "", name) for name in found}
    return {name: found[name] for name in sorted(found) if bases[name] == name or found.get(bases[name]) != found[name]}


def main() -> None:
    version = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        fetch = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", folder, f"litellm=={version}"]
        subprocess.run(fetch, check=True)
        with zipfile.ZipFile(next(Path(folder).glob("*.whl"))) as wheel:
            known = json.loads(wheel.read(DATA))
    lines = [f"{name}: {json.dumps(told).replace(chr(34), '')}\n" for name, told in prices(known).items()]
    TARGET.write_text(HEAD.format(version=version) + "".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
