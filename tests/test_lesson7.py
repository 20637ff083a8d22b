"""What lesson 7 runs with helpers of its own: functions in several processes, and the capstone as a script."""

from __future__ import annotations

import math
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.distributed as dist

from course_utils.authoring.source import read
from course_utils.learner import evaluate
from course_utils.lessons import lesson
from course_utils.lessons.lesson7 import ranks
from course_utils.lessons.lesson7 import take_home as home
from course_utils.lessons.lesson7.ranks import RankError, on_ranks
from course_utils.lessons.lesson7.take_home import take_home

pytestmark = pytest.mark.turns

ROOT = Path(__file__).resolve().parent.parent

both_ways = pytest.mark.parametrize("fork", [True, False], ids=["forked", "fresh"])


@pytest.fixture(autouse=True)
def nothing_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No file of the ranks in the temporary folder, no open process group, no child."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    before = children()
    yield
    assert list((tmp_path / "temporary").glob("ranks-*")) == []
    assert not dist.is_initialized()
    assert children() <= before


def children() -> set[str]:
    """The processes that this one has started: other tests have theirs. Empty where the system does not tell."""
    return {child for tasks in Path("/proc/self/task").glob("*/children") for child in tasks.read_text().split()}


def notebook(code: str) -> Callable[..., Any]:
    """The last function of a cell, as a notebook has it: its module is `__main__`, and no file holds it."""
    space: dict[str, Any] = {"__name__": "__main__"}
    exec(code, space)
    *_, last = (value for value in space.values() if isinstance(value, types.FunctionType))
    return last


TOGETHER = """
import os, torch, torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
table = {"rows": torch.arange(2.0)}
def doubled(x, by=2):
    return by * x
twice = doubled
def together(start):
    total = torch.tensor([start + dist.get_rank()])
    dist.all_reduce(total)
    torch.manual_seed(3)
    model = DistributedDataParallel(nn.Linear(1, 1, bias=False))
    model(table["rows"][dist.get_rank()].view(1, 1)).sum().backward()
    slopes = [(lambda p: twice(p.grad).item())(p) for p in model.parameters()]
    return dist.get_rank(), dist.get_world_size(), total, slopes, os.getpid()
"""


@both_ways
def test_a_function_of_the_notebook_runs_in_two_processes_that_talk_to_each_other(fork: bool) -> None:
    if fork and not ranks._autograd_outlives_a_fork():
        pytest.skip("this build of torch refuses to go on in a fork")
    first, second = on_ranks(notebook(TOGETHER), 5.0, fork=fork)
    assert (first[0], second[0], first[1]) == (0, 1, 2)
    assert first[2].tolist() == second[2].tolist() == [11.0]
    assert first[3] == second[3] == [1.0], "2 times the mean of 0 and 1"
    assert len({first[4], second[4], os.getpid()}) == 3


def test_what_a_notebook_puts_in_place_of_a_builtin_stays_with_the_notebook(tmp_path: Path) -> None:
    """IPython's `open` is a function of its own around Python's, and cannot travel."""
    code = (
        "import functools\n"
        "nothing, python_open = None, open\n"
        "@functools.wraps(open)\n"
        "def own(*given):\n    return python_open(*given)\n"
        "globals()['open'] = own\n"
        "def count(path):\n    with open(path) as file:\n        return len(file.read()), nothing\n"
    )
    (tmp_path / "text").write_text("three", encoding="utf-8")
    assert on_ranks(notebook(code), tmp_path / "text", ranks=1, fork=False) == [(5, None)]


