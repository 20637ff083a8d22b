"""The sandbox: what honest notebooks get, what strangers do not see, and how each limit is reported as itself."""

from __future__ import annotations

import errno
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePath
from typing import Any

import pytest

from course_utils.checks import knows_an_answer
from course_utils.checks.judge import judge
from course_utils.exercise import Case, Evidence
from course_utils.grading.notebook import Cell, Notebook
from course_utils.grading.sandbox import Limits, NoIsolation, Ran, Sandbox, bubble, staging
from course_utils.grading.sandbox.attempt import Attempt
from course_utils.grading.sandbox.box import RESTARTS
from course_utils.grading.sandbox.evidence import read_evidence
from course_utils.grading.sandbox.watch import family
from course_utils.lessons import lesson
from course_utils.plain import to_bytes

pytestmark = pytest.mark.turns

ROOT = Path(__file__).resolve().parents[1]
SECRET = "COURSE_TEST_SECRET"
LIMITS = Limits(total=60.0, memory=400 * 2**20, processes=24, disk=8 * 2**20)
LESSON = 3


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(SECRET, "here")
        try:
            made = Sandbox("bubblewrap", LIMITS)
        except NoIsolation as error:
            pytest.skip(str(error))
        with made:
            yield made


def _sources(path: Path) -> list[str]:
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]


def _handed_in(folder: str) -> Notebook:
    name = f"{lesson(LESSON).slug}.ipynb"
    published = set(_sources(ROOT / "notebooks" / name))
    cells = enumerate(_sources(ROOT / folder / name), 1)
    return Notebook(LESSON, tuple(Cell(number, source, source in published) for number, source in cells))


def _cells(*sources: str) -> Notebook:
    return Notebook(LESSON, tuple(Cell(number, source) for number, source in enumerate(sources, 1)))


def _around(before: Sequence[str], after: Sequence[str]) -> Notebook:
    """The solved notebook with further cells."""
    solved = [(cell.source, cell.published) for cell in _handed_in("solutions").cells]
    cells = [*((one, False) for one in before), *solved, *((one, False) for one in after)]
    return Notebook(LESSON, tuple(Cell(number, *cell) for number, cell in enumerate(cells, 1)))


def _drawn() -> Mapping[str, Sequence[Case]]:
    return {exercise.id: exercise.cases(11)[:4] for exercise in lesson(LESSON).exercises}


def _outcomes(ran: Ran) -> list[str]:
    exercises = [one for one in lesson(LESSON).exercises if one.id in ran.evidence]
    return [judge(one, _drawn()[one.id], ran.evidence[one.id]).outcome for one in exercises]


def _told(ran: Ran) -> list[str]:
    """What was noted, but for exercises without a function."""
    return [note.text for note in ran.notes if "so there was nothing to check" not in note.text]


def _ask(sandbox: Sandbox, *expressions: str) -> list[Any]:
    """What expressions come to inside, each in a cell of its own."""
    cells = [f"import os, sys, socket, ctypes\nraise LookupError(repr({one}))" for one in expressions]
    told = _told(sandbox.run(_cells(*cells), _drawn))
    assert all("raised LookupError: " in text for text in told), told
    return [eval(text.split("raised LookupError: ")[1].split(", in line")[0]) for text in told]


# ------------------------------------------------------------------ honest notebooks


def test_a_solved_notebook_passes_and_shows_its_code(sandbox: Sandbox) -> None:
    ran = sandbox.run(_handed_in("solutions"), _drawn)
    assert _told(ran) == []
    assert _outcomes(ran) == ["passed"] * len(lesson(LESSON).exercises)
    assert all(f"def {one.name}(" in ran.code[one.id] for one in lesson(LESSON).exercises)


def test_an_unsolved_notebook_is_not_attempted(sandbox: Sandbox) -> None:
    ran = sandbox.run(_handed_in("notebooks"), _drawn)
    assert ran.notes == ()
    assert _outcomes(ran) == ["not attempted"] * len(lesson(LESSON).exercises)


def test_an_empty_notebook_has_no_evidence_and_says_so(sandbox: Sandbox) -> None:
    ran = sandbox.run(_cells(), _drawn)
    assert ran.evidence == {}
    assert [note.where for note in ran.notes] == [f"exercise {one.id}" for one in lesson(LESSON).exercises]


