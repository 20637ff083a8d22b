"""`course audit train.py` as a user meets it: the script runs as under Python, and what comes out can be trusted."""

from __future__ import annotations

import argparse
import ast
import inspect
import io
import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from course_utils.cli import main as course
from gradient_ledger.audit import add_arguments, read_options
from gradient_ledger.audit.formats import FORMATS, TEXT, writer

pytestmark = pytest.mark.turns

CLEAN, FOUND, COULD_NOT_RUN = 0, 1, 2
OWN_FRAMES = f"{os.sep}gradient_ledger{os.sep}"


@dataclass(frozen=True)
class Run:
    """What a shell sees of a command."""

    status: int | None
    out: str
    err: str

    @property
    def all(self) -> str:
        return self.out + self.err

    @property
    def json(self) -> dict[str, Any]:
        try:
            plain: dict[str, Any] = json.loads(self.out)
        except ValueError:
            pytest.fail(f"standard output is not one JSON value:\n{self.out}")
        return plain

    @property
    def found(self) -> list[str]:
        """The ids of the errors, of a report as text."""
        return re.findall(r"^\d+\. error: .* \[([a-z-]+)\]", self.out, re.MULTILINE)

    def ends(self, status: int) -> Run:
        """Fail, with everything that was printed, unless the command ended with `status`."""
        assert self.status == status, (
            f"exit status {self.status} instead of {status}\n{self.out}\n--- stderr\n{self.err}"
        )
        return self


Audit = Callable[..., Run]


def write(folder: Path, script: str, name: str = "train.py") -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(dedent(script), encoding="utf-8")
    return path


def line_of(folder: Path, text: str, name: str = "train.py") -> int:
    lines = (folder / name).read_text().splitlines()
    return next(number for number, line in enumerate(lines, 1) if text in line)


@pytest.fixture
def audit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Iterator[Audit]:
    """Audits a script, given as text, in this process, from the folder it stands in. Fast: torch is there already."""
    monkeypatch.chdir(tmp_path)
    kept = sys.modules["__main__"]

    def run(script: str | None, *options: str, name: str = "train.py") -> Run:
        if script is not None:
            write(tmp_path, script, name)
        capfd.readouterr()
        status: Any
        try:
            status = course(["audit", name, *options])
        except SystemExit as error:
            status = error.code
        sys.stdout.flush()
        return Run(status, *capfd.readouterr())

    yield run
    sys.modules["__main__"] = kept


def command(
    folder: Path,
    *words: str,
    stdin: str = "",
    environment: Mapping[str, str] | None = None,
    stdout: int = subprocess.PIPE,
) -> Run:
    """A command in a process of its own, as the shell sees it."""
    done = subprocess.run(
        words,
        cwd=folder,
        input=stdin,
        env={**os.environ, **(environment or {})},
        stdout=stdout,
        stderr=subprocess.PIPE,
        text=True,
        timeout=120,
        check=False,
    )
    return Run(done.returncode, done.stdout or "", done.stderr)


def fresh(folder: Path, script: str | None, *options: str, name: str = "train.py") -> Run:
    """An audit in a fresh process, in which nothing has imported torch yet."""
    if script is not None:
        write(folder, script, name)
    return command(folder, sys.executable, "-m", "gradient_ledger.audit", name, *options)


MODEL = """
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)


def step(clear=True):
    if clear:
        optimizer.zero_grad()
    model(torch.randn(4, 3)).square().mean().backward()
    optimizer.step()
"""

BARE = MODEL.replace("optimizer = torch.optim.SGD(model.parameters(), lr=0.01)\n", "")
"""A model that no optimizer knows of."""

RIGHT = MODEL + "\nfor _ in range(4):\n    step()\n"
WRONG = MODEL + "\nfor _ in range(4):\n    step(clear=False)\n"


# ------------------------------------------------------------------ the three exit statuses


def test_a_right_script_ends_with_0_and_is_told_so(audit: Audit) -> None:
    run = audit(RIGHT + 'print("trained")').ends(CLEAN)
    assert run.out.startswith("trained\n"), "the script's own output comes first"
    assert "gradient-ledger: train.py ran to its end." in run.out
    assert "nothing wrong in 4 steps of SGD" in run.out
    assert "cannot see" in run.out, "a clean report says what an audit is blind to"
    assert run.err == ""


def test_a_mistake_ends_with_1_and_is_shown_with_its_line_and_its_remedy(audit: Audit, tmp_path: Path) -> None:
    script = """
        import torch
        from torch import nn

        torch.manual_seed(0)
        model = nn.Linear(3, 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        for _ in range(8):
            optimizer.zero_grad()
            loss = model(torch.randn(4, 3)).square().mean()
            loss.backward()
            optimizer.zero_grad()  # the mistake
            optimizer.step()
        """
    run = audit(script).ends(FOUND)
    assert run.found == ["zeroed-before-step"]
    place = f"train.py:{line_of(tmp_path, 'the mistake')}"
    assert re.search(rf"^1\. error: .* \[zeroed-before-step\]  {re.escape(place)}$", run.out, re.MULTILINE), run.out
    assert "       optimizer.zero_grad()  # the mistake\n" in run.out, "the line itself is quoted"
    for head in ("seen", "mend", "why"):
        assert re.search(rf"^   {head} +\S", run.out, re.MULTILINE), f"no line that begins with {head}\n{run.out}"
    assert "timeline, a window a row" in run.out and "!clear step" in run.out
    assert "1–8" in run.out or "2–8" in run.out, "alike windows are counted, not repeated"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("missing.py", "there is no file missing.py here"),
        ("folder", "folder is a folder: give a Python file"),
        ("folder/train.py", "there is no file folder/train.py here"),
    ],
)
def test_what_is_not_a_file_ends_with_2_in_one_line(audit: Audit, tmp_path: Path, name: str, said: str) -> None:
    (tmp_path / "folder").mkdir()
    run = audit(None, name=name).ends(COULD_NOT_RUN)
    assert said in run.err and len(run.err.splitlines()) == 1
    assert run.out == ""


def test_a_syntax_error_is_named_with_file_and_line(audit: Audit) -> None:
    run = audit("import torch\nfor step in range(3)\n    pass\n").ends(COULD_NOT_RUN)
    assert "train.py could not be run: expected ':' (train.py, line 2)" in run.err
    assert "Traceback" not in run.all


