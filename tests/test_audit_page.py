"""docs/audit.md agrees with the tool: its ids, its options, its reports, its links; and its Python runs."""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from gradient_ledger.audit import CLEAN, COULD_NOT_RUN, FOUND, add_arguments
from gradient_ledger.catalogue.loops import MISCONCEPTIONS

pytestmark = pytest.mark.turns

ROOT = Path(__file__).resolve().parent.parent
FILE = ROOT / "docs" / "audit.md"
PAGE = FILE.read_text(encoding="utf-8")
TITLES = {entry.id: entry.title for entry in MISCONCEPTIONS}
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
PROSE = re.sub(r"^```.*?^```$", "", PAGE, flags=re.MULTILINE | re.DOTALL)
PYTHON = [text for language, text in BLOCKS if language == "python"]
FILES = {found[1]: text for text in PYTHON if (found := re.match(r"# (\w+\.py)\n", text))}
"""Blocks that open with a file's name: a reader saves them under it, and so do these tests."""
RUNS = [text for _, text in BLOCKS if text.startswith("$ gradient-ledger ")]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with every file the page tells its reader to write."""
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Python with these arguments in that folder, on one thread and without a display."""
    command = [sys.executable, *arguments]
    environment = {"OMP_NUM_THREADS": "1", "MPLBACKEND": "Agg", "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8"}
    return subprocess.run(command, cwd=folder, env={**os.environ, **environment}, capture_output=True, encoding="utf-8")


# ------------------------------------------------------------------ ids and options


def test_the_tables_list_every_id_once_under_its_title() -> None:
    rows = re.findall(r"^\| `([a-z0-9][a-z0-9-]+)` \| ([^|]+) \|", PROSE, re.MULTILINE)
    assert sorted(rows) == sorted(TITLES.items())


def test_every_id_that_the_page_names_is_one_the_tool_gives() -> None:
    named = set(re.findall(r"`([a-z0-9]+(?:-[a-z0-9]+)+)`", PROSE))
    named |= {name for _, text in BLOCKS for name in re.findall(r"\[([a-z0-9]+(?:-[a-z0-9]+)+)\]", text)}
    named |= {name for text in PYTHON for name in re.findall(r'expected\("([^"]+)"\)', text)}
    assert named - set(TITLES) == {"gradient-ledger"}  # the command itself


def test_every_option_of_the_command_is_in_the_table_and_no_other() -> None:
    parser = argparse.ArgumentParser(add_help=False)
    add_arguments(parser)
    options = {name for action in parser._actions for name in action.option_strings}
    assert set(re.findall(r"^\| `(-[\w-]+)", PROSE, re.MULTILINE)) == options


def test_every_exit_status_is_explained() -> None:
    statuses = re.findall(r"^\| (\d) \|", PROSE, re.MULTILINE)
    assert [int(status) for status in statuses] == [CLEAN, FOUND, COULD_NOT_RUN]


# ------------------------------------------------------------------ code and reports


@pytest.mark.parametrize("text", [text for text in PYTHON if text not in FILES.values()])
def test_a_python_block_that_is_no_file_runs(text: str, tmp_path: Path) -> None:
    (tmp_path / "block.py").write_text(text, encoding="utf-8")
    done = run(tmp_path, "block.py")
    assert done.returncode == 0, done.stderr


def test_the_page_shows_a_script_a_reference_a_ledger_and_a_test() -> None:
    assert set(FILES) == {"train.py", "summed.py", "test_training.py"}
    assert len(PYTHON) == len(FILES) + 1 and len(RUNS) == 3


@pytest.mark.parametrize("text", RUNS, ids=lambda text: text.split("\n", 1)[0])
def test_a_report_on_the_page_is_what_the_tool_prints(text: str, folder: Path) -> None:
    command, *quoted = text.splitlines()
    done = run(folder, "-m", "gradient_ledger.audit", *command.removeprefix("$ gradient-ledger ").split())
    assert done.returncode == (1 if re.search(r"^\d+\. error:", text, re.MULTILINE) else 0), done.stderr
    assert "ran to its end" in done.stdout
    printed = iter(done.stdout.splitlines())
    # Lines left out are marked with an ellipsis; those shown stand in the order in which they are printed.
    missing = [line for line in quoted if line != "…" and line not in printed]
    assert not missing, f"the page shows lines that `{command[2:]}` does not print; it prints\n{done.stdout}"


def test_the_readme_shows_the_same_report() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    [shown] = re.findall(r"^```\n(\$ gradient-ledger .*?)^```$", readme, re.MULTILINE | re.DOTALL)
    report = iter(RUNS[0].splitlines())
    assert [line for line in shown.splitlines() if line not in report] == []


def test_the_fixture_passes_the_loop_on_the_page_and_not_one_that_does_not_clear(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # quicker; test_ledger.py holds the entry point
    right = FILES["test_training.py"]
    (folder / "test_wrong.py").write_text(right.replace("optimizer.zero_grad()", "pass"), encoding="utf-8")
    done = run(folder, "-m", "pytest", "-q", "-p", "gradient_ledger.pytest_plugin", "-p", "no:cacheprovider")
    # The test itself passes; it is the fixture that fails it, at its end.
    assert "2 passed, 1 error" in done.stdout and "never-zeroed" in done.stdout
    assert "ERROR test_wrong.py" in done.stdout and "ERROR test_training.py" not in done.stdout


# ------------------------------------------------------------------ links


def test_links_within_the_repository_resolve() -> None:
    heads = {re.sub(r"[^\w\- ]", "", head).strip().lower().replace(" ", "-") for head in _heads(PROSE)}
    for target in re.findall(r"\]\(([^)\s]+)\)", PROSE):
        if target.startswith("#"):
            assert target[1:] in heads, target
        elif not target.startswith("https://"):
            assert (FILE.parent / target).exists(), target


def test_each_public_finding_names_its_commit_and_its_thread() -> None:
    commits = re.findall(r"https://github\.com/([\w-]+/[\w-]+)/blob/[0-9a-f]{40}/\S+?#L\d+", PROSE)
    threads = re.findall(r"https://github\.com/([\w-]+/[\w-]+)/issues/\d+", PROSE)
    assert len(commits) == 3 and commits == threads


def _heads(text: str) -> list[str]:
    return re.findall(r"^#+ (.+)$", text, re.MULTILINE)
