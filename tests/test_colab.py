"""The Colab path: torch is there, the package is not, and the folder is another one."""

from __future__ import annotations

import importlib.metadata
import json
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
NOT_THERE = ("course_utils", "gradient_ledger", "__editable__", "__pycache__", "jupyterlab")
SHIPPED = "7.7.1"
"""The version of ipywidgets that Colab ships."""


def _run(*command: object, cwd: Path | None = None, env: dict[str, str] | None = None) -> str:
    done = subprocess.run([str(part) for part in command], cwd=cwd, env=env, capture_output=True, text=True)
    assert done.returncode == 0, f"{command}:\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    return done.stdout


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A git repository with the working tree as it is now, so that what is tested is what is here."""
    folder = tmp_path_factory.mktemp("origin") / "course"
    listed = _run("git", "-C", ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    for name in filter(None, listed.split("\0")):
        source = ROOT / name
        if source.is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, folder / name)
    _run("git", "init", "-q", folder)
    identity = ("-c", "user.name=test", "-c", "user.email=test@example.invalid")
    _run("git", "-C", folder, "add", "-A")
    _run("git", "-C", folder, *identity, "commit", "-q", "-m", "as it is")
    return folder


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment like Colab's: what this one has, but neither the package, nor JupyterLab, nor ipywidgets 8.

    Only the metadata of ipywidgets says 7, and that is what pip goes by.
    """
    folder = tmp_path_factory.mktemp("bare")
    _run(sys.executable, "-m", "venv", "--without-pip", folder)
    python = folder / "bin" / "python"
    here = Path(sysconfig.get_paths()["purelib"])
    there = Path(_run(python, "-c", "import sysconfig; print(sysconfig.get_paths()['purelib'])").strip())
    for item in here.iterdir():
        if item.match("ipywidgets-*.dist-info"):
            old = there / f"ipywidgets-{SHIPPED}.dist-info"
            old.mkdir()
            (old / "METADATA").write_text(f"Metadata-Version: 2.1\nName: ipywidgets\nVersion: {SHIPPED}\n")
            (old / "RECORD").touch()
        elif not item.name.startswith(NOT_THERE):
            (there / item.name).symlink_to(item)
    return python


def _installed(python: Path, folder: Path, environment: dict[str, str]) -> dict[str, str]:
    """{name: version} of every distribution that this Python finds."""
    listed = "json.dumps({one.name: one.version for one in importlib.metadata.distributions()})"
    source = f"import importlib.metadata, json; print({listed})"
    found: dict[str, str] = json.loads(_run(python, "-c", source, cwd=folder, env=environment))
    return found


@pytest.mark.heavy
def test_the_set_up_cell_installs_the_package_and_the_lesson_runs(repository: Path, bare: Path, tmp_path: Path) -> None:
    import nbformat
    from nbclient import NotebookClient

    from course_utils.authoring import student_notebook

    environment = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV", "COURSE_HOME")}
    missing = subprocess.run([bare, "-c", "import course_utils"], cwd=tmp_path, env=environment, capture_output=True)
    assert missing.returncode != 0, "the bare environment has the package already"
    before = _installed(bare, tmp_path, environment)
    assert before["ipywidgets"] == SHIPPED and "jupyterlab" not in before

    notebook = student_notebook(ROOT, 1, repository=f"git+file://{repository}")
    kernel = tmp_path / "kernels" / "share" / "jupyter" / "kernels" / "bare"
    kernel.mkdir(parents=True)
    argv = [str(bare), "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    (kernel / "kernel.json").write_text(json.dumps({"argv": argv, "display_name": "bare", "language": "python"}))
    elsewhere = tmp_path / "content"
    elsewhere.mkdir()
    os.environ["JUPYTER_PATH"] = str(tmp_path / "kernels" / "share" / "jupyter")
    try:
        NotebookClient(
            notebook, timeout=300, kernel_name="bare", resources={"metadata": {"path": str(elsewhere)}}
        ).execute(env=environment)
    finally:
        del os.environ["JUPYTER_PATH"]

    shown = nbformat.writes(notebook)
    assert "NOT ATTEMPTED" in shown
    assert (elsewhere / ".course" / "lesson1.json").exists(), "the record lies beside the notebook"
    where = _run(bare, "-c", "import course_utils; print(course_utils.__file__)", cwd=tmp_path, env=environment)
    assert str(ROOT) not in where and str(bare.parent.parent) in where
    assert _installed(bare, tmp_path, environment) == {
        **before,
        "gradient-ledger": importlib.metadata.version("gradient-ledger"),
    }
