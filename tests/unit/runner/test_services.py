"""The runner's side of the way out: the protocol's suffix, the spec's digest, and who gets services."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchmark.tasks.contract import Item
from benchmark.tasks.services_contract import ServiceFault
from grading.contract import RunnerSpec
from grading.runner.episodes import first_prompt
from grading.runner.faults import InfraFault
from grading.runner.services import SocketServices, connect
from grading.runner.task_loading import load_evaluator
from grading.runner.verdicts import protocol_id, spec_digest

TASK = """
class Toy:
    protocol = "toy/1"
    def items(self, held_out): return []
    def metrics(self, records): return None
def evaluator(): return Toy()
"""


class Asking:
    """An evaluator that needs services and whose judge is down."""

    protocol = "toy/1"
    services: Any = None

    def connect(self, services: Any) -> None:
        self.services = services

    def episode(self, item: Item) -> Any:
        raise ServiceFault("the judge is down")
        yield


@pytest.fixture
def spec(tmp_path: Path) -> RunnerSpec:
    (tmp_path / "evaluator.py").write_text(TASK)
    folder = str(tmp_path)
    return RunnerSpec(
        protocol="toy/1;judge=org/judge-1", task_dir=folder, held_out=folder, checkpoint=folder, reference=folder
    )


def test_a_suffix_is_not_the_task_folders_to_know(spec: RunnerSpec) -> None:
    assert load_evaluator(Path(spec.task_dir), spec.protocol).protocol == "toy/1"
    with pytest.raises(InfraFault, match="I_PROTOCOL"):
        load_evaluator(Path(spec.task_dir), "toy/2;judge=org/judge-1")
    assert protocol_id(replace(spec, limit=4)) == "toy/1;judge=org/judge-1;limit=4"


def test_samples_of_another_judge_are_not_resumed_and_the_sockets_place_does_not_matter(spec: RunnerSpec) -> None:
    assert spec_digest(replace(spec, outside="/run/other.sock")) == spec_digest(spec)
    assert spec_digest(replace(spec, protocol="toy/1;judge=judge-2")) != spec_digest(spec)


def test_services_are_handed_to_who_asks(tmp_path: Path) -> None:
    asking: Any = Asking()
    connect(asking, str(tmp_path / "x.sock"))
    assert isinstance(asking.services, SocketServices)
    with pytest.raises(InfraFault, match="I_PROVIDER"):
        connect(asking, None)
    connect(object(), None)  # type: ignore[arg-type]


def test_a_services_fault_is_ours_and_no_score() -> None:
    evaluator: Any = Asking()
    with pytest.raises(InfraFault, match="I_PROVIDER: item one: the judge is down") as told:
        first_prompt(evaluator, Item("one", {}))
    assert told.value.fault == "infra"


def test_a_long_socket_path_is_reached(tmp_path: Path) -> None:
    from benchmark.gateway.process import Gateway

    folder = tmp_path / ("x" * 120)
    folder.mkdir()
    with Gateway(socket=folder / "outside.sock"), pytest.raises(ServiceFault, match="cannot be reached from inside"):
        SocketServices(folder / "outside.sock").chat({"messages": []})
