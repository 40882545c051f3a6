"""Pack a run, check it with the platform's own rules, and send it.

    python agent2_pack.py check PATH              a run directory or a bundle, nothing is written
    python agent2_pack.py pack PATH -o run.zip    make a bundle, show what is in it, check it
    python agent2_pack.py upload run.zip --url https://…
    python agent2_pack.py send PATH --url https://…     all of it, asking before anything is sent

PATH may be a run directory of the platform, a workspace of the reference, a PostTrainBench result directory, a Harbor
trial, or an ATIF trajectory beside a scores.json. What the files do not say is given with --set:
--set base_model.revision=abc --set contact.email=me@example.org --set licence=CC-BY-4.0 --set seeds=[1,2]
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from bundles.format.schema import MANIFEST_SCHEMA
from bundles.format.schema_check import schema_faults
from bundles.packer.masking import PlainMasker, environment_secrets
from bundles.packer.packing import PACKER, CannotPack, Packed, beside, choose, pack
from bundles.packer.telling import Bar, tell_files, tell_findings, tell_run
from bundles.packer.uploading import Uploader, UploadFailed
from bundles.rules.check import BundleReport, bundle_check
from bundles.rules.opened import opened_findings
from bundles.unpacking.unpack import Refused, archive_unpack

TOKEN = "AGENT2_TOKEN"  # noqa: S105
WAITS = (1, 2, 3, 5, 5, 10, 10, 15, 15, 30)


def main(arguments: list[str] | None = None) -> int:
    """0: done; 1: the bundle has errors; 2: it could not be done."""
    options = parser().parse_args(arguments)
    try:
        return int(options.action(options))
    except (CannotPack, UploadFailed) as error:
        print(f"{error}", file=sys.stderr)
    except Refused as error:
        print(f"{error.text} {error.fix}", file=sys.stderr)
    except OSError as error:
        print(f"{error.filename or ''} {error.strerror or error}".strip(), file=sys.stderr)
    except KeyboardInterrupt:
        print("\nStopped. Run the same again to go on.", file=sys.stderr)
    return 2


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        prog="agent2_pack.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    made.add_argument("--version", action="version", version=PACKER)
    actions = made.add_subparsers(required=True, metavar="check|pack|upload|send")
    for name, action in (("check", _check), ("pack", _pack), ("upload", _upload), ("send", _send)):
        each = actions.add_parser(name)
        each.set_defaults(action=action)
        each.add_argument("path", type=Path)
        if name != "upload":
            _about_run(each)
        if name in ("pack", "send"):
            each.add_argument("-o", "--out", type=Path, help="the bundle to write; default: <run>.zip here")
            each.add_argument("--force", action="store_true", help="overwrite it")
        if name in ("upload", "send"):
            each.add_argument("--url", required=True, help="the platform's address")
            each.add_argument("--token", default=os.environ.get(TOKEN, ""), help=f"default: the variable {TOKEN}")
            each.add_argument("--version-of", default="", help="the bundle that this one corrects")
            each.add_argument("--no-wait", action="store_true", help="do not wait for the check")
        if name == "send":
            each.add_argument("--yes", action="store_true", help="send without asking")
    return made


def _about_run(each: argparse.ArgumentParser) -> None:
    each.add_argument("--run", default="", help="which run, where PATH holds several")
    each.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="a member of the manifest")
    each.add_argument("--details", type=Path, help="such members as a JSON file")
    each.add_argument("--include", action="append", default=[], metavar="PATTERN", help="take these files too")
    each.add_argument("--digests", action="append", default=[], type=Path, help="folder of checkpoints to fingerprint")
    each.add_argument("--secret", action="append", default=[], help="a value to mask, beside what looks like one")
    each.add_argument("--hide-emails", action="store_true", help="replace e-mail addresses in the files")


def _check(options: argparse.Namespace) -> int:
    path, details = options.path, _details(options)
    if path.suffix == ".json" and path.is_file():
        with tempfile.TemporaryDirectory(prefix="agent2-pack-") as folder:
            for name in beside(path):
                shutil.copyfile(path.parent / name, Path(folder) / name)
            report = bundle_check(Path(folder), name=path.name, details=details)
    elif path.is_dir():
        report = bundle_check(path, name=path.resolve().name, details=details)
    else:
        report = _checked(path, details)
    for run in report.runs:
        tell_run(run.facts, run.facts.layout)
    tell_findings(report.all_findings)
    return 1 if report.has_errors else 0


def _checked(path: Path, details: dict[str, Any]) -> BundleReport:
    """An archive, opened and judged as the platform does."""
    with tempfile.TemporaryDirectory(prefix="agent2-pack-") as folder:
        opened = archive_unpack(path, Path(folder) / "bundle", filename=path.name)
        report = bundle_check(opened.folder, name=path.name, details=details)
        report.findings += opened_findings(opened.left_out, opened.notes)
        return report


def _made(options: argparse.Namespace) -> tuple[Packed, BundleReport]:
    chosen = choose(
        options.path, details=_details(options), include=options.include, digests=options.digests, at=options.run
    )
    out = options.out or Path(f"{chosen.run.run or options.path.resolve().stem}.zip")
    if out.exists() and not options.force:
        raise CannotPack(f"{out} exists; --force overwrites it.")
    tell_run(chosen.run, chosen.layout)
    masker = PlainMasker([*options.secret, *environment_secrets()], hide_emails=options.hide_emails)
    packed = pack(chosen, out, masker)
    tell_files(chosen, packed)
    print("\nChecked with the platform's rules:")
    report = _checked(out, {})
    tell_findings(report.all_findings)
    return packed, report


def _pack(options: argparse.Namespace) -> int:
    return 1 if _made(options)[1].has_errors else 0


def _send(options: argparse.Namespace) -> int:
    packed, report = _made(options)
    if report.has_errors:
        print("\nIt has errors: the platform would stop at them. It is not sent.", file=sys.stderr)
        return 1
    if not options.yes and input(f"\nSend {packed.path} to {options.url}? [y/N] ").strip().lower() not in ("y", "yes"):
        print("Nothing was sent.")
        return 0
    options.path = packed.path
    return _upload(options)


def _upload(options: argparse.Namespace) -> int:
    if not options.token:
        raise UploadFailed(f"No token: give --token or set {TOKEN}. The site's account page makes one.")
    uploader = Uploader(options.url, options.token, options.path)
    page = uploader.send(Bar(), version_of=options.version_of)
    print(f"Sent: {page}")
    return 0 if options.no_wait else _wait(uploader, page)


def _wait(uploader: Uploader, page: str) -> int:
    for pause in WAITS:
        told = uploader.outcome(page)
        if told.get("progress") is None and told.get("state") not in ("received", "checking"):
            print(f"State: {told.get('state')}, SHA-256 {told.get('sha256')}")
            return 1 if told.get("state") == "rejected" else 0
        time.sleep(pause)
    print("The check still runs; its report will be on that page.")
    return 0


def _details(options: argparse.Namespace) -> dict[str, Any]:
    """`--details` and `--set`. Raises: CannotPack."""
    found: dict[str, Any] = {}
    if options.details is not None:
        try:
            found = json.loads(options.details.read_text(encoding="utf-8"))
        except ValueError as error:
            raise CannotPack(f"{options.details}: {error}") from error
        if not isinstance(found, dict):
            raise CannotPack(f"{options.details} is no JSON object.")
    for pair in options.set:
        name, equals, text = pair.partition("=")
        if not equals or not name:
            raise CannotPack(f"--set {pair}: NAME=VALUE is expected.")
        _put(found, name.split("."), _value(text), pair)
    faults = [fault for fault in schema_faults(found, MANIFEST_SCHEMA) if not fault[1].endswith(" is missing")]
    if faults:
        raise CannotPack("\n".join(f"{place}: {text}" for place, text in faults))
    return found


def _put(found: dict[str, Any], names: list[str], value: Any, pair: str) -> None:
    for name in names[:-1]:
        found = found.setdefault(name, {})
        if not isinstance(found, dict):
            raise CannotPack(f"--set {pair}: {name} is no object.")
    found[names[-1]] = value


def _value(text: str) -> Any:
    """Numbers, lists, null and objects as JSON has them; all else is text."""
    try:
        return json.loads(text) if text[:1] in '[{"-0123456789' or text == "null" else text
    except ValueError:
        return text


if __name__ == "__main__":
    sys.exit(main())