def test_bytes_that_are_no_text_are_named(audit: Audit, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_bytes(b'name = "\xe9t\xe9"\n')
    said = audit(None).ends(COULD_NOT_RUN).err  # in the words of this Python
    assert re.search(r"train\.py could not be run: (\(unicode error\)|Non-UTF-8 code)", said), said
    (tmp_path / "train.py").write_bytes(b"\x00\x01PK")
    assert "null bytes" in audit(None).ends(COULD_NOT_RUN).err


def test_a_notebook_is_told_how_it_can_be_audited(audit: Audit) -> None:
    notebook = {"cells": [{"cell_type": "code", "execution_count": None, "source": []}], "nbformat": 4}
    run = audit(json.dumps(notebook), name="train.ipynb").ends(COULD_NOT_RUN)
    assert "notebook" in run.err and "NameError" not in run.err, run.err


def test_a_script_without_torch_ends_with_2(tmp_path: Path) -> None:
    run = fresh(tmp_path, "print('hello')").ends(COULD_NOT_RUN)
    assert run.out == "hello\n"
    assert "train.py never imported torch" in run.err and "Traceback" not in run.err


def test_a_missing_library_is_named_and_not_called_an_early_end(tmp_path: Path) -> None:
    run = fresh(tmp_path, "import not_there_at_all").ends(COULD_NOT_RUN)
    assert "ModuleNotFoundError: No module named 'not_there_at_all'" in run.err
    assert OWN_FRAMES not in run.err, "the traceback shows frames of the audit"
    assert "crashed" in run.err and "it ended ModuleNotFoundError" not in run.err, run.err


def test_a_script_that_imports_torch_and_does_not_train_ends_with_2(audit: Audit) -> None:
    run = audit("import torch\nprint(torch.ones(2).sum())").ends(COULD_NOT_RUN)
    assert "No backward pass and no step was seen in this process" in run.out
    assert "behind --" in run.out, "other arguments are the likely reason"


def test_backward_without_a_step_ends_with_2_and_is_counted(audit: Audit) -> None:
    loop = "for _ in range(3):\n    model(torch.randn(4, 3)).sum().backward()\n"
    run = audit(MODEL + loop).ends(COULD_NOT_RUN)
    assert "3 backward passes ran and no step was seen" in run.out


def test_a_crash_before_any_step_shows_the_scripts_own_traceback(audit: Audit, tmp_path: Path) -> None:
    script = MODEL + "\n\ndef load():\n    return {}['data']  # the fault\n\n\nload()\n"
    run = audit(script).ends(COULD_NOT_RUN)
    assert "Traceback (most recent call last):" in run.all
    assert f'train.py", line {line_of(tmp_path, "the fault")}, in load' in run.all
    assert "KeyError: 'data'" in run.all
    assert OWN_FRAMES not in run.all, "the traceback shows frames of the audit"
    assert "train.py crashed: KeyError: 'data'." in run.all
    assert "other arguments" not in run.all, "the crash is why nothing was trained"


def test_a_crash_inside_a_step_hides_the_audits_frames(audit: Audit) -> None:
    script = MODEL + (
        "\noptimizer.param_groups[0]['lr'] = None\n"
        "try:\n    step()\nexcept TypeError as error:\n    raise ValueError('no rate') from error\n"
    )
    run = audit(script)
    assert run.status != CLEAN
    assert "ValueError: no rate" in run.all and "direct cause" in run.all
    assert OWN_FRAMES not in run.all, run.all


def test_a_crash_after_right_steps_is_not_called_clean(audit: Audit) -> None:
    run = audit(RIGHT + "\nraise OSError('disk full')").ends(COULD_NOT_RUN)
    assert "crashed: OSError: disk full" in run.out and "4 steps of SGD" in run.out
    assert "nothing wrong" not in run.out


def test_a_crash_after_a_mistake_still_reports_the_mistake(audit: Audit) -> None:
    run = audit(WRONG + "\nraise OSError('disk full')").ends(FOUND)
    assert run.found == ["never-zeroed"] and "OSError: disk full" in run.out


@pytest.mark.parametrize(
    "options", [["--steps", "0"], ["--steps", "-3"], ["--steps", "many"], ["--window", "0"], ["--window", "2.5"]]
)
def test_bad_numbers_are_refused_before_the_script_runs(audit: Audit, options: list[str]) -> None:
    run = audit("print('ran')", *options).ends(COULD_NOT_RUN)
    assert options[0] in run.err and options[1] in run.err
    assert "ran" not in run.out


def test_no_script_and_an_unknown_option_are_refused(audit: Audit, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        course(["audit"])
    assert "SCRIPT" in capfd.readouterr().err


def test_a_scripts_option_given_too_early_is_answered_with_where_it_belongs(audit: Audit) -> None:
    run = audit("print('ran')", "--lr", "0.1").ends(COULD_NOT_RUN)
    assert "ran" not in run.out
    assert "--lr" in run.err and re.search(r" -- ", run.err), run.err


def test_the_help_shows_where_the_scripts_arguments_go(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        course(["audit", "--help"])
    usage = capfd.readouterr().out.split("\n\n")[0]
    assert "--steps" in usage and " -- " in usage, usage


# ------------------------------------------------------------------ the script runs as under Python

FACTS = """
import json, os, sys
facts = {
    "name": __name__, "file": __file__, "package": __package__,
    "spec": __spec__ and __spec__.name, "doc": __doc__, "argv": sys.argv, "path": sys.path, "folder": os.getcwd(),
    "main is this": sys.modules["__main__"].__dict__ is globals(), "torch": "torch" in sys.modules,
    "builtins": callable(__builtins__.open), "type of main": type(sys.modules["__main__"]).__name__,
}
"""


def compare_with_python(folder: Path, target: list[str], arguments: list[str]) -> dict[str, Any]:
    """Run a script that prints its facts under Python and under an audit: they are the same. Gives them."""
    plain = command(folder, sys.executable, *target, *arguments).ends(0)
    audited = command(folder, sys.executable, "-m", "gradient_ledger.audit", *target, "--", *arguments)
    audited.ends(COULD_NOT_RUN)  # no torch in it
    wanted, facts = json.loads(plain.out), json.loads(audited.out)
    assert facts == wanted
    return dict(facts)


def test_a_script_sees_what_it_sees_under_python(tmp_path: Path) -> None:
    write(tmp_path, "VALUE = 3\n", "sub/sibling.py")
    write(tmp_path, FACTS + "from sibling import VALUE\nprint(json.dumps(facts))\n", "sub/train.py")
    arguments = ["--lr", "0.1", "--", "--steps", "-x", "two words", ""]
    facts = compare_with_python(tmp_path, ["sub/train.py"], arguments)
    assert facts["name"] == "__main__" and facts["main is this"]
    assert facts["argv"] == ["sub/train.py", *arguments]
    assert facts["path"][0] == str(tmp_path / "sub") and facts["folder"] == str(tmp_path)
    assert not facts["torch"], "torch is imported before the script asks for it"


def test_a_module_sees_what_it_sees_under_python(tmp_path: Path) -> None:
    write(tmp_path, "", "package/__init__.py")
    write(tmp_path, "VALUE = 3\n", "package/sibling.py")
    for name in ("train", "__main__"):
        write(tmp_path, FACTS + "from .sibling import VALUE\nprint(json.dumps(facts))\n", f"package/{name}.py")
    facts = compare_with_python(tmp_path, ["-m", "package.train"], ["--lr", "0.1"])
    assert facts["package"] == "package" and facts["name"] == "__main__" and facts["argv"][1:] == ["--lr", "0.1"]
    assert compare_with_python(tmp_path, ["-m", "package"], [])["spec"] == "package.__main__"


def test_a_script_behind_a_link_finds_its_own_folder(tmp_path: Path) -> None:
    write(tmp_path, FACTS + "print(json.dumps(facts))\n", "shared/train.py")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "train.py").symlink_to(tmp_path / "shared" / "train.py")
    compare_with_python(tmp_path, ["mine/train.py"], [])


def test_a_module_is_audited_with_the_line_in_its_file(audit: Audit, tmp_path: Path) -> None:
    write(tmp_path, "", "package/__init__.py")
    write(tmp_path, MODEL, "package/parts.py")
    loop = "from .parts import step\n\nif __name__ == '__main__':\n    for _ in range(4):\n        step(clear=False)\n"
    write(tmp_path, loop, "package/train.py")
    run = audit(None, "-m", name="package.train").ends(FOUND)
    assert run.found == ["never-zeroed"]
    assert f"parts.py:{line_of(tmp_path, 'zero_grad()', 'package/parts.py')}" in run.out


@pytest.mark.parametrize(
    "name", ["no_such_module", "no_such.module", "package.no_such", "package", "json.nothing", ".x"]
)
def test_a_module_that_does_not_exist_ends_with_2_and_is_named(audit: Audit, tmp_path: Path, name: str) -> None:
    write(tmp_path, "", "package/__init__.py")
    run = audit(None, "-m", name=name).ends(COULD_NOT_RUN)
    assert f"no module {name}" in run.err and "Traceback" not in run.all


def test_the_console_command_and_both_modules_are_one_command(tmp_path: Path) -> None:
    console = Path(sys.executable).with_name("course")
    starts = [[sys.executable, "-m", "gradient_ledger.audit"], [sys.executable, "-m", "course_utils.cli", "audit"]]
    starts += [[str(console), "audit"]] if console.exists() else []
    write(tmp_path, "import sys\nprint(sys.argv, sys.path[0])")
    runs = [command(tmp_path, *start, "train.py", "--", "-x").ends(COULD_NOT_RUN) for start in starts]
    assert {run.out for run in runs} == {f"['train.py', '-x'] {tmp_path}\n"}
    assert len({run.err for run in runs}) == 1


@pytest.mark.parametrize("name", ["gradient_ledger", "gradient_ledger.audit"])
def test_the_command_is_there_before_torch_and_the_ledger_are(tmp_path: Path, name: str) -> None:
    write(tmp_path, "import sys\nprint(sorted(sys.modules))")
    run = command(tmp_path, sys.executable, "-m", name, "train.py").ends(COULD_NOT_RUN)
    loaded = {one for one in ast.literal_eval(run.out) if one.split(".")[0] in ("torch", "numpy", "gradient_ledger")}
    rooms = {one for one in loaded if one.startswith("gradient_ledger.audit")}
    assert "gradient_ledger.audit.runner" in rooms
    assert loaded - rooms == {"gradient_ledger", "gradient_ledger.errors", "gradient_ledger.events"}


def test_standard_input_goes_to_the_script(audit: Audit, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("4\nrest\n"))
    run = audit(MODEL + "import sys\nfor _ in range(int(input('steps? '))):\n    step()\nprint(sys.stdin.read())")
    run.ends(CLEAN)
    assert "steps? " in run.out and "rest" in run.out and "4 steps of SGD" in run.out
    write(tmp_path, "print(input(), input())", "ask.py")
    asked = command(tmp_path, sys.executable, "-m", "gradient_ledger.audit", "ask.py", stdin="a\nb\n")
    assert asked.out == "a b\n", asked.err


def test_what_the_script_sets_before_it_imports_torch_counts(tmp_path: Path) -> None:
    script = """
        import os, sys
        assert "torch" not in sys.modules, "torch came before the script"
        os.environ["OMP_NUM_THREADS"] = "1"
        os.environ["MKL_NUM_THREADS"] = "1"
        """
    later = "print('threads', torch.get_num_threads(), torch.__spec__.loader is torch.__loader__)\n"
    run = fresh(tmp_path, dedent(script) + RIGHT + later).ends(CLEAN)
    assert "threads 1 True" in run.out


def test_a_script_that_ends_in_a_folder_it_has_removed_is_reported(audit: Audit) -> None:
    ends = "import os, tempfile\nwith tempfile.TemporaryDirectory() as folder:\n    os.chdir(folder)\n"
    run = audit(ends + "".join(f"    {line}\n" for line in WRONG.splitlines())).ends(FOUND)
    assert "train.py:" in run.out
    assert "failed" not in run.all


def test_the_script_may_leave_its_folder(audit: Audit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "elsewhere").mkdir()
    run = audit("import os\nos.chdir('elsewhere')\n" + WRONG).ends(FOUND)
    assert f"train.py:{line_of(tmp_path, 'zero_grad()')}\n       optimizer.zero_grad()\n" in run.out


def test_the_scripts_own_standard_output_does_not_swallow_the_report(audit: Audit, tmp_path: Path) -> None:
    before = sys.stdout
    try:
        run = audit(RIGHT + "import sys\nsys.stdout = open('log.txt', 'w')\nprint('logged', flush=True)\n")
    finally:
        sys.stdout = before
    run.ends(CLEAN)
    assert "nothing wrong" in run.out
    assert (tmp_path / "log.txt").read_text() == "logged\n"


def test_atexit_pickles_and_forked_processes_work_as_under_python(tmp_path: Path) -> None:
    script = """
        import atexit, io, multiprocessing, pickle, threading

        class Net(nn.Linear):
            pass

        def double(queue, value):
            queue.put(2 * value)

        def last():
            print("at exit", pickle.loads(pickle.dumps(Net)) is Net, threading.current_thread().name)

        if __name__ == "__main__":
            atexit.register(last)
            buffer = io.BytesIO()
            torch.save(Net(2, 1), buffer)
            buffer.seek(0)
            print("loaded", type(torch.load(buffer, weights_only=False)) is Net)
            context = multiprocessing.get_context("fork")
            queue = context.SimpleQueue()
            child = context.Process(target=double, args=(queue, 21))
            child.start()
            print("forked", queue.get())
            child.join()
            print("child ended with", child.exitcode)
        """
    run = fresh(tmp_path, RIGHT + dedent(script)).ends(CLEAN)
    for said in ("loaded True", "forked 42", "child ended with 0", "at exit True MainThread"):
        assert said in run.out, run.all
    assert run.out.count("gradient-ledger:") == 1, "the child reported too"


def test_a_child_of_os_fork_that_exits_writes_no_second_report(tmp_path: Path) -> None:
    fork = "import os, sys\nif os.fork() == 0:\n    print('child', flush=True)\n    sys.exit(0)\nos.wait()\n"
    run = fresh(tmp_path, fork).ends(COULD_NOT_RUN)
    assert run.out == "child\n"
    assert run.err.count("gradient-ledger:") == 1, run.err


def test_this_process_is_left_as_it_was(audit: Audit) -> None:
    def state() -> list[Any]:
        return [sys.argv, list(sys.argv), list(sys.path), os._exit, list(sys.meta_path), sys.modules["__main__"]]

    before = state()
    for script in (RIGHT, WRONG, "1/0", "import sys\nsys.path.append('x')\nsys.argv.append('y')\nsys.exit(3)", "a b"):
        audit(script)
        audit(None, "--json")
        for then, now in zip(before, state(), strict=True):
            assert now == then, f"after {script[-40:]!r}"


def test_no_file_stays_open_after_json(audit: Audit) -> None:
    audit(RIGHT, "--json").ends(CLEAN)
    folder = Path("/proc/self/fd")
    if not folder.is_dir():
        pytest.skip("open files can be counted on Linux alone")
    before = len(list(folder.iterdir()))
    runs = [course(["audit", "train.py", "--json"]) for _ in range(3)]
    assert runs == [CLEAN] * 3
    assert len(list(folder.iterdir())) == before


# ------------------------------------------------------------------ however the script ends


@pytest.mark.parametrize(
    ("ending", "said"),
    [
        ("import sys\nsys.exit()", "train.py exited."),
        ("import sys\nsys.exit(0)", "train.py exited."),
        ("import sys\nsys.exit(3)", "train.py exited with 3."),
        ("import sys\nsys.exit('no more data')", "train.py exited with 'no more data'."),
        ("def stop():\n    raise SystemExit\nstop()", "train.py exited."),
        ("raise KeyboardInterrupt", "train.py was interrupted."),
    ],
)
def test_every_ending_is_reported(audit: Audit, ending: str, said: str) -> None:
    run = audit(RIGHT + ending).ends(CLEAN)
    assert said in run.out and "Traceback" not in run.all
    run = audit(WRONG + ending).ends(FOUND)
    assert said in run.out and run.found == ["never-zeroed"]
    run = audit(MODEL + ending).ends(COULD_NOT_RUN)
    assert said in run.out and "No backward pass" in run.out


def test_an_interrupted_window_is_no_mistake(audit: Audit) -> None:
    loop = """
        for i in range(10):
            model(torch.randn(4, 3)).square().mean().div(4).backward()
            if i == 9:
                raise KeyboardInterrupt
            if i % 4 == 3:
                optimizer.step()
                optimizer.zero_grad()
        """
    assert audit(MODEL + dedent(loop)).ends(CLEAN).found == []


def test_os_exit_comes_after_the_report(tmp_path: Path) -> None:
    run = fresh(tmp_path, WRONG + "import os\nprint('last words')\nos._exit(0)\n").ends(FOUND)
    assert "last words\n" in run.out and "exited with os._exit(0)" in run.out
    assert run.found == ["never-zeroed"]


# ------------------------------------------------------------------ --steps


def test_steps_stops_after_that_many(audit: Audit) -> None:
    long = "for count in range(1, 200):\n    step()\n    print('step', count)\n"
    run = audit(MODEL + long, "--steps", "3").ends(CLEAN)
    assert "train.py was stopped after 3 steps." in run.out and "in 3 steps of SGD" in run.out
    assert "step 2\n" in run.out and "step 3\n" not in run.out, "the third step is the last thing that runs"
    assert "Traceback" not in run.all


def test_a_script_with_fewer_steps_runs_to_its_end(audit: Audit) -> None:
    assert "ran to its end" in audit(RIGHT, "--steps", "100").ends(CLEAN).out


def test_steps_counts_those_of_the_optimizer_that_took_most(audit: Audit) -> None:
    script = """
        other = nn.Linear(3, 1)
        second = torch.optim.Adam(other.parameters())
        for i in range(100):
            step()
            if i % 2:
                second.zero_grad()
                other(torch.randn(4, 3)).square().mean().backward()
                second.step()
        """
    plain = audit(MODEL + dedent(script), "--steps", "5", "--json").ends(CLEAN).json
    assert {o["label"].split()[0]: o["steps"] for o in plain["optimizers"]} == {"SGD": 5, "Adam": 2}


def test_a_stopped_script_cleans_up_behind_itself(audit: Audit, tmp_path: Path) -> None:
    loop = """
        try:
            for _ in range(99):
                step()
        except Exception:
            print("failed")
        finally:
            print("saved")
        """
    run = audit(MODEL + dedent(loop), "--steps", "2").ends(CLEAN)
    assert "saved\n" in run.out and "failed" not in run.out, "a stop is no failure of the script"


def test_a_stop_inside_a_window_is_no_mistake(audit: Audit) -> None:
    loop = """
        second = torch.optim.SGD(model.parameters(), lr=0.0)
        for _ in range(200):
            for _ in range(4):
                (model(torch.randn(4, 3)).square().mean() / 4).backward()
            optimizer.step()
            optimizer.zero_grad()
        """
    assert audit(MODEL + dedent(loop), "--steps", "3", "--window", "4").ends(CLEAN).found == []


def test_a_script_that_swallows_everything_is_stopped_all_the_same(tmp_path: Path) -> None:
    loop = """
        for _ in range(200):
            try:
                step()
            except:
                pass
        print("not stopped")
        """
    run = fresh(tmp_path, MODEL + dedent(loop), "--steps", "3")
    assert "not stopped" not in run.out, run.all
    assert "was stopped after 3 steps" in run.ends(CLEAN).out


def test_steps_counts_scaled_and_hand_written_steps(audit: Audit) -> None:
    scaled = """
        scaler = torch.amp.GradScaler("cpu", init_scale=4.0)
        for _ in range(200):
            optimizer.zero_grad()
            scaler.scale(model(torch.randn(4, 3)).square().mean()).backward()
            scaler.step(optimizer)
            scaler.update()
        """
    run = audit(MODEL + dedent(scaled), "--steps", "3").ends(CLEAN)
    assert "stopped after 3 steps" in run.out
    by_hand = """
        for count in range(50):
            model(torch.randn(4, 3)).square().mean().backward()
            with torch.no_grad():
                for p in model.parameters():
                    p -= 0.01 * p.grad
            model.zero_grad()
        """
    run = audit(BARE + dedent(by_hand), "--steps", "3").ends(CLEAN)
    assert "stopped after 3 steps" in run.out


def test_steps_of_a_thread_count_and_end_the_run(audit: Audit, monkeypatch: pytest.MonkeyPatch) -> None:
    script = """
        import threading
        def train():
            for _ in range(50):
                step()
        thread = threading.Thread(target=train)
        thread.start()
        thread.join()
        """
    unhandled: list[str] = []
    monkeypatch.setattr(threading, "excepthook", lambda args: unhandled.append(args.exc_type.__name__))
    run = audit(MODEL + dedent(script), "--steps", "3").ends(CLEAN)
    assert "was stopped after 3 steps" in run.out
    assert unhandled == [], "Python prints a traceback of the audit's own exception"


# ------------------------------------------------------------------ --window, --reference, --digests

FOUR = (
    MODEL
    + """
for i in range(16):
    (model(torch.randn(4, 3)).square().mean() / 4).backward()
    optimizer.step()
    optimizer.zero_grad()
"""
)


def test_window_says_what_was_meant(audit: Audit) -> None:
    audit(FOUR).ends(CLEAN)
    run = audit(None, "--window", "4").ends(FOUND)
    assert run.found == ["step-every-micro-batch"]


REFERENCE = """
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
batch = []


def right():
    params = dict(model.named_parameters())
    loss = torch.cat([model(x) for x in batch]).square().mean()
    return dict(zip(params, torch.autograd.grad(loss, list(params.values()))))


def strange():
    return {"backbone.scale": torch.ones(1)}


def raises():
    return {}["nothing"]


LIST = [right]

for _ in range(4):
    batch[:] = [torch.randn(4, 3) for _ in range(2)]
    for x in batch:
        model(x).square().mean().backward()  # not divided
    optimizer.step()
    optimizer.zero_grad()
"""


def test_a_reference_finds_a_loss_that_was_not_divided(audit: Audit) -> None:
    audit(REFERENCE).ends(CLEAN)
    run = audit(None, "--reference", "right").ends(FOUND)
    assert run.found == ["loss-not-divided"]
    assert "(give --reference)" in run.out or "--reference" not in run.out


@pytest.mark.parametrize("name", ["missing", "LIST", "model.forward"])
def test_a_reference_that_is_no_function_of_the_script_ends_with_2(audit: Audit, name: str) -> None:
    run = audit(REFERENCE, "--reference", name).ends(COULD_NOT_RUN)
    assert f"the script has no function named {name}" in run.err
    assert "--reference names a function at its top level" in run.err
    assert "Traceback" not in run.all, run.err


def test_a_reference_may_stand_in_a_file_of_its_own(audit: Audit, tmp_path: Path) -> None:
    write(tmp_path, "import __main__\n\n\ndef mine():\n    return __main__.right()\n", "reference.py")
    assert audit(REFERENCE, "--reference", "reference.py:mine").ends(FOUND).found == ["loss-not-divided"]


@pytest.mark.parametrize(
    ("name", "said"),
    [("no_such.py:mine", "no_such.py"), ("reference.py:other", "reference.py has no function named other")],
)
def test_a_reference_file_that_does_not_serve_ends_with_2_in_a_sentence(
    audit: Audit, tmp_path: Path, name: str, said: str
) -> None:
    write(tmp_path, "def mine():\n    return {}\n", "reference.py")
    run = audit(REFERENCE, "--reference", name).ends(COULD_NOT_RUN)
    assert said in run.err and "--reference" in run.err
    assert "Traceback" not in run.all, run.all


def test_a_reference_whose_names_match_nothing_ends_with_2(audit: Audit) -> None:
    run = audit(REFERENCE, "--reference", "strange").ends(COULD_NOT_RUN)
    assert "Nothing was compared with the reference: it names backbone.scale" in run.out
    assert "weight" in run.out and "bias" in run.out, "and what the parameters are called"


def test_a_reference_that_raises_shows_its_own_line(audit: Audit, tmp_path: Path) -> None:
    run = audit(REFERENCE, "--reference", "raises").ends(COULD_NOT_RUN)
    assert f'train.py", line {line_of(tmp_path, "nothing")}, in raises' in run.all
    assert "KeyError: 'nothing'" in run.all
    assert OWN_FRAMES not in run.all, run.all


def test_digests_finds_a_write_through_a_view_that_was_taken_long_ago(audit: Audit) -> None:
    loop = """
        model(torch.randn(4, 3)).square().mean().backward()
        views = [p.grad.numpy() for p in model.parameters()]
        for _ in range(6):
            optimizer.zero_grad(set_to_none=False)
            model(torch.randn(4, 3)).square().mean().backward()
            for view in views:
                view /= 4
            optimizer.step()
        """
    assert "[hidden-write]" not in audit(MODEL + dedent(loop)).ends(CLEAN).out
    run = audit(None, "--digests")
    assert "[hidden-write]" in run.out, run.out


def test_a_write_through_data_by_a_line_that_reads_the_gradient_is_seen_without_digests(
    audit: Audit, tmp_path: Path
) -> None:
    loop = """
        for _ in range(6):
            optimizer.zero_grad()
            for _ in range(4):
                model(torch.randn(4, 3)).square().mean().backward()
                for p in model.parameters():
                    p.grad.data.div_(4)
            optimizer.step()
        """
    run = audit(MODEL + dedent(loop)).ends(FOUND)
    assert f"[divided-every-micro-batch]  train.py:{line_of(tmp_path, 'div_(4)')}" in run.out, run.out


# ------------------------------------------------------------------ --json, --events, --plot


def test_json_is_all_there_is_on_standard_output(tmp_path: Path) -> None:
    noise = """
        import os, subprocess, sys
        print("printed")
        os.write(1, b"written\\n")
        os.system("echo a child")
        subprocess.run([sys.executable, "-c", "print('a Python child')"], check=True)
        sys.stdout.write("not flushed")
        """
    run = fresh(tmp_path, WRONG + dedent(noise), "--json").ends(FOUND)
    assert run.json["exit_status"] == FOUND and run.json["findings"][0]["misconception"] == "never-zeroed"
    for said in ("printed", "written", "a child", "a Python child", "not flushed"):
        assert said in run.err, f"{said!r} was lost"


def test_json_stays_alone_when_something_prints_at_the_very_end(tmp_path: Path) -> None:
    run = fresh(tmp_path, "import atexit\natexit.register(print, 'goodbye')\n", "--json").ends(COULD_NOT_RUN)
    assert run.json["exit_status"] == COULD_NOT_RUN
    assert "goodbye" in run.err


def test_json_is_written_before_os_exit(tmp_path: Path) -> None:
    run = fresh(tmp_path, RIGHT + "import os\nprint('x')\nos._exit(3)\n", "--json").ends(CLEAN)
    assert run.json["ended"] == "exit" and run.json["steps"] == 4


def test_json_says_where_what_and_how_it_ended(audit: Audit, tmp_path: Path) -> None:
    plain = audit(WRONG, "--json").ends(FOUND).json
    (finding,) = plain["findings"]
    assert finding["misconception"] == "never-zeroed" and finding["severity"] == "error"
    assert finding["where"]["line"] == line_of(tmp_path, "zero_grad()")
    assert Path(finding["where"]["file"]).name == "train.py"
    assert finding["remedy"] and finding["title"] and finding["evidence"]
    assert (plain["script"], plain["ended"], plain["exit_status"], plain["steps"]) == ("train.py", "end", FOUND, 4)
    assert "events" not in plain
    events = audit(None, "--json", "--events").ends(FOUND).json["events"]
    assert {"forward", "backward", "accumulate", "step"} <= {event["kind"] for event in events}


@pytest.mark.parametrize(
    ("script", "ended", "said"),
    [
        ("a b", "unreadable", "invalid syntax"),
        ("import torch", "end", ""),
        (MODEL + "1/0", "crash", "ZeroDivisionError"),
        (MODEL + "raise SystemExit('no data')", "exit", "no data"),
        (MODEL + "raise KeyboardInterrupt", "interrupted", ""),
    ],
)
def test_json_says_why_a_script_could_not_be_audited(audit: Audit, script: str, ended: str, said: str) -> None:
    plain = audit(script, "--json").ends(COULD_NOT_RUN).json
    assert plain["ended"] == ended and said in plain["message"] and plain["exit_status"] == COULD_NOT_RUN
    assert plain["findings"] == [] and plain["steps"] == 0


def test_json_is_printed_for_a_missing_file_too(audit: Audit) -> None:
    run = audit(None, "--json", name="missing.py").ends(COULD_NOT_RUN)
    assert "missing.py" in run.json["message"] and run.json["exit_status"] == COULD_NOT_RUN


def test_a_crash_under_json_keeps_its_traceback(audit: Audit) -> None:
    run = audit(RIGHT + "1/0", "--json").ends(COULD_NOT_RUN)
    assert run.json["ended"] == "crash"
    assert "Traceback (most recent call last)" in run.err or "Traceback" in run.json.get("traceback", "")


def test_a_reference_that_matched_nothing_is_said_in_json(audit: Audit) -> None:
    plain = audit(REFERENCE, "--reference", "strange", "--json").ends(COULD_NOT_RUN).json
    assert "backbone.scale" in json.dumps(plain), plain["message"]


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_is_a_module_that_writes_and_all_but_the_text_are_options(name: str) -> None:
    assert list(inspect.signature(writer(name)).parameters) == ["outcome", "out"]
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    assert (f"[--{name}" in parser.format_usage()) == (name != TEXT)
    if name != TEXT:
        assert read_options(parser.parse_args(["train.py", f"--{name}"])).format == name
    assert read_options(parser.parse_args(["train.py"])).format == TEXT


def test_events_without_json_is_not_passed_over_in_silence(audit: Audit) -> None:
    run = audit(RIGHT, "--events")
    assert "accumulate" in run.out or (run.status == COULD_NOT_RUN and "--json" in run.err), run.out


def test_plot_writes_a_picture_and_nothing_else(audit: Audit, tmp_path: Path) -> None:
    audit(WRONG, "--plot", "timeline.png").ends(FOUND)
    assert (tmp_path / "timeline.png").read_bytes().startswith(b"\x89PNG\r\n")
    assert sorted(path.name for path in tmp_path.iterdir() if path.name != ".course") == ["timeline.png", "train.py"]


def test_plot_goes_where_the_user_stood(audit: Audit, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    audit("import os\nos.chdir('elsewhere')\n" + RIGHT, "--plot", "timeline.png").ends(CLEAN)
    assert (tmp_path / "timeline.png").exists(), list((tmp_path / "elsewhere").iterdir())


def test_a_picture_that_cannot_be_written_costs_no_report(audit: Audit, tmp_path: Path) -> None:
    (tmp_path / "taken.png").mkdir()
    run = audit_or_fail(audit, RIGHT, "--plot", "taken.png")
    assert "nothing wrong in 4 steps" in run.out
    assert run.status != FOUND, "1 means that the script has gradient mistakes"
    assert "taken.png" in run.err, "and the user is told"


def audit_or_fail(audit: Audit, script: str | None, *options: str) -> Run:
    """An audit that must not let an exception of its own out: Python would end with 1, which means errors found."""
    try:
        return audit(script, *options)
    except Exception as error:
        pytest.fail(f"the audit itself raised {type(error).__name__}: {error}, and would end with status 1, not 2")


# ------------------------------------------------------------------ kinds of script

TWO = """
encoder, head = nn.Linear(3, 3), nn.Linear(3, 1)
first = torch.optim.SGD(encoder.parameters(), lr=0.01)
second = torch.optim.AdamW(head.parameters(), lr=0.01)
for _ in range(5):
    first.zero_grad()
    {second}
    head(encoder(torch.randn(4, 3))).square().mean().backward()
    first.step()
    second.step()
"""

THREAD = """
import threading
def train():
    for _ in range(4):
        step(clear={clear})
thread = threading.Thread(target=train)
thread.start()
"""

WORKERS = """
from torch.utils.data import DataLoader, TensorDataset
if __name__ == "__main__":
    data = TensorDataset(torch.randn(16, 3), torch.randn(16, 1))
    for x, y in DataLoader(data, batch_size=4, num_workers=2, multiprocessing_context="fork"):
        {clear}
        nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()
"""

LBFGS = """
solver = torch.optim.LBFGS(model.parameters(), max_iter=3)
x = torch.randn(8, 3)
def closure():
    {clear}
    loss = (model(x) - 1).square().mean()
    loss.backward()
    return loss
for _ in range(4):
    solver.step(closure)
"""

BY_HAND = """
for _ in range(5):
    model(torch.randn(4, 3)).square().mean().backward()
    with torch.no_grad():
        for p in model.parameters():
            p -= 0.01 * p.grad
    {clear}
"""

COMPILED = """
compiled = torch.compile(model, backend="aot_eager")
for _ in range(4):
    {clear}
    compiled(torch.ones(4, 3)).square().mean().backward()
    optimizer.step()
"""

KINDS = {
    "two models with two optimizers": (
        MODEL,
        TWO.format(second="second.zero_grad()"),
        TWO.format(second="pass"),
        "one-of-two-optimizers-zeroed",
    ),
    "a thread that trains": (MODEL, THREAD.format(clear=True), THREAD.format(clear=False), "never-zeroed"),
    "workers that load data": (
        MODEL,
        WORKERS.format(clear="optimizer.zero_grad()"),
        WORKERS.format(clear="pass"),
        "never-zeroed",
    ),
    "LBFGS": (BARE, LBFGS.format(clear="solver.zero_grad()"), LBFGS.format(clear="pass"), "closure-without-zeroing"),
    "steps by hand": (BARE, BY_HAND.format(clear="model.zero_grad()"), BY_HAND.format(clear="pass"), "never-zeroed"),
    "a compiled model": (
        MODEL,
        COMPILED.format(clear="optimizer.zero_grad()"),
        COMPILED.format(clear="pass"),
        "never-zeroed",
    ),
}


@pytest.mark.parametrize("kind", KINDS)
def test_right_and_wrong_are_told_apart_in(audit: Audit, kind: str, recwarn: pytest.WarningsRecorder) -> None:
    model, right, wrong, name = KINDS[kind]
    run = audit(model + right, name="right.py").ends(CLEAN)
    assert run.found == [], run.out
    run = audit(model + wrong, name="wrong.py").ends(FOUND)
    assert run.found == [name], run.out
    assert "wrong.py:" in run.out
    assert [str(one.message) for one in recwarn if "global hooks" in str(one.message)] == []


def test_a_thread_that_outlives_the_main_program_still_has_the_scripts_path(audit: Audit, tmp_path: Path) -> None:
    write(tmp_path, "RATE = 0.01\n", "neighbour_of_the_thread.py")
    script = """
        import sys, threading
        main = threading.main_thread()
        def train():
            go.wait()
            import neighbour_of_the_thread
            print("argv", sys.argv)
            for _ in range(3):
                step()
        go = threading.Event()
        threading.Thread(target=train).start()
        threading.Timer(0.2, go.set).start()
        """
    run = audit(MODEL + dedent(script), "--", "-x").ends(CLEAN)
    assert "argv ['train.py', '-x']" in run.out and "3 steps of SGD" in run.out


def test_spawned_workers_load_data_and_report_nothing(tmp_path: Path) -> None:
    script = """
        from torch.utils.data import DataLoader, Dataset

        class Numbers(Dataset):
            def __len__(self):
                return 8

            def __getitem__(self, index):
                return torch.full((3,), float(index)), torch.zeros(1)

        if __name__ == "__main__":
            loader = DataLoader(Numbers(), batch_size=4, num_workers=1, multiprocessing_context="spawn")
            for x, y in loader:
                optimizer.zero_grad()
                nn.functional.mse_loss(model(x), y).backward()
                optimizer.step()
        """
    run = fresh(tmp_path, MODEL + dedent(script)).ends(CLEAN)
    assert "nothing wrong in 2 steps of SGD" in run.out
    assert run.all.count("gradient-ledger:") == 1 and "Traceback" not in run.all


def test_training_in_another_process_ends_with_2_and_names_the_reason(tmp_path: Path) -> None:
    script = """
        import multiprocessing
        def train():
            for _ in range(3):
                step()
        child = multiprocessing.get_context("fork").Process(target=train)
        child.start()
        child.join()
        print("child ended with", child.exitcode)
        """
    run = fresh(tmp_path, MODEL + dedent(script)).ends(COULD_NOT_RUN)
    assert "child ended with 0" in run.out
    assert "or in other processes" in run.out


# ------------------------------------------------------------------ loud mistakes, and faults of its own


def test_an_exception_of_torch_is_named_as_the_mistake_it_is(audit: Audit, tmp_path: Path) -> None:
    loop = """
        scaler = torch.amp.GradScaler("cpu", init_scale=4.0)
        for _ in range(3):
            optimizer.zero_grad()
            scaler.scale(model(torch.randn(4, 3)).square().mean()).backward()
            scaler.step(optimizer)  # no update after it
        """
    run = audit(MODEL + dedent(loop)).ends(FOUND)
    assert run.found == ["scaler-not-updated"]
    assert f"train.py:{line_of(tmp_path, 'no update')}" in run.out
    assert "RuntimeError: step() has already been called" in run.out, "torch's own words are there too"
    assert OWN_FRAMES not in run.out


OWN_FAULTS = [
    "recorder.Recorder.watch",
    "recorder.Recorder.close",
    "recorder.Recorder.log",
    "surroundings.optimizer_made",
    "surroundings.module_made",
    "surroundings.forward",
    "passes.backward_begins",
    "passes.backward_ends",
    "passes.deposited",
    "gradients.clear_begins",
    "steps.step_begins",
    "steps.step_ends",
    "steps.tally",
]


@pytest.mark.parametrize("function", OWN_FAULTS)
def test_a_fault_of_the_ledgers_own_is_never_called_clean(
    audit: Audit, monkeypatch: pytest.MonkeyPatch, function: str
) -> None:
    def broken(*_: Any, **__: Any) -> None:
        raise LookupError("a fault of the ledger's own")

    monkeypatch.setattr(f"gradient_ledger.{function}", broken)
    clipped = MODEL.replace(
        "    optimizer.step()", "    nn.utils.clip_grad_norm_(model.parameters(), 1)\n    optimizer.step()"
    )
    run = audit_or_fail(audit, clipped + "\nfor _ in range(4):\n    step()\nprint('trained')\n").ends(COULD_NOT_RUN)
    assert "trained\n" in run.out, f"training was disturbed\n{run.all}"
    assert "itself failed" in run.all and "a fault of the ledger's own" in run.all
    assert "nothing wrong" not in run.out, "praise for a run that was not seen"


def test_a_rule_that_fails_is_never_called_clean(audit: Audit, monkeypatch: pytest.MonkeyPatch) -> None:
    from gradient_ledger import rules

    def broken(view: Any) -> Iterator[Any]:
        raise LookupError("a fault of a rule")

    monkeypatch.setattr(rules, "RULES", (*rules.RULES, broken))
    run = audit_or_fail(audit, RIGHT).ends(COULD_NOT_RUN)
    assert "a fault of a rule" in run.all
    run = audit_or_fail(audit, WRONG).ends(FOUND)
    assert run.found == ["never-zeroed"], "what the other rules found is still shown"


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_a_ledger_that_cannot_be_imported_is_no_fault_of_the_script(tmp_path: Path, options: list[str]) -> None:
    broken = "import sys\nfor name in ('ledger', 'report'):\n    sys.modules[f'gradient_ledger.{name}'] = None\n"
    run = fresh(tmp_path, broken + RIGHT + "print('trained')\n", *options).ends(COULD_NOT_RUN)
    assert "trained\n" in run.all and "the audit itself failed" in run.all


# ------------------------------------------------------------------ what ends late, and what ends early


def test_idle_workers_of_a_thread_pool_do_not_hold_the_end_back(tmp_path: Path) -> None:
    script = MODEL + (
        "\nfrom concurrent.futures import ThreadPoolExecutor\n"
        "pool = ThreadPoolExecutor(2)\n"
        "print(list(pool.map(str, range(3))))\n"
        "late = pool.submit(lambda: print('the last task'))\n"
        "for _ in range(3):\n    step()\n"
    )
    run = fresh(tmp_path, script).ends(CLEAN)
    assert "the last task" in run.out and "3 steps" in run.out


def test_a_pool_in_this_process_goes_on_after_an_audit(audit: Audit) -> None:
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(int, "1").result() == 1
        audit(
            MODEL + "\nfrom concurrent.futures import ThreadPoolExecutor\n"
            "pool = ThreadPoolExecutor(1)\npool.submit(step).result()\n"
        ).ends(CLEAN)
        assert pool.submit(int, "2").result() == 2


def test_a_script_that_is_terminated_still_gets_its_report(tmp_path: Path) -> None:
    script = MODEL + (
        "\nimport os, signal, time\nfor _ in range(3):\n    step(clear=False)\n"
        "os.kill(os.getpid(), signal.SIGTERM)\ntime.sleep(60)\n"
    )
    run = fresh(tmp_path, script).ends(FOUND)
    assert "train.py was terminated from outside (SIGTERM)." in run.out and "never-zeroed" in run.out


def test_a_script_that_handles_termination_itself_keeps_its_way(tmp_path: Path) -> None:
    script = MODEL + (
        "\nimport os, signal\nsignal.signal(signal.SIGTERM, lambda *_: print('saving a checkpoint'))\n"
        "for _ in range(3):\n    step()\nos.kill(os.getpid(), signal.SIGTERM)\nstep()\n"
    )
    run = fresh(tmp_path, script).ends(CLEAN)
    assert "saving a checkpoint" in run.out and "4 steps" in run.out


def test_a_child_that_is_terminated_dies_as_it_would_have_died(tmp_path: Path) -> None:
    script = MODEL + (
        "\nimport os, signal, time\nready, say = os.pipe()\nchild = os.fork()\n"
        "if not child:\n    os.write(say, b'x')\n    time.sleep(60)\n    os._exit(7)\n"
        "os.read(ready, 1)\nos.kill(child, signal.SIGTERM)\nprint('child', os.WTERMSIG(os.waitpid(child, 0)[1]))\n"
        "for _ in range(3):\n    step()\n"
    )
    run = fresh(tmp_path, script).ends(CLEAN)
    assert "child 15" in run.out and run.all.count("gradient-ledger:") == 1


def with_no_reader(folder: Path, script: str, *start: str, unbuffered: str = "") -> Run:
    """An audit whose standard output is a pipe that nobody reads any more, as that of `| head` is after ten lines."""
    write(folder, script)
    read, out = os.pipe()
    os.close(read)
    try:
        return command(folder, sys.executable, "-m", *start, environment={"PYTHONUNBUFFERED": unbuffered}, stdout=out)
    finally:
        os.close(out)


@pytest.mark.heavy
@pytest.mark.parametrize(("start", "options"), [(["gradient_ledger"], ["--json"]), (["course_utils.cli", "audit"], [])])
def test_a_reader_that_leaves_early_hears_nothing_and_the_status_stands(
    tmp_path: Path, start: list[str], options: list[str]
) -> None:
    words = [*start, "train.py", *options]
    assert with_no_reader(tmp_path, RIGHT, *words).ends(CLEAN).err == ""
    assert with_no_reader(tmp_path, WRONG, *words, unbuffered="1").ends(FOUND).err == ""


def test_os_exit_is_the_end_without_a_reader_too(tmp_path: Path) -> None:
    script = RIGHT + "import os\nos._exit(3)\n"
    assert with_no_reader(tmp_path, script, "gradient_ledger", "train.py").ends(CLEAN).err == ""