def test_what_is_no_function_is_said_to_be_none(sandbox: Sandbox) -> None:
    first = lesson(LESSON).exercises[0]
    ran = sandbox.run(_cells(f"{first.name} = 3"), _drawn)
    assert first.id not in ran.evidence
    assert f"`{first.name}` is an object of type int in the end, not a function" in ran.notes[0].text


def test_a_late_definition_wins_and_a_cell_that_fails_costs_only_itself(sandbox: Sandbox) -> None:
    first = lesson(LESSON).exercises[0]
    early = [f"def {first.name}(*_, **__):\n    return None", "raise ValueError('on the way')"]
    ran = sandbox.run(_around(early, []), _drawn)
    assert _outcomes(ran) == ["passed"] * len(lesson(LESSON).exercises)
    line = "Cell 2 raised ValueError: on the way, in line 1 of cell 2 (`raise ValueError('on the way')`)."
    assert _told(ran)[0].startswith(line)


def test_a_kernel_gives_what_notebooks_are_used_to(sandbox: Sandbox) -> None:
    ran = sandbox.run(
        _cells(
            "%matplotlib inline\n!ls\n%time x = 1\ny = %time x + 1\nassert (x, y) == (1, 2)\nlen?",
            "%%time\nz = 3",
            "%timeit -n 2 -r 1 w = 4",
            "assert (z, w) == (3, 4) and input('name? ') == ''\ndisplay(z)\nget_ipython().run_line_magic('who', '')",
            "import asyncio\nawait asyncio.sleep(0)\nassert await asyncio.wait_for(asyncio.sleep(0, 5), 1) == 5",
            "def square(x):\n    return x * x",
            "import inspect, pickle, __main__\nassert 'x * x' in inspect.getsource(square)\n"
            "assert pickle.loads(pickle.dumps(square)) is square and __main__.square is square",
            "import multiprocessing\nwith multiprocessing.Pool(2) as pool:\n    assert pool.map(square, [2]) == [4]",
            "import torch\nfrom torch.utils.data import DataLoader\n"
            "assert len(list(DataLoader(torch.arange(4), num_workers=2))) == 4",
            "import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.savefig('x.png')\nplt.show()",
            "from course_utils import check, hint, predict, progress\ncheck('3.1', len)\nhint('3.1')\nprogress()",
            "import os\nif os.fork() == 0:\n    print('goes on')",
            "torch.save(torch.ones(2), 'x.pt')\nassert torch.load('x.pt').sum() == 2",
        ),
        _drawn,
    )
    assert _told(ran) == []


@pytest.mark.heavy
def test_without_isolation_the_same_comes_of_it() -> None:
    with Sandbox("none", LIMITS) as sandbox:
        ran = sandbox.run(_handed_in("solutions"), _drawn)
        ended = sandbox.run(_cells("import os; os._exit(7)", "raise ValueError('later')"), _drawn)
    assert _outcomes(ran) == ["passed"] * len(lesson(LESSON).exercises)
    assert "Cell 1 ended its process, with exit code 7" in _told(ended)[0]
    assert "ValueError: later" in _told(ended)[1]


_ROOTLESS = """
import sys
sys.path[:0] = [{root!r}, {tests!r}]
from course_utils.grading.sandbox import Sandbox
import test_sandbox as t
with Sandbox() as sandbox:
    print(t._outcomes(sandbox.run(t._handed_in("solutions"), t._drawn)))
"""
_CANNOT = 77
"""Exit status where nobody may not do what any rootless sandbox does, or cannot read Python or the course."""


@pytest.mark.heavy
@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="all tests of this file are rootless here")
def test_it_works_for_somebody_who_is_not_root(tmp_path: Path, sandbox: Sandbox) -> None:
    if shutil.which("setpriv") is None or shutil.which("unshare") is None:
        pytest.skip("setpriv and unshare of util-linux are needed to try it as somebody else")
    nobody = "setpriv --reuid 65534 --regid 65534 --clear-groups"
    rootless = f"{nobody} bwrap --unshare-all --ro-bind / / --proc /proc true"
    readable = f"{nobody} {sys.executable} -B -c 'open(\"{ROOT}/pyproject.toml\")'"
    before = " && ".join([*_opened(tmp_path), rootless, readable])
    code = _ROOTLESS.format(root=str(ROOT), tests=str(ROOT / "tests"))
    done = subprocess.run(
        [
            "unshare",
            "--mount",
            "sh",
            "-c",
            f'{before} || exit {_CANNOT}; exec {nobody} {sys.executable} -B -c "$1"',
            "sh",
            code,
        ],
        env={"PATH": os.environ["PATH"], "OMP_NUM_THREADS": "1", "TMPDIR": "/tmp", "HOME": "/nonexistent"},
        cwd="/",
        capture_output=True,
        text=True,
    )
    if done.returncode == _CANNOT or done.stderr.startswith("unshare:"):
        pytest.skip(f"nobody cannot try it here: {done.stderr[-300:]}")
    assert done.stdout.strip() == str(["passed"] * len(lesson(LESSON).exercises)), done.stderr


