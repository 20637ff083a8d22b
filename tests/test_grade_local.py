"""Grading on this machine goes on after whatever happens to it: each submission graded once, the same gradebook."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
from graders import LESSON, STARTED, FakeGrader, end, hand_in

from course_utils import cli
from course_utils.grading import command as grading_command
from course_utils.grading import grade
from course_utils.grading.engine import LIVES, Settings, local
from course_utils.grading.sandbox import NoIsolation, Sandbox, warm, why_not
from gradient_ledger import files
from gradient_ledger.errors import UserError

pytestmark = [
    pytest.mark.turns,
    pytest.mark.skipif(sys.platform != "linux", reason="grading is for Linux"),
]


@pytest.fixture(autouse=True, scope="module")
def fakes() -> Iterator[None]:
    """Workers are forks of this process, which takes no second, and grade with a fake."""
    forks = multiprocessing.get_context("fork")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(multiprocessing, "get_context", lambda method: forks)
        patch.setattr(grade, "Grader", FakeGrader)
        patch.setattr(grading_command, "why_not", lambda isolation: "")  # fakes need no bubblewrap
        patch.setattr(local, "ENDING", 0.2)
        yield


@pytest.fixture(autouse=True)
def log(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Where fakes write down what they begin."""
    monkeypatch.setenv(STARTED, str(tmp_path / "started"))


# ------------------------------------------------------------------ workers


@pytest.mark.parametrize("done", [0, 7])
def test_a_worker_that_is_killed_loses_and_doubles_nothing(done: int, tmp_path: Path) -> None:
    jobs = hand_in(tmp_path / "in", ["slow"] * 4 + ["work"] * 8)
    found = []
    results = local.grade_all(jobs, Settings("fake"), 2)
    while True:
        if len(found) == done:
            for worker in multiprocessing.active_children() or [None]:
                if worker is not None and worker.pid:
                    os.kill(worker.pid, signal.SIGKILL)
        try:
            found.append(next(results))
        except StopIteration:
            break
    assert Counter(result.student for result in found) == Counter(job.submission.student for job in jobs)
    assert {result.points for result in found} == {7}


def test_what_ends_its_workers_is_given_up_last_and_the_others_are_graded(tmp_path: Path) -> None:
    jobs = hand_in(tmp_path / "in", ["kill"] + ["work"] * 6)
    *others, poison = local.grade_all(jobs, Settings("fake"), 2)
    assert [result.points for result in others] == [7] * 6
    assert (poison.student, poison.points, poison.lesson, poison.digest) == ("student-000", 0, LESSON, jobs[0].digest)
    assert f"ended the program that graded it, {LIVES} times" in poison.notes[0].text
    assert Counter(started(tmp_path))["student-000"] == LIVES


def started(tmp_path: Path) -> list[str]:
    return (tmp_path / "started").read_text(encoding="utf-8").split()


@pytest.mark.parametrize("what", ["kill", "hang"])
def test_what_ends_its_worker_once_is_graded_by_another(
    what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Settings, "patience", 1.0)
    jobs = hand_in(tmp_path / "in", [f"{what} once {tmp_path / 'once'}", "work"])
    assert [result.points for result in local.grade_all(jobs, Settings("fake"), 2)] == [7, 7]
    assert Counter(started(tmp_path)) == {"student-000": 2, "student-001": 1}


