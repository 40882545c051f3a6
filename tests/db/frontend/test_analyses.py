"""Every analysis over stored runs, over a paper's numbers and over nothing; who sees what; what is refused."""

import csv
import hashlib
import json
import re
from collections.abc import Sequence
from io import StringIO
from pathlib import Path
from typing import Any

import plotly.graph_objects as go
import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client

from benchmark.models import Run
from frontend.analyses import analyses
from frontend.published.loading import published_load
from tests.support.stories import story_row
from traces.models import CodeSnapshot, Labelling, LabellingQueue, MethodLabel, QueuedRun
from traces.services.snapshots_store import blob_put

pytestmark = pytest.mark.django_db
KINDS = list(analyses())
HOSTILE = "<script>alert(1)</script>"


def text(client: Client, kind: str, part: str = "", status: int = 200, **query: Any) -> str:
    answer = client.get(f"/analyses/{kind}/{part}", query)
    assert answer.status_code == status, answer.content[:300]
    return answer.content.decode()


def reading(client: Client, kind: str, **query: Any) -> str:
    found = re.search(r'<h2 id="reading">([^<]*)', text(client, kind, **query))
    assert found
    return found[1]


def rows(client: Client, kind: str, **query: Any) -> list[dict[str, str]]:
    return list(csv.DictReader(StringIO(text(client, kind, "table.csv", **query))))


