"""The Dask engine on a real scheduler with two worker processes: nothing is lost, doubled or blamed on a neighbour."""

from __future__ import annotations

import multiprocessing
import multiprocessing.forkserver
import os
import signal
import socket
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from graders import LESSON, hand_in

from course_utils.grading.engine import LIVES, Job, Settings, cluster
from course_utils.grading.sandbox import NoIsolation
from gradient_ledger.errors import UserError

distributed = pytest.importorskip("distributed", reason="the Dask engine needs the extra `dask`")

PRELOAD = """
import sys
sys.path.insert(0, {tests!r})
import course_utils.grading.grade as grade
from course_utils.grading.engine import Settings
from graders import FakeGrader

def dask_setup(worker):
    real = grade.Grader
    grade.Grader = lambda seed, *rest: (real if seed == "real" else FakeGrader)(seed, *rest)
    Settings.patience = property(lambda settings: 2.0 if settings.seed == "impatient" else 600.0)
"""


@pytest.fixture(scope="module")
def dask(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A scheduler and two workers, each a process with a nanny. One death is enough for this scheduler to give up.

    In the workers a fake takes the place of the grader; the code of the course holds nothing that knows of it.
    """
    import dask

    folder = tmp_path_factory.mktemp("cluster")
    preload = folder / "fakes.py"
    preload.write_text(PRELOAD.format(tests=str(Path(__file__).parent)), encoding="utf-8")
    options = {
        "distributed.scheduler.allowed-failures": 0,
        "temporary-directory": str(folder),
        "distributed.deploy.lost-worker-timeout": "10 minutes",  # a busy machine takes long to start another
        "distributed.worker.multiprocessing-method": "forkserver",
    }
    # Torch is imported once: a new worker is a fork of a process that has it.
    server = multiprocessing.get_context("forkserver")
    server.set_forkserver_preload(["distributed", "course_utils.grading.grade", "course_utils.grading.submissions"])
    multiprocessing.forkserver.ensure_running()
    with (
        dask.config.set(options),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, preload=[str(preload)]
        ) as started,
    ):
        yield started


def graded(started: Any, jobs: list[Job], seed: str = "fake") -> dict[str, float]:
    """{student: points}; each of them once."""
    results = list(cluster.grade_all(jobs, Settings(seed), started.scheduler_address))
    assert Counter(result.student for result in results) == Counter(job.submission.student for job in jobs)
    assert {result.digest for result in results} == {job.digest for job in jobs}
    return {result.student: result.points for result in results}


def test_a_worker_that_is_killed_half_way_loses_and_doubles_nothing(dask: Any, tmp_path: Path) -> None:
    jobs = hand_in(tmp_path / "in", ["slow"] * 40)
    workers = [worker["pid"] for worker in processes(dask)]
    found = []
    for result in cluster.grade_all(jobs, Settings("fake"), dask.scheduler_address):
        found.append(result)
        if len(found) == 10:
            os.kill(workers[0], signal.SIGKILL)
    assert Counter(result.student for result in found) == Counter(job.submission.student for job in jobs)
    assert all(result.points == 7 for result in found)
    assert workers[0] not in [worker["pid"] for worker in processes(dask)]


def processes(started: Any) -> list[dict[str, int]]:
    with distributed.Client(started.scheduler_address, set_as_default=False) as client:
        return list(client.run(lambda: {"pid": os.getpid()}).values())


def test_what_ends_its_worker_is_given_up_and_its_neighbours_are_graded(dask: Any, tmp_path: Path) -> None:
    contents = ["work"] * 12
    contents[2] = "kill"
    jobs = hand_in(tmp_path / "in", contents)
    results = {result.student: result for result in cluster.grade_all(jobs, Settings("fake"), dask.scheduler_address)}
    assert len(results) == 12
    poison = results.pop("student-002")
    assert all(result.points == 7 for result in results.values())
    assert poison.points == 0 and poison.lesson == LESSON and poison.digest == jobs[2].digest
    assert "ended the program that graded it" in poison.notes[0].text


def test_a_worker_that_hangs_is_ended_and_its_job_is_graded_by_another(dask: Any, tmp_path: Path) -> None:
    contents = ["work", f"hang once {tmp_path / 'hung'}", "work"]
    points = graded(dask, hand_in(tmp_path / "in", contents), "impatient")
    assert points == dict.fromkeys(["student-000", "student-001", "student-002"], 7)
    assert (tmp_path / "hung").exists()


def test_a_fault_of_the_grader_itself_costs_one_submission_and_is_shown(
    dask: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    points = graded(dask, hand_in(tmp_path / "in", ["work", "fault", "work"]))
    assert points == {"student-000": 7, "student-001": 0, "student-002": 7}
    assert "student-001.ipynb: RuntimeError: the grader has a fault" in capsys.readouterr().err


def test_the_same_file_of_two_students_is_graded_for_both(dask: Any, tmp_path: Path) -> None:
    assert graded(dask, hand_in(tmp_path / "in", ["work", "work"])) == {"student-000": 7, "student-001": 7}


def test_a_file_that_is_gone_by_now_is_said_to_be_and_the_rest_is_graded(dask: Any, tmp_path: Path) -> None:
    jobs = hand_in(tmp_path / "in", ["work", "work"])
    (tmp_path / "in" / "student-000.ipynb").unlink()
    gone, there = sorted(cluster.grade_all(jobs, Settings("fake"), dask.scheduler_address), key=lambda r: r.student)
    assert (gone.lesson, gone.points, there.points) == (None, 0, 7)
    assert gone.notes


def test_workers_that_cannot_isolate_stop_the_run_with_the_reason_and_the_machine(dask: Any, tmp_path: Path) -> None:
    with pytest.raises(NoIsolation, match=f"On the worker {os.uname().nodename}: there is no isolation in this test"):
        graded(dask, hand_in(tmp_path / "in", ["work"]), "no isolation")


def test_workers_with_another_course_stop_the_run(dask: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "course", lambda: "0.0.9-12345678")
    with pytest.raises(UserError, match="and this is 0.0.9-12345678: install the same version of it there as here"):
        graded(dask, hand_in(tmp_path / "in", ["work"]))


def test_a_scheduler_that_nobody_finds_is_said_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        nobody = f"tcp://127.0.0.1:{probe.getsockname()[1]}"
    monkeypatch.setattr(cluster, "CONNECT", 0.3)
    for address in (nobody, "no address"):
        with pytest.raises(UserError, match="no Dask scheduler answers at .* start one with `dask scheduler`"):
            list(cluster.grade_all(hand_in(tmp_path / "in", ["work"]), Settings("fake"), address))


def test_a_sandbox_does_not_outlive_its_run_in_the_workers(dask: Any, tmp_path: Path) -> None:
    graded(dask, hand_in(tmp_path / "in", ["work"] * 4))
    with distributed.Client(dask.scheduler_address, set_as_default=False) as client:
        held = client.run(lambda: __import__("course_utils.grading.engine.cluster").grading.engine.cluster._held)
    assert set(held.values()) == {None}
    assert LIVES > 1