@pytest.mark.skipif(
    sys.platform != "linux" or torch.accelerator.is_available(), reason="there are no forks here anyway"
)
@pytest.mark.parametrize("refused", [False, True])
def test_where_autograd_refuses_a_fork_the_processes_are_new(refused: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """As the builds of torch do that Debian has, once a backward pass has run."""

    def is_forked() -> bool:
        import multiprocessing

        return multiprocessing.parent_process() is not None

    def backward(loss: torch.Tensor) -> None:
        if refused:
            raise RuntimeError("Unable to handle autograd's threading in combination with fork-based multiprocessing.")

    monkeypatch.setattr(torch.autograd, "backward", backward)
    assert on_ranks(is_forked) == [not refused] * 2


def test_the_words_of_the_rank_that_failed_first_are_told() -> None:
    def failing() -> None:
        if dist.get_rank() == 1:
            raise ValueError("nothing to do")
        dist.barrier()

    with pytest.raises(RankError, match=r"^rank 1: ValueError: nothing to do$"):
        on_ranks(failing, fork=True)


def test_a_rank_that_hangs_is_ended_at_the_deadline() -> None:
    def hanging() -> None:
        if dist.get_rank() == 1:
            time.sleep(60)

    started = time.monotonic()
    with pytest.raises(RankError, match=r"no answer from rank 0, 1 after 0\.5 seconds"):
        on_ranks(hanging, deadline=0.5, fork=True)
    assert time.monotonic() - started < 20


def test_a_rank_that_is_killed_is_told_so() -> None:
    def dying() -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    with pytest.raises(RankError, match=r"^rank 0 ended without an answer$"):
        on_ranks(dying, ranks=1, fork=True)


def test_what_a_rank_prints_does_not_reach_the_notebook(capfd: pytest.CaptureFixture[str]) -> None:
    def loud() -> int:
        print("to Python")
        os.write(1, b"to the descriptor")
        os.write(2, b"to the other descriptor")
        return 1

    assert on_ranks(loud, ranks=1, fork=True) == [1]
    assert capfd.readouterr() == ("", "")


def test_an_interrupt_ends_the_ranks() -> None:
    code = (
        "import os, signal, time\n"
        "import torch.distributed as dist\n"
        "from course_utils.lessons.lesson7.ranks import on_ranks\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # what runs in a shell's background ignores it
        "def sleeping():\n"
        "    dist.barrier()\n"
        "    while True:\n"  # again and again: one that comes while the parent is still in its fork is lost by Python
        "        time.sleep(1)\n"
        "        if dist.get_rank() == 0: os.kill(os.getppid(), signal.SIGINT)\n"
        "try:\n"
        "    on_ranks(sleeping, fork=True)\n"
        "except KeyboardInterrupt:\n"
        "    print(len(os.listdir(os.environ['TMPDIR'])))\n"
        "    try: print(os.waitpid(-1, os.WNOHANG))\n"
        "    except ChildProcessError: print('no child')\n"
    )
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "TMPDIR": folder}
        done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=60)
    assert done.stdout.split("\n")[:2] == ["0", "no child"], done.stderr


def test_a_function_that_needs_names_around_it_is_refused_where_it_would_have_to_travel() -> None:
    wanted = 3
    with pytest.raises(ValueError, match="names of a function around it"):
        on_ranks(lambda: wanted, fork=False)
    with pytest.raises(ValueError, match="at least one"):
        on_ranks(lambda: 1, ranks=0)


def test_the_random_state_and_the_threads_of_the_notebook_stay_as_they_were() -> None:
    before, threads = torch.get_rng_state(), torch.get_num_threads()
    assert on_ranks(lambda: float(torch.rand(())), fork=True) == 2 * [float(_first_draw())]
    assert torch.equal(torch.get_rng_state(), before) and torch.get_num_threads() == threads


def _first_draw() -> torch.Tensor:
    return torch.rand((), generator=torch.Generator().manual_seed(0))


# ------------------------------------------------------------------ the capstone as a script


def solution() -> str:
    (cell,) = (cell for cell in read(ROOT, lesson(7)).cells if cell.exercise == "7.7")
    return cell.solved