def _opened(spare: Path) -> list[str]:
    """What opens folders on the way to Python and to the course that only root can enter, in a mount namespace."""
    needed = (sys.base_prefix, sys.prefix, str(ROOT))
    closed = {parent for path in needed for parent in Path(path).parents if not parent.stat().st_mode & 0o001}
    steps = []
    for number, path in enumerate(sorted(closed)):
        aside = f"{spare}/{number}"
        steps += [f"mkdir -p {aside}", f"mount --bind {path} {aside}", f"mount -t tmpfs -o mode=755 none {path}"]
        for inner in {PurePath(one).relative_to(path).parts[0] for one in needed if PurePath(one).is_relative_to(path)}:
            steps += [f"mkdir {path}/{inner}", f"mount --bind {aside}/{inner} {path}/{inner}"]
    return steps


# ------------------------------------------------------------------ what is not there


def test_the_copy_of_the_course_holds_lessons_and_no_answers(tmp_path: Path) -> None:
    staging.stage(tmp_path)
    files = {path.relative_to(tmp_path) for path in tmp_path.rglob("*")}
    assert not [path for path in files if knows_an_answer(path)]
    assert Path("course_utils/lessons/lesson3/freeze/task.py") in files
    graders = {path.parts[2] for path in files if path.parts[:2] == ("course_utils", "grading") and path.parts[2:]}
    assert graders == {"__init__.py", "jail"}