def test_a_fault_of_the_grader_itself_costs_one_submission(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    jobs = hand_in(tmp_path / "in", ["work", "fault", "work"])
    points = {result.student: result.points for result in local.grade_all(jobs, Settings("fake"), 1)}
    assert points == {"student-000": 7, "student-001": 0, "student-002": 7}
    assert "the grader has a fault" in capfd.readouterr().err


def test_workers_that_never_begin_stop_the_run_and_give_nobody_a_mark(tmp_path: Path) -> None:
    jobs = hand_in(tmp_path / "in", ["work"])
    found = []
    with pytest.raises(UserError, match=r"end before they begin \(signal 9\), 3 in a row.* short of memory"):
        found.extend(local.grade_all(jobs, Settings("stillborn"), 1))
    assert found == []
    assert not multiprocessing.active_children()


def test_workers_that_cannot_isolate_stop_the_run(tmp_path: Path) -> None:
    with pytest.raises(NoIsolation, match="there is no isolation in this test"):
        list(local.grade_all(hand_in(tmp_path / "in", ["work"]), Settings("no isolation"), 2))
    assert not multiprocessing.active_children()


def test_a_file_that_is_gone_by_now_is_said_to_be_and_the_rest_is_graded(tmp_path: Path) -> None:
    jobs = hand_in(tmp_path / "in", ["work", "work"])
    (tmp_path / "in" / "student-000.ipynb").unlink()
    gone, there = sorted(local.grade_all(jobs, Settings("fake"), 1), key=lambda result: result.student)
    assert (gone.lesson, gone.points, there.points) == (None, 0, 7)
    assert gone.notes


# ------------------------------------------------------------------ the command


def commanded(folder: Path, then: Callable[[], object] = lambda: None) -> int:
    """`course grade` in a process of its own, of which nothing is left afterwards; `then` is done there before.

    Its exit status; negative for a signal.
    """
    child = os.fork()
    if not child:
        os.setsid()  # with its workers
        signal.signal(signal.SIGINT, signal.default_int_handler)  # which a background job of a shell ignores
        try:
            then()
            status = cli.main(command(folder))
        except BaseException:
            status = 70
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(status)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    try:
        os.killpg(child, signal.SIGKILL)
    except ProcessLookupError:
        pass
    return status


def command(folder: Path) -> list[str]:
    return ["grade", str(folder / "in"), "--out", str(folder / "book"), "--seed", "fake", "--jobs", "1"]


def everything(folder: Path) -> dict[str, bytes]:
    """What a gradebook holds, the name of who had the lock aside."""
    paths = [path for path in (folder / "book").rglob("*") if path.is_file() and path.name != "lock"]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, bytes], int]:
    """The gradebook of a run that nothing happened to, and how many files it wrote."""
    folder = tmp_path_factory.mktemp("undisturbed")
    hand_in(folder / "in", ["work"] * 4)
    log = folder / "writes"
    assert commanded(folder, lambda: at_write(0, lambda: None, log)) == 0
    return everything(folder), len(log.read_bytes())


def at_write(number: int, what: Callable[[], object], log: Path | None = None) -> None:
    """In this process, `what` happens once the file of that number is written and does not stand in its place yet."""
    real, writes = os.replace, 0

    def replace(*paths: str) -> None:
        nonlocal writes
        writes += 1
        if log:
            with log.open("ab") as file:
                file.write(b".")
        if writes == number:
            what()
        real(*paths)

    pytest.MonkeyPatch().setattr(files.os, "replace", replace)


SOME_AND_ALL = [5, pytest.param(1, marks=pytest.mark.heavy)]
"""Every fifth moment at which something can happen, or each."""


