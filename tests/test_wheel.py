"""The wheel beside torch and NumPy, with nothing else that the course needs: the instrument works."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement

pytestmark = pytest.mark.turns

ROOT = Path(__file__).resolve().parent.parent
SCRIPT = """
import torch
from torch import nn

model = nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(6):
    model(torch.ones(3, 2)).square().mean().backward()
    optimizer.step()
"""
FIXTURE = """
import torch

def test_that_trains(gradient_ledger):
    weight = torch.nn.Parameter(torch.ones(2))
    optimizer = torch.optim.SGD([weight], lr=0.1)
    for _ in range(3):
        weight.square().sum().backward()
        optimizer.step()
"""


def _run(*command: object, folder: Path) -> subprocess.CompletedProcess[str]:
    hidden = ("PYTHONPATH", "VIRTUAL_ENV", "COURSE_HOME", "PYTEST_ADDOPTS", "PYTEST_PLUGINS")
    environment = {name: value for name, value in os.environ.items() if name not in hidden}
    return subprocess.run(list(map(str, command)), cwd=folder, env=environment, capture_output=True, text=True)


def _needed(*names: str) -> set[str]:
    """The distributions of these names that are installed here, and all that they require."""
    found: set[str] = set()
    waiting = list(names)
    while waiting:
        name = re.sub(r"[-_.]+", "-", waiting.pop()).lower()
        if name in found:
            continue
        try:
            lines = metadata.requires(name) or []
        except metadata.PackageNotFoundError:
            continue  # a requirement of another platform
        found.add(name)
        requirements = [Requirement(line) for line in lines]
        waiting += [one.name for one in requirements if one.marker is None or one.marker.evaluate({"extra": ""})]
    return found


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of an environment with torch, NumPy, pytest and the wheel."""
    folder = tmp_path_factory.mktemp("wheel")
    source = folder / "source"
    kept = subprocess.run(
        ["git", "-C", ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard", "course_utils"]
        + ["gradient_ledger", "pyproject.toml", "README.md", "LICENSE", "LICENSE-PROSE"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    for name in filter(None, kept.split("\0")):
        if (ROOT / name).is_file():
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, source / name)
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check")
    built = _run(*pip, "wheel", "-q", "--no-deps", "--no-build-isolation", "-w", folder, source, folder=folder)
    assert built.returncode == 0, built.stderr[-2000:]
    [wheel] = folder.glob("*.whl")

    environment = folder / "environment"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", environment], check=True)
    python = environment / "bin" / "python"
    here = Path(sysconfig.get_paths()["purelib"])
    there = Path(
        _run(python, "-c", "import sysconfig; print(sysconfig.get_paths()['purelib'])", folder=folder).stdout.strip()
    )
    for name in _needed("torch", "numpy", "pytest"):
        for top in {path.parts[0] for path in metadata.files(name) or [] if path.parts[0] not in ("..", "__pycache__")}:
            if not (there / top).exists():
                (there / top).symlink_to(here / top)
    added = _run(*pip, "--python", python, "install", "-q", "--no-deps", "--no-index", wheel, folder=folder)
    assert added.returncode == 0, added.stderr[-2000:]
    for missing in ("matplotlib", "IPython", "ipywidgets", "jupyterlab"):
        assert _run(python, "-c", f"import {missing}", folder=folder).returncode != 0
    return python


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "train.py").write_text(SCRIPT, encoding="utf-8")
    return tmp_path


def test_the_base_install_is_torch_and_numpy(bare: Path, tmp_path: Path) -> None:
    asked = "from importlib.metadata import requires; print(*[r for r in requires('gradient-ledger') if ';' not in r])"
    assert set(re.findall(r"([a-z]+)>=", _run(bare, "-c", asked, folder=tmp_path).stdout)) == {"torch", "numpy"}


@pytest.mark.parametrize(
    "command", ["gradient-ledger", "course audit", pytest.param("-m gradient_ledger", marks=pytest.mark.heavy)]
)
def test_an_audit_reports_in_text(bare: Path, folder: Path, command: str) -> None:
    start = (
        [bare, *command.split()]
        if command.startswith("-m")
        else [bare.parent / command.split()[0], *command.split()[1:]]
    )
    done = _run(*start, "train.py", folder=folder)
    assert done.returncode == 1 and "never-zeroed" in done.stdout, done.stderr


def test_an_audit_reports_in_json(bare: Path, folder: Path) -> None:
    done = _run(bare.parent / "gradient-ledger", "train.py", "--json", folder=folder)
    assert [one["misconception"] for one in json.loads(done.stdout)["findings"]] == ["never-zeroed"]


def test_a_ledger_is_shown_as_html(bare: Path, folder: Path) -> None:
    code = "import runpy\nfrom gradient_ledger import GradientLedger\nwith GradientLedger() as ledger:\n"
    code += "    runpy.run_path('train.py')\nprint(ledger._repr_html_())"
    done = _run(bare, "-c", code, folder=folder)
    assert done.returncode == 0 and "<section" in done.stdout and "never-zeroed" in done.stdout, done.stderr


def test_the_pytest_fixture_is_there(bare: Path, tmp_path: Path) -> None:
    (tmp_path / "test_train.py").write_text(FIXTURE, encoding="utf-8")
    done = _run(bare, "-m", "pytest", "-q", "-p", "no:cacheprovider", folder=tmp_path)
    assert done.returncode == 1 and "never-zeroed" in done.stdout, done.stdout[-2000:] + done.stderr[-2000:]


def test_the_picture_asks_for_matplotlib_by_name(bare: Path, folder: Path) -> None:
    done = _run(bare.parent / "gradient-ledger", "train.py", "--plot", "timeline.png", folder=folder)
    assert "matplotlib" in done.stderr and "pip install" in done.stderr and "Traceback" not in done.stderr
    assert done.returncode in (1, 2) and not (folder / "timeline.png").exists()
    assert "never-zeroed" in done.stdout, "the report is lost with the picture"