def runs() -> list[Run]:
    """Two stacks on two tasks, one of them in two modes."""
    steps: Sequence[Sequence[str]] = [["SFT"], ["SFT", "GRPO"], ["SFT"], ["DPO"]]
    return [
        story_row([20.0, 40.0, None, 30.0], steps, task="gsm8k", protocol="gsm8k/1"),
        story_row([15.0, 0.0], [["SFT"], ["RFT"]], task="gsm8k", protocol="gsm8k/1", mode="sft-only"),
        story_row([50.0], [["GRPO"]], task="alfworld", protocol="alfworld/1", agent="codex", driver="gpt-5.4"),
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_everybody_reads_every_analysis(anyone: Client, kind: str) -> None:
    runs()
    page = text(anyone, kind)
    assert "Filter used" in page
    assert HOSTILE not in page


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_there_says_so(anonymous: Client, kind: str) -> None:
    assert "Nothing to show yet" in text(anonymous, kind)
    assert text(anonymous, kind, "table.csv") == ""
    text(anonymous, kind, "figure.json", status=404)


@pytest.mark.parametrize("kind", KINDS)
def test_the_paper_stands_alone_and_only_when_asked(anonymous: Client, kind: str) -> None:
    published_load()
    assert "Nothing to show yet" in text(anonymous, kind)
    assert reading(anonymous, kind, origin="published")
    answer = anonymous.get(f"/analyses/{kind}/?origin=published&origin=local")
    assert answer.status_code == 400


@pytest.mark.parametrize("kind", KINDS)
def test_figures_are_plotly_and_files_are_whole(anonymous: Client, kind: str) -> None:
    runs()
    published_load()
    asked: tuple[dict[str, Any], ...] = ({}, {"origin": "published"})
    for query in asked:
        answer = anonymous.get(f"/analyses/{kind}/figure.json", query)
        if answer.status_code == 200:
            plain = json.loads(re.sub(r'"token:--[a-z0-9-]+"', '"#123456"', answer.content.decode()))
            own = [{name: value for name, value in trace.items() if name != "narrow"} for trace in plain["data"]]
            go.Figure(data=own, layout=plain["layout"] | plain.get("narrow", {}))
        table = text(anonymous, kind, "table.csv", **query)
        if table:
            assert all(next(csv.reader(StringIO(table))))
            assert r"\toprule" in text(anonymous, kind, "table.tex", **query)


@pytest.mark.parametrize(
    ("query", "named"),
    [
        ({"task": "x" * 300}, "task"),
        ({"origin": "mars"}, "origin"),
        ({"nonsense": "1"}, "nonsense"),
        ({"from": "?"}, "from"),
    ],
)
def test_nonsense_is_a_400_that_names_the_parameter(anonymous: Client, query: dict[str, str], named: str) -> None:
    assert f"<code>{named}</code>" in text(anonymous, "modes", status=400, **query)


def test_unknown_choices_and_analyses_are_refused(anonymous: Client) -> None:
    assert "<code>x</code>" in text(anonymous, "scaling", status=400, x="years")
    assert "<code>run</code>" in text(anonymous, "walkthroughs", status=400, run="nobody")
    text(anonymous, "none", status=404)


@pytest.mark.parametrize("kind", KINDS)
def test_names_from_outside_are_no_markup(anonymous: Client, kind: str) -> None:
    story_row([20.0, 30.0], [["SFT"], ["GRPO"]], agent=HOSTILE, driver=HOSTILE, task=HOSTILE[:60], protocol="p/1")
    assert HOSTILE not in text(anonymous, kind)
    answer = anonymous.get(f"/analyses/{kind}/figure.json")
    assert answer.status_code == 404 or "<script" not in answer.content.decode()


@pytest.mark.parametrize("kind", KINDS)
def test_hidden_runs_count_for_nobody(anonymous: Client, kind: str) -> None:
    story_row([20.0, 30.0], [["SFT"], ["GRPO"]], hidden=True)
    assert "Nothing to show yet" in text(anonymous, kind)


@pytest.mark.parametrize("kind", KINDS)
def test_queries_do_not_grow_with_runs(anonymous: Client, kind: str, django_assert_max_num_queries: Any) -> None:
    for _ in range(6):
        runs()
    with django_assert_max_num_queries(12):
        text(anonymous, kind)


def test_modes_equal_the_paper(anonymous: Client) -> None:
    published_load()
    found = rows(anonymous, "modes", origin="published", base="Qwen2.5-7B-Instruct")
    free = next(row for row in found if row["Mode"] == "Free")
    assert [float(free[name]) for name in ("GSM8K", "ALFWorld", "DeepSearchQA")] == [4.56, 90.67, 1.25]
    assert free["ALFWorld, below"] == "95.52"
    told = reading(anonymous, "modes", origin="published", base="Qwen2.5-7B-Instruct")
    assert told == "Free mode is best on 3 of 6 tasks; no mode is best on all"


def test_a_mode_is_starred_and_another_marked_worst(anonymous: Client) -> None:
    runs()
    page = text(anonymous, "modes")
    assert page.count('class="g star"') == 1
    assert page.count('class="g worst"') == 1
    assert reading(anonymous, "modes") == "Free mode is best on 1 of 1 task"


def test_switches_are_counted(anonymous: Client) -> None:
    runs()
    assert reading(anonymous, "switches") == "1 of 4 method switches raised the best score; 2 of 3 runs switched at all"
    assert reading(anonymous, "switches", origin="published").startswith("2 of 2 method switches")


def test_adoption_counts_each_run_once(anonymous: Client) -> None:
    runs()
    found = {row["Method"]: (row["Attempted"], row["Adopted"]) for row in rows(anonymous, "adoption")}
    assert found == {"SFT": ("2", "2"), "GRPO": ("2", "2"), "RFT": ("1", "0"), "DPO": ("1", "0")}
    printed = {row["Method"]: row["Rate"] for row in rows(anonymous, "adoption", origin="published")}
    assert printed["GRPO"] == "0.25"


def test_scaling_reads_the_running_maximum(anonymous: Client) -> None:
    run = runs()[0]
    found = next(row for row in rows(anonymous, "scaling") if row["Run"] == run.slug)
    assert found["Best"] == "40.0"
    figure = json.loads(text(anonymous, "scaling", "figure.json", x="hours", task="gsm8k"))
    steps = [trace["y"] for trace in figure["data"] if trace["mode"] == "lines"]
    assert [20.0, 40.0, 40.0] in steps


def test_workspaces_leave_unscored_out_of_zeros(anonymous: Client) -> None:
    shares = {row["Run"]: row["Zero rate"] for row in rows(anonymous, "workspaces")}
    assert shares == {}
    first, second, _ = runs()
    shares = {row["Run"]: row["Zero rate"] for row in rows(anonymous, "workspaces")}
    assert (shares[first.slug], shares[second.slug]) == ("0.0", "0.5")


def test_walkthroughs_tell_jumps(anonymous: Client) -> None:
    run = runs()[0]
    told = reading(anonymous, "walkthroughs", run=run.slug)
    assert "the largest jump, +20.00, came with submission 2 (GRPO), 100% of the way from 20.00 to 40.00" in told
    printed = rows(anonymous, "walkthroughs", origin="published", task="alfworld")
    assert [row["Jump"] for row in printed] == ["", "1.49", "2.98", "26.12", "50.0"]


def test_settings_come_from_kept_code(anonymous: Client, settings: Any, tmp_path: Path) -> None:
    settings.TRACES_DIR = tmp_path
    run = story_row([10.0, 30.0], [["SFT"], ["SFT"]])
    for number, rate in ((1, "5e-5"), (2, "1e-4")):
        code = f"from trl import SFTConfig\nargs = SFTConfig(learning_rate={rate}, num_train_epochs=3)\n"
        digest = blob_put(code.encode())
        assert digest == hashlib.sha256(code.encode()).hexdigest()
        files = {"train.py": [digest, len(code), 0]}
        CodeSnapshot.objects.create(run=run, number=number, model_path="m", files=files)
    told = reading(anonymous, "sensitivity")
    assert told == "Learning rate 0.0001 scores 30.00 on average over 1 submission; 5e-05 scores 10.00"
    found = [(row["Parameter"], row["Value"]) for row in rows(anonymous, "sensitivity")]
    assert ("epochs", "3.0") in found


def test_failures_wait_for_those_who_label_blind(anonymous: Client) -> None:
    run = story_row([], task="alfworld", protocol="alfworld/1")
    assert "Early coding failure" in text(anonymous, "failures")
    queue = LabellingQueue.objects.create(name="q", annotators=1)
    QueuedRun.objects.create(queue=queue, run=run, position=1)
    page = text(anonymous, "failures")
    assert "1 run withheld until people have labelled them" in page
    assert "has ended" not in page
    person = User.objects.create_user("annotator")
    person.user_permissions.add(Permission.objects.get(codename="annotate"))
    client = Client()
    client.force_login(person)
    assert "Early coding failure" not in text(client, "failures")
    labelling = Labelling.objects.create(run=run, author=person)
    Labelling.objects.filter(pk=labelling.pk).update(submitted_at=labelling.claimed_at)
    assert "Early coding failure" in text(client, "failures")
    assert "Early coding failure" in text(anonymous, "failures")


def test_routes_follow_from_methods(anonymous: Client) -> None:
    runs()
    assert reading(anonymous, "routes") == "1 of 3 runs take the route SFT-only; 2 contain RL-style training"
    MethodLabel.objects.all().delete()
    assert "Nothing to show yet" in text(anonymous, "routes")


def test_the_index_names_every_analysis(anyone: Client) -> None:
    answer = anyone.get("/analyses/")
    assert answer.status_code == 200
    for kind in analyses().values():
        assert f"/analyses/{kind.id}/" in answer.content.decode()


@pytest.mark.parametrize("part", ["", "figure.json", "table.csv", "table.tex"])
def test_only_reading(operator: Client, part: str) -> None:
    assert operator.post(f"/analyses/modes/{part}").status_code == 405