def test_a_course_installed_for_another_python_is_hidden(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    site = tmp_path / "lib" / "python3.9" / "site-packages"
    (site / "course_utils").mkdir(parents=True)
    (site / "__editable__.gradient_ledger-0.1.0.pth").touch()
    monkeypatch.setattr(staging, "visible", lambda: [str(tmp_path)])
    assert staging.hidden() == ([str(site / "course_utils")], [str(site / "__editable__.gradient_ledger-0.1.0.pth")])


def test_neither_the_clone_nor_answers_nor_the_environment_can_be_seen(sandbox: Sandbox) -> None:
    names = {"answers.py", "mistakes.py", "solutions.json", "03_zeroing_gradients.ipynb"}
    sites = [path for path in sys.path if path.endswith("site-packages")]
    course = [f"os.path.join({site!r}, 'course_utils')" for site in sites]
    parts = ("solutions", "course_utils", "tests", ".git")
    seen = f"[name for name in {parts} if os.path.exists(os.path.join({str(ROOT)!r}, name))]"
    inside = f"[f for top in ('/course', {', '.join(course)}) for _, _, fs in os.walk(top) for f in fs if f in {names}]"
    found, clone, environment, homes, home = _ask(
        sandbox,
        inside,
        seen,
        f"os.environ.get({SECRET!r})",
        "os.listdir('/home') if os.path.isdir('/home') else []",
        "__import__('course_utils').__file__",
    )
    assert (found, clone, environment, homes) == ([], [], None, [])
    assert str(home).startswith(bubble.COURSE)


def test_scratch_does_not_cover_a_python_that_lies_in_tmp(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert bubble.scratch() == "/tmp" or Path(sys.prefix).is_relative_to("/tmp")
    inside = str(Path("/tmp", "python"))
    monkeypatch.setattr(staging, "visible", lambda: ["/usr", inside])
    line = " ".join(bubble.command(tmp_path))
    assert "--tmpfs /scratch" in line and "--tmpfs /tmp" not in line and f"--ro-bind {inside} {inside}" in line


def test_the_judge_cannot_be_imported(sandbox: Sandbox) -> None:
    ran = sandbox.run(
        _cells("import course_utils.checks.judge", "import course_utils.lessons.lesson4.mistakes"), _drawn
    )
    assert all("ModuleNotFoundError" in text for text in _told(ran)) and len(_told(ran)) == 2


def test_there_are_no_other_processes_and_no_way_to_become_more(sandbox: Sandbox) -> None:
    processes, capabilities, namespace, root = _ask(
        sandbox,
        "[p for p in os.listdir('/proc') if p.isdigit()]",
        "[l.split()[1] for l in open('/proc/self/status') if l.startswith('Cap')]",
        "ctypes.CDLL(None).unshare(0x10000000)",
        "[p for p in ('/', '/course', '/usr', '/proc/sys/kernel/core_pattern', sys.prefix) if os.access(p, os.W_OK)]",
    )
    assert processes == ["1"]
    assert set(capabilities) == {"0" * 16}
    assert (namespace, root) == (-1, [])


def test_there_is_no_network(sandbox: Sandbox) -> None:
    with socket.create_server(("127.0.0.1", 0)) as here, socket.socket(socket.AF_UNIX) as local:
        local.bind("\0course-test-sandbox")
        local.listen()
        answers = _ask(
            sandbox,
            f"socket.socket().connect_ex(('127.0.0.1', {here.getsockname()[1]}))",
            "socket.socket().connect_ex(('192.0.2.1', 80))",
            "socket.socket(socket.AF_UNIX).connect_ex('\\0course-test-sandbox')",
        )
    assert 0 not in answers


def test_one_submission_leaves_nothing_for_the_next(sandbox: Sandbox) -> None:
    places = "('mark', __import__('tempfile').gettempdir() + '/mark', '/dev/shm/mark')"
    leave = f"for name in {places}:\n    open(name, 'w').close()"
    patch = "import torch, builtins\ntorch.mark = 1\nbuiltins.mark = 1"
    assert _told(sandbox.run(_cells(leave, patch), _drawn)) == []
    left = _ask(
        sandbox,
        f"[p for p in {places} if os.path.exists(p)]",
        "hasattr(__import__('torch'), 'mark') or hasattr(__import__('builtins'), 'mark')",
    )
    assert left == [[], False]


def test_no_process_or_thread_outlives_its_submission(sandbox: Sandbox) -> None:
    def idle() -> int:
        assert _told(sandbox.run(_cells("x = 1"), _drawn)) == []
        assert sandbox._warm is not None
        assert sandbox._warm.ended_within(30) is not None
        return len(family(sandbox._warm._process.pid))

    before = idle()
    daemon = (
        "import os, time\nif not os.fork():\n    os.setsid()\n    if not os.fork(): time.sleep(1000)\n    os._exit(0)"
    )
    thread = "import threading, time\nthreading.Thread(target=time.sleep, args=(1000,)).start()"
    assert _told(sandbox.run(_cells(daemon, thread), _drawn)) == []
    assert idle() == before


def test_a_submission_cannot_end_the_warm_process(sandbox: Sandbox) -> None:
    assert sandbox._warm is not None
    before = sandbox._warm._process.pid
    kill = "import os\nfor one in (0, -1, 1, os.getppid()):\n    try: os.kill(one, 9)\n    except OSError: pass"
    assert _told(sandbox.run(_cells(kill), _drawn)) == []
    assert sandbox._warm._process.pid == before and sandbox._warm._process.poll() is None


@pytest.mark.heavy
def test_a_warm_process_that_was_killed_is_started_anew(sandbox: Sandbox) -> None:
    assert sandbox._warm is not None
    os.kill(sandbox._warm._process.pid, signal.SIGKILL)
    assert _outcomes(sandbox.run(_handed_in("solutions"), _drawn)) == ["passed"] * len(lesson(LESSON).exercises)


# ------------------------------------------------------------------ limits

LATER = "raise ValueError('later')"


@pytest.fixture
def hasty(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> Sandbox:
    """The same sandbox with less patience, for code that never ends."""
    monkeypatch.setattr(sandbox, "_limits", replace(LIMITS, cell=0.5, case=0.5))
    return sandbox


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("def train():\n    while True:\n        pass\ntrain()", ", probably by the loop in line 2 of cell 1"),
        ("sum(range(10**12))", ", in line 1 of cell 1 (`sum(range(10**12))`)"),
        ("while True:\n    try:\n        while True: pass\n    except BaseException: pass", ", probably by the loop"),
        ("while True: print('x' * 1000)", ", probably by the loop"),
    ],
)
def test_a_cell_that_never_ends_is_stopped_and_the_next_one_runs(hasty: Sandbox, source: str, said: str) -> None:
    stopped, later = _told(hasty.run(_cells(source, LATER), _drawn))
    assert stopped.startswith(f"Cell 1 was stopped after 0.5 seconds{said}")
    assert "ValueError: later" in later


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("x = bytearray(2**29)", "A submission may take 400 MiB of memory"),
        ("import torch\ntorch.ones(2**28)", "A submission may take 400 MiB of memory"),
        (
            "import os, time\nfor _ in range(4):\n    if not os.fork():\n        x = b'x' * (150 * 2**20)\n"
            "        time.sleep(30)\ntime.sleep(30)",
            "Cell 1 was stopped: it took more than 400 MiB of memory",
        ),
        ("import os, time\nwhile True:\n    if not os.fork(): time.sleep(30)", "A submission may start 24 processes"),
        ("open('x', 'wb').write(bytes(2**24))", "A submission may write 8 MiB of files"),
        ("for i in range(10):\n    open(str(i), 'wb').write(bytes(2**20))", "A submission may write 8 MiB of files"),
        ("files = [open('/dev/null') for _ in range(1000)]", "A submission may hold 512 files open"),
        ("import os; os._exit(0)", "Cell 1 ended its process, with exit code 0"),
        ("import ctypes; ctypes.string_at(0)", "Cell 1 ended its process, by signal SIGSEGV"),
        ("raise SystemExit", "Cell 1 raised SystemExit"),
        ("raise KeyboardInterrupt", "Cell 1 raised KeyboardInterrupt"),
        ("import os; os.closerange(3, 99)", "Cell 1 ended its process"),
        (
            "import os\nfor fd in range(3, 20):\n    try: os.write(fd, b'q' + bytes(999))\n    except OSError: pass",
            "line on",
        ),
    ],
)
def test_each_limit_is_reported_as_itself_and_the_next_cell_runs(sandbox: Sandbox, source: str, said: str) -> None:
    told = _told(sandbox.run(_cells(source, LATER), _drawn))
    assert any(said in text for text in told), told
    assert any("ValueError: later" in text for text in told), told