def run(folder: Path, *words: str) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, *words]
    return subprocess.Popen(
        command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def weights(printed: str) -> str:
    (found,) = re.findall(r"^weights: (\w{16})$", printed, re.MULTILINE)
    return str(found)


@pytest.mark.heavy
def test_the_script_is_clean_and_killed_and_called_again_it_ends_in_the_same_bits(tmp_path: Path) -> None:
    (tmp_path / home.NAME).write_text(home.script(solution()), encoding="utf-8")
    audit = run(tmp_path, "-m", "gradient_ledger", home.NAME, "--", "--steps", "120", "--checkpoint", "whole.pt")
    out, err = audit.communicate(timeout=120)
    assert audit.returncode == 0 and "nothing wrong in 120 steps of SGD" in out, out + err

    killed, path = run(tmp_path, home.NAME, "--steps", "120"), tmp_path / "capstone.pt"
    last = time.monotonic() + 60
    while not path.exists() and time.monotonic() < last:
        time.sleep(0.002)
    killed.kill()
    killed.communicate()
    assert killed.returncode == -signal.SIGKILL and 1 <= torch.load(path)["windows"] < 120

    again = run(tmp_path, home.NAME, "--steps", "120")
    out_again, err_again = again.communicate(timeout=120)
    assert again.returncode == 0, err_again
    assert weights(out_again) == weights(out)


def trainer(text: str) -> Callable[..., Any]:
    """`train` of a cell with this text, as a kernel has it."""
    import linecache

    name = f"<cell {len(linecache.cache)}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    space: dict[str, Any] = {}
    exec(compile(text, name, "exec"), space)
    train: Callable[..., Any] = space["train"]
    return train


CELL = "FACTOR = 2\n\n\ndef train(model, batches, config, checkpoint=None):\n    return FACTOR * math.pi\n"


def test_the_whole_cell_is_written_and_a_file_that_was_changed_stays(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / home.NAME
    take_home(trainer(CELL), tmp_path)
    text = target.read_text(encoding="utf-8")
    assert CELL in text and home.signed(text.partition(home._SIGNED)[0]) == text
    take_home(trainer(CELL), tmp_path)
    take_home(trainer(CELL.replace("2", "3")), tmp_path)
    assert "FACTOR = 3" in target.read_text(encoding="utf-8")
    own = target.read_text(encoding="utf-8").replace("FACTOR = 3", "FACTOR = 4")
    target.write_text(own, encoding="utf-8")
    take_home(trainer(CELL), tmp_path)
    assert target.read_text(encoding="utf-8") == own
    assert capsys.readouterr().out.splitlines() == [
        "written: capstone.py",
        "capstone.py is there, and up to date",
        "written: capstone.py",
        "capstone.py has been changed since it was written, so it stays. Rename it to get a new one.",
    ]


def test_what_is_no_text_of_ours_stays(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / home.NAME
    target.write_bytes(b"# caf\xe9\n")
    take_home(trainer(CELL), tmp_path)
    assert target.read_bytes() == b"# caf\xe9\n" and "so it stays" in capsys.readouterr().out
    target.unlink()
    target.mkdir()
    take_home(trainer(CELL), tmp_path)
    assert "is a folder" in capsys.readouterr().out and list(target.iterdir()) == []


@pytest.mark.skipif(os.name == "nt", reason="one bit of a mode there")
def test_the_script_can_be_read_by_others(tmp_path: Path) -> None:
    take_home(trainer(CELL), tmp_path)
    assert (tmp_path / home.NAME).stat().st_mode & 0o777 == 0o644


def test_names_of_other_cells_are_told_and_nothing_is_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (
        "def train(model, batches, config, checkpoint=None):\n    return [helper(b) for b in batches] + [len(other)]\n"
    )
    take_home(trainer(text), tmp_path)
    assert "uses helper, other from another cell" in capsys.readouterr().out
    assert list(tmp_path.glob("*.py")) == []


@pytest.mark.parametrize("stub", ["...", "return ...  # your code here"])
def test_a_stub_is_not_written(stub: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = f'def train(model, batches, config, checkpoint=None):\n    """What it does."""\n    {stub}\n'
    take_home(trainer(text), tmp_path)
    assert "not solved yet" in capsys.readouterr().out and list(tmp_path.glob("*.py")) == []


@pytest.mark.parametrize("folder", ["solutions", "notebooks"])
def test_the_folders_of_the_published_notebooks_are_left_alone(
    folder: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "pyproject.toml").write_text((ROOT / "pyproject.toml").read_text(encoding="utf-8"), encoding="utf-8")
    (tmp_path / folder).mkdir()
    take_home(trainer(CELL), tmp_path / folder)
    assert "published notebook" in capsys.readouterr().out and list((tmp_path / folder).iterdir()) == []


def test_a_function_without_a_text_is_not_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    take_home(math.sqrt, tmp_path)
    assert "cannot be read" in capsys.readouterr().out and list(tmp_path.glob("*.py")) == []


# ------------------------------------------------------------------ checks


def test_a_scaler_that_refuses_a_call_in_order_is_told_which() -> None:
    class Once:
        """Refuses whatever comes after the first step."""

        def __init__(self, init_scale: float, *_: float) -> None:
            self.now, self.done = init_scale, False

        def scale(self, loss: torch.Tensor) -> torch.Tensor:
            return loss * self.now

        def get_scale(self) -> float:
            return self.now

        def unscale_(self, optimizer: torch.optim.Optimizer) -> None:
            if self.done:
                raise RuntimeError("no more")

        def step(self, optimizer: torch.optim.Optimizer) -> None:
            self.unscale_(optimizer)
            self.done = True

        def update(self) -> None:
            self.now /= 2

    said = [" ".join((*fault.observed, *fault.certain)) for fault in evaluate("7.2", Once).faults]
    assert any("round 2: step(optimizer)" in one for one in said)


def test_an_error_of_torch_within_a_scaler_keeps_its_traceback() -> None:
    class Wrong:
        def __init__(self, init_scale: float, *_: float) -> None:
            self.now = init_scale

        def scale(self, loss: torch.Tensor) -> torch.Tensor:
            return loss * self.now

        def get_scale(self) -> float:
            return self.now

        def step(self, optimizer: torch.optim.Optimizer) -> None:
            torch.ones(2) @ torch.ones(3)

    verdict = evaluate("7.2", Wrong)
    assert verdict.outcome == "raised"
    raised = verdict.faults[0].raised
    assert raised is not None and "[in round 1: step(optimizer)]" in raised.message