@pytest.mark.parametrize("every", SOME_AND_ALL)
def test_the_command_may_be_killed_at_any_write_and_goes_on(
    every: int, undisturbed: tuple[dict[str, bytes], int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, writes = undisturbed
    assert 10 < writes < 40
    for number in range(1, writes + 1, every):
        folder = tmp_path / str(number)
        folder.mkdir()
        monkeypatch.setenv(STARTED, str(folder / "started"))
        hand_in(folder / "in", ["work"] * 4)
        assert commanded(folder, partial(at_write, number, end)) == -signal.SIGKILL
        kept = len(list((folder / "book").glob("results/*/student-*.json")))
        assert commanded(folder) == 0
        assert everything(folder) == whole, f"killed at write {number}"
        # What is kept is not graded again. The worker has at most begun what comes next.
        assert Counter(started(folder)).total() <= 4 + 2 * (kept < 4), f"killed at write {number}"


@pytest.mark.parametrize("every", SOME_AND_ALL)
def test_a_full_disk_stops_the_run_with_a_reason_and_it_goes_on_later(
    every: int, undisturbed: tuple[dict[str, bytes], int], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    whole, writes = undisturbed
    for number in range(3, writes, every):
        folder = tmp_path / str(number)
        folder.mkdir()
        hand_in(folder / "in", ["work"] * 4)
        assert commanded(folder, partial(at_write, number, fill_the_disk)) == 1
        said = capfd.readouterr().err
        assert "No space left on device" in said and "run the same command again" in said and "Traceback" not in said
        assert commanded(folder) == 0
        assert everything(folder) == whole, f"full at write {number}"


def fill_the_disk() -> None:
    """From now on, files of this process are written to a device that is always full."""

    def fdopen(handle: int, mode: str) -> object:
        os.close(handle)
        return open("/dev/full", mode)

    pytest.MonkeyPatch().setattr(files.os, "fdopen", fdopen)


def test_ctrl_c_stops_the_command_and_the_same_command_goes_on(
    undisturbed: tuple[dict[str, bytes], int], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    hand_in(tmp_path / "in", ["work"] * 4)
    assert commanded(tmp_path, lambda: at_write(3, lambda: os.kill(os.getpid(), signal.SIGINT))) == 130
    said = capfd.readouterr()
    assert "the same command goes on with the rest" in said.err and "Traceback" not in said.err
    assert commanded(tmp_path) == 0
    assert everything(tmp_path) == undisturbed[0]


def test_ctrl_c_ends_an_import_at_once_and_later_signals_to_end_are_like_it() -> None:
    under_nohup = {
        signal.SIGINT: signal.default_int_handler,
        signal.SIGTERM: signal.SIG_DFL,
        signal.SIGHUP: signal.SIG_IGN,
    }
    before = {number: signal.signal(number, handler) for number, handler in under_nohup.items()}
    try:
        with cli._ended_by_interrupt(own_process=True):
            assert signal.getsignal(signal.SIGINT) is signal.SIG_DFL
        interrupts = [number for number in before if signal.getsignal(number) is signal.default_int_handler]
        assert interrupts == [signal.SIGINT, signal.SIGTERM]
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def test_an_interrupted_run_leaves_no_worker_and_no_temporary_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    monkeypatch.setattr(FakeGrader, "start", lambda self: tempfile.mkstemp())
    results = local.grade_all(hand_in(tmp_path / "in", ["work", "hang", "hang"]), Settings("fake"), 3)
    next(results)
    workers = multiprocessing.active_children()
    with pytest.raises(KeyboardInterrupt):
        results.throw(KeyboardInterrupt)
    assert len(workers) >= 2 and not any(worker.is_alive() for worker in workers)
    assert not list((tmp_path / "tmp").iterdir())


def test_a_worker_begins_deaf_to_ctrl_c_and_the_command_hears_it_a_little_later() -> None:
    blocked = "next(line for line in open('/proc/self/status') if line.startswith('SigBlk')).split()[1]"
    done = threading.Event()
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # what runs in a shell's background ignores it
    threading.Thread(target=done.wait).start()  # as a progress bar has one, to which a signal may be given
    try:
        with pytest.raises(KeyboardInterrupt), local._interrupts_held():
            os.kill(os.getpid(), signal.SIGINT)
            said = subprocess.run([sys.executable, "-c", f"print({blocked})"], capture_output=True, text=True).stdout
    finally:
        done.set()
        signal.signal(signal.SIGINT, before)
    assert int(said, 16) >> (signal.SIGINT - 1) & 1
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, [])


def test_without_a_temporary_folder_it_is_said_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "none"))
    with pytest.raises(UserError, match="No such file or directory.*set TMPDIR to another folder"):
        list(local.grade_all(hand_in(tmp_path / "in", ["work"]), Settings("fake"), 1))


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="threads are counted where /proc is")
def test_a_build_of_torch_that_starts_threads_is_named_as_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    thread = "import threading; threading.Thread(target=threading.Event().wait, daemon=True).start(); "
    monkeypatch.setattr(warm, "_RUN", thread + warm._RUN)
    with pytest.raises(NoIsolation, match=r"torch has started a thread in it \(.+\).*torch from PyPI"):
        Sandbox("none")


def test_without_bubblewrap_the_command_refuses_before_anything_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(grading_command, "why_not", why_not)
    monkeypatch.setenv("PATH", str(tmp_path))
    hand_in(tmp_path / "in", ["work"])
    assert cli.main(command(tmp_path)) == 1
    assert "apt install bubblewrap" in capsys.readouterr().err and not (tmp_path / "book").exists()


def test_what_is_no_notebook_is_said_once_and_stops_nothing(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    hand_in(tmp_path / "in", ["work"])
    (tmp_path / "in" / "broken_lesson3.ipynb").write_bytes(b"\x80 no notebook")
    os.mkfifo(tmp_path / "in" / "pipe.ipynb")
    for graded, kept in (("1 graded", ""), ("0 graded", "1 graded before and unchanged")):
        assert commanded(tmp_path) == 0
        said = capfd.readouterr().out
        assert graded in said and kept in said and "1 that could not be read as a notebook" in said