def test_the_loop_that_never_ends_is_named_with_its_function(hasty: Sandbox) -> None:
    source = "def train(x):\n    for epoch in iter(int, 1):\n        y = x\n        z = y\n"
    (text,) = _told(hasty.run(_cells(source, "train(1)"), _drawn))
    loop = "probably by the loop in line 2 of cell 1 (`for epoch in iter(int, 1):`), in `train`"
    assert text == f"Cell 2 was stopped after 0.5 seconds, {loop}. The cells after it ran."


def test_an_exercise_that_takes_the_process_along_leaves_the_others(hasty: Sandbox) -> None:
    first, second = lesson(LESSON).exercises[:2]
    deadly = [f"def {first.name}(*_, **__):\n    import os\n    os._exit(3)"]
    deadly += [f"def {second.name}(*_, **__):\n    sum(range(10**12))"]
    ran = hasty.run(_around([], deadly), _drawn)
    assert first.id not in ran.evidence and second.id not in ran.evidence
    assert _outcomes(ran) == ["passed"] * (len(lesson(LESSON).exercises) - 2)
    notes = {note.where: note.text for note in ran.notes}
    assert notes[f"exercise {first.id}"].startswith("The code ended its process, with exit code 3.")
    assert notes[f"exercise {second.id}"].startswith("The code was stopped after 0.5 seconds on one case, in line 2")


@pytest.mark.heavy
def test_after_so_many_restarts_it_is_given_up_and_no_case_was_drawn(sandbox: Sandbox) -> None:
    def never() -> Mapping[str, Sequence[Case]]:
        raise AssertionError("cases were drawn before the cells ran")

    ran = sandbox.run(_cells(*["import os; os._exit(0)"] * (RESTARTS + 2)), never)
    assert len([note for note in ran.notes if note.kind == "cell"]) == RESTARTS + 1
    assert "ended its process 6 times" in ran.notes[-1].text


@pytest.mark.heavy
def test_a_submission_has_so_much_time_in_all(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox, "_limits", Limits(cell=30.0, total=1.0))
    (text,) = _told(sandbox.run(_cells("while True: pass"), _drawn))
    assert "The 1 seconds for the whole notebook were used up" in text


