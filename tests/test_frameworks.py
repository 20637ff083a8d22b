"""`course audit` on training loops that nobody here wrote: those inside Accelerate, Lightning and Transformers.

Each script of `loops/frameworks` trains a tiny model as a user of its framework would. `NAME.py` is right, and
`NAME__ID.py` is the same script with the mistake ID, made where the framework lets a user make it. Comments at the top
of a script say how it is to be audited: `# id:` the misconception, `# window: 4` a window to give, `# needs: reference`
that its function `reference()` is to be given. `# <-- bug` ends the lines that a finding may name.
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gradient_ledger.catalogue import catalogue

pytestmark = pytest.mark.turns

ROOT = Path(__file__).resolve().parent.parent
SCRIPTS = sorted((ROOT / "tests" / "loops" / "frameworks").glob("*.py"))
CLEAN = [script for script in SCRIPTS if "__" not in script.stem]
INJECTED = [script for script in SCRIPTS if "__" in script.stem]
FRAMEWORKS = ("accelerate", "lightning", "transformers")
MODULES = {
    "bare": ["torch"],
    "accelerate": ["accelerate"],
    "lightning": ["lightning.pytorch"],
    "transformers": ["transformers", "accelerate", "transformers.trainer"],
}
# One thread: the models are tiny, and the tests run side by side. Offline: nothing here may wait for a network.
ENVIRONMENT = {"OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1", "HF_HUB_DISABLE_TELEMETRY": "1"}


def header(script: Path) -> dict[str, str]:
    """{key: value} of the comments above a script's docstring."""
    top = script.read_text(encoding="utf-8").split('"""')[0]
    return dict(re.findall(r"^# (\w+): (.+)$", top, re.MULTILINE))


def marked(script: Path) -> set[int]:
    lines = script.read_text(encoding="utf-8").splitlines()
    return {number for number, line in enumerate(lines, 1) if line.endswith("# <-- bug")}


@pytest.fixture(scope="module")
def servers() -> Iterator[dict[str, subprocess.Popen[str]]]:
    """Processes that have imported a framework and audit one script after another, each in a child of its own."""
    running: dict[str, subprocess.Popen[str]] = {}
    yield running
    for server in running.values():
        server.communicate()


def audit(script: Path, folder: Path, servers: dict[str, subprocess.Popen[str]]) -> tuple[int, list[dict[str, Any]]]:
    """(exit status, findings of severity error or warning) of one audit in a process of its own."""
    framework = script.stem.split("_")[0]
    if framework in FRAMEWORKS and importlib.util.find_spec(framework) is None:
        pytest.skip(f"{framework} is not installed: pip install -c constraints.txt {framework}")
    needs = header(script)
    options = ["--window", needs["window"]] if "window" in needs else []
    options += ["--reference", needs["needs"]] if "needs" in needs else []
    if framework not in servers:
        servers[framework] = subprocess.Popen(
            [sys.executable, str(ROOT / "tests" / "audit_server.py"), *MODULES[framework]],
            env={**os.environ, **ENVIRONMENT, "PYTHONPATH": str(ROOT)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
    server = servers[framework]
    assert server.stdin is not None and server.stdout is not None
    job = {"arguments": ["audit", str(script), "--json", *options], "folder": str(folder)}
    server.stdin.write(json.dumps(job) + "\n")
    server.stdin.flush()
    done = json.loads(server.stdout.readline() or '{"status": null, "err": "the server has died"}')
    assert done["status"] in (0, 1), f"the audit did not run: {done['err'][-3000:]}"
    assert list(folder.iterdir()) == [], "the audit or the script left files behind"
    report = json.loads(done["out"])
    assert not report["trouble"], "the ledger itself failed and saw only part of the run"
    return done["status"], [item for item in report["findings"] if item["severity"] in ("error", "warning")]


def named(findings: list[dict[str, Any]]) -> list[tuple[str, str, int | None]]:
    """(misconception, file, line) of each finding; the file is "" and the line None where it has no place."""
    places = [item["where"] or {"file": "", "line": None} for item in findings]
    return [
        (item["misconception"], Path(place["file"]).name, place["line"])
        for item, place in zip(findings, places, strict=True)
    ]


@pytest.mark.parametrize("script", CLEAN, ids=lambda script: script.stem)
def test_a_right_loop_is_left_alone(script: Path, tmp_path: Path, servers: Any) -> None:
    status, findings = audit(script, tmp_path, servers)
    assert (status, findings) == (0, [])


@pytest.mark.parametrize("script", INJECTED, ids=lambda script: script.stem)
def test_a_wrong_loop_is_named_at_its_line(script: Path, tmp_path: Path, servers: Any) -> None:
    _, findings = audit(script, tmp_path, servers)
    allowed = {(header(script)["id"], script.name, line) for line in marked(script)}
    assert allowed & set(named(findings)), f"wanted one of {sorted(allowed)}, found {named(findings)}"


def test_the_scripts_are_what_their_names_and_headers_say() -> None:
    ids = set(catalogue())
    for script in INJECTED:
        name, bug = script.stem.split("__")
        assert header(script)["id"] == bug and bug in ids, script.name
        assert script.with_stem(name) in CLEAN and marked(script), script.name
    assert [script.name for script in CLEAN if marked(script) or "id" in header(script)] == []
    for framework in (*FRAMEWORKS, "bare"):
        assert len([script for script in INJECTED if script.stem.startswith(framework)]) >= 4, framework