def test_what_the_kernel_ends_for_want_of_memory_is_told_so(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    # As its first process, a submission cannot end itself so: it asks for it, and the kernel is played from here.
    real = Attempt.run

    def run(attempt: Attempt, job: Any, cases: Any) -> None:
        if not job["left out"]:
            attempt._child.kill()
        real(attempt, job, cases)

    monkeypatch.setattr(Attempt, "run", run)
    (text,) = _told(sandbox.run(_cells("import time; time.sleep(9)"), _drawn))[:1]
    assert "ended its process, by signal SIGKILL, which a machine short of memory sends, too" in text


# ------------------------------------------------------------------ what comes back


def _packed(*pieces: object) -> bytes:
    return to_bytes(list(pieces))


def _piece(**other: object) -> dict[str, object]:
    return {**Evidence("a", "returned").to_plain(), **other}


CASES = [Case("a", {}), Case("b", {})]


def test_evidence_is_read_back() -> None:
    assert read_evidence(_packed(_piece(result=1.5)), CASES) == [Evidence("a", "returned", result=1.5)]


def _wire(tree: bytes) -> bytes:
    return len(tree).to_bytes(8, "little") + tree + _packed()[10:]


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x80\x04\x95pickle",
        (2**62).to_bytes(8, "little"),
        _packed(),
        _packed(1),
        _packed(_piece(), _piece(), _piece()),
        _packed({"case": "a"}),
        _wire(b"[" * 10**6),
        _wire(b'[{"$": "os.system"}]'),
        _wire(b"[" + b"9" * 1000 + b"]"),
        _packed(_piece(result=[0.0] * 15_000), _piece(result=[0.0] * 15_000)),
        _wire(b'[{"$": "tensor", "key": "1", "at": ["cpu", true, true]}]'),
    ],
)
def test_what_is_no_evidence_is_none(data: bytes) -> None:
    assert read_evidence(data, CASES) is None


def test_texts_in_evidence_are_cut_and_can_be_written() -> None:
    raised = {
        "type": "E" * 10**6,
        "message": "x" * 10**6,
        "frames": [{"function": "f" * 10**6, "line": 1, "source": ""}],
    }
    many = _piece(printed="x" * 10**5, result="\ud800", raised=raised, warned=["x" * 10**5] * 50)
    (piece,) = read_evidence(_packed(many), CASES) or []
    assert len(str(piece.to_plain())) < 10_000
    assert json.dumps(piece.result, ensure_ascii=False).encode("utf-8")


# ------------------------------------------------------------------ where it cannot be had


def test_where_there_is_no_room_for_temporary_files_it_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "fork", lambda: None, raising=False)  # where there is none, that is said before
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(shutil, "copyfile", _full)
    with pytest.raises(NoIsolation, match="No space left on device.*set TMPDIR"):
        Sandbox("none")
    assert not list(tmp_path.iterdir())


def _full(source: Path, target: Path) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(target))


def test_without_bubblewrap_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(NoIsolation, match="apt install bubblewrap" if sys.platform == "linux" else "Linux"):
        Sandbox("bubblewrap")


@pytest.mark.skipif(sys.platform != "linux", reason="bubblewrap is for Linux")
def test_where_bubblewrap_fails_its_words_are_passed_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake = tmp_path / "bwrap"
    fake.write_text("#!/bin/sh\necho bwrap: No permissions to create new namespace >&2\nexit 1\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    with pytest.raises(NoIsolation, match="No permissions to create new namespace.*(sysctl|user namespaces)"):
        Sandbox("bubblewrap")


def test_without_what_the_notebooks_import_nothing_is_graded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bubble, "find_spec", lambda name: None if name == "matplotlib" else object())
    for isolation in ("bubblewrap", "none"):
        with pytest.raises(NoIsolation, match=r"import matplotlib, .*pip install .*\[grading\]"):
            Sandbox(isolation)


def test_of_a_traceback_the_last_line_is_passed_on() -> None:
    said = bubble.advice(
        'Traceback (most recent call last):\n  File "x", line 1\nOSError: [Errno 1] mount: not permitted\n'
    )
    assert said.startswith("The sandbox could not be started: OSError: [Errno 1] mount: not permitted. ")
