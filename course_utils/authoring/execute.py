"""Run a solved notebook in a fresh kernel of this interpreter and keep of its outputs what is the same every time."""

from __future__ import annotations

import json
import os
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

from nbformat import NotebookNode

from course_utils.authoring.files import AuthoringError
from course_utils.authoring.notebooks import LANGUAGE
from course_utils.authoring.source import first_words

CELL_TIMEOUT = 120
"""Seconds one cell may run."""

_WIDGET = "application/vnd.jupyter.widget-view+json"
_ANSI = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_ADDRESS = re.compile(r"\bat 0x[0-9a-fA-F]{6,}")


def execute(notebook: NotebookNode, file: str) -> None:
    """Execute `notebook` in place, in a temporary folder with an empty record, and tidy its outputs.

    `file` names the lesson in messages. Raises `AuthoringError` naming the cell when one raises,
    writes to stderr, runs longer than `CELL_TIMEOUT`, or shows a memory address.
    """
    from jupyter_client.kernelspec import KernelSpecManager
    from jupyter_client.manager import AsyncKernelManager
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

    _warm_font_cache()
    with tempfile.TemporaryDirectory(prefix="course-build-") as name:
        folder = Path(name)
        for part in ("kernels/python3", "work", "record", "ipython"):
            (folder / part).mkdir(parents=True)
        argv = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
        spec = {"argv": argv, "display_name": "Python 3 (ipykernel)", "language": "python"}
        (folder / "kernels/python3/kernel.json").write_text(json.dumps(spec), encoding="utf-8")
        # Only this kernel: one of the same name elsewhere on the machine may be another interpreter.
        specs = KernelSpecManager(kernel_dirs=[str(folder / "kernels")], ensure_native_kernel=False)
        client = NotebookClient(
            notebook,
            timeout=CELL_TIMEOUT,
            km=AsyncKernelManager(kernel_name="python3", kernel_spec_manager=specs),
            kernel_name="python3",
            record_timing=False,
            force_raise_errors=True,
        )
        try:
            client.execute(cwd=str(folder / "work"), env=_environment(folder))
        except (CellExecutionError, CellTimeoutError, DeadKernelError) as error:
            raise AuthoringError(_failure(file, notebook, error)) from None
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = [output for output in map(_tidy, _joined(cell.outputs)) if output is not None]
            cell.metadata.pop("execution", None)
            _refuse_unstable(file, cell)
            _describe_images(cell)
    notebook.metadata.pop("widgets", None)
    notebook.metadata.language_info = dict(LANGUAGE)


def _environment(folder: Path) -> dict[str, str]:
    """The kernel's environment: a fresh record, nobody's IPython settings, one thread, fixed hashing."""
    # Set by a grader, or by whoever builds, these would change what the cells do.
    dropped = ("MPLBACKEND", "NBGRADER_EXECUTION", "PYTHONWARNINGS", "COURSE_HOME")
    environment = {name: value for name, value in os.environ.items() if name not in dropped}
    package_folder = str(Path(__file__).resolve().parents[2])
    paths = [*filter(None, environment.get("PYTHONPATH", "").split(os.pathsep)), package_folder]
    return environment | {
        "COURSE_HOME": str(folder / "record"),
        "IPYTHONDIR": str(folder / "ipython"),
        "OMP_NUM_THREADS": "1",
        "PYTHONHASHSEED": "0",
        "PYTHONPATH": os.pathsep.join(paths),
    }


def _warm_font_cache() -> None:
    """Matplotlib says on stderr that it builds its font cache, once a machine: let it do so here."""
    try:
        import matplotlib.font_manager  # noqa: F401
    except ImportError:
        pass


def _failure(file: str, notebook: NotebookNode, error: Exception) -> str:
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    raised = [cell for cell in code if any(output.output_type == "error" for output in cell.outputs)]
    ran = [cell for cell in code if cell.execution_count is not None]
    cell = (raised or ran or code)[-1]
    for output in cell.outputs:
        if output.output_type == "error":
            said = f"{output.ename}: {output.evalue}"
            lines = _ANSI.sub("", "\n".join(output.traceback)).rstrip().split("\n")
            return f"{_named(file, cell)} raised {said}; mend it and build again\n" + _indented(lines[-12:])
    if "Timeout" in type(error).__name__:
        return f"{_named(file, cell)} ran longer than {CELL_TIMEOUT} seconds; make it smaller"
    return f"{_named(file, cell)} ended the kernel ({_ANSI.sub('', str(error)).strip()}); it may need less memory"


def _refuse_unstable(file: str, cell: NotebookNode) -> None:
    for output in cell.outputs:
        if output.output_type == "stream" and output.name == "stderr":
            lines = _ANSI.sub("", output.text).rstrip().split("\n")
            raise AuthoringError(
                f"{_named(file, cell)} wrote to stderr, for which nbgrader gives no points; avoid the warning\n"
                + _indented(lines[-12:])
            )
        for text in _texts(output):
            found = _ADDRESS.search(text)
            if found:
                raise AuthoringError(
                    f"{_named(file, cell)} shows a memory address ({found[0]!r}), another one on every run; "
                    "print something that stays the same"
                )


def _joined(outputs: list[NotebookNode]) -> list[NotebookNode]:
    """Consecutive pieces of one stream as one: where the kernel cut them is a matter of timing."""
    joined: list[NotebookNode] = []
    for output in outputs:
        last = joined[-1] if joined else None
        if output.output_type == "stream" and last is not None and last.output_type == "stream":
            if last.name == output.name:
                last.text += output.text
                continue
        joined.append(output)
    return joined


def _tidy(output: NotebookNode) -> NotebookNode | None:
    """Without what changes from run to run: the id of a widget's model, and a bundle that is nothing else."""
    if output.output_type not in ("display_data", "execute_result"):
        return output
    output.data.pop(_WIDGET, None)
    output.metadata.pop(_WIDGET, None)
    return output if output.data else None


def _describe_images(cell: NotebookNode) -> None:
    """Give images without alternative text the one the author wrote at the cell."""
    for output in cell.outputs:
        if cell.metadata.get("alt") and output.output_type in ("display_data", "execute_result"):
            for mime in output.data:
                if mime.startswith("image/"):
                    output.metadata.setdefault(mime, {}).setdefault("alt", cell.metadata.alt)


def _texts(output: NotebookNode) -> list[str]:
    if output.output_type == "stream":
        return [output.text]
    data: dict[str, Any] = output.get("data", {})
    return [value for mime, value in data.items() if mime.startswith("text/") and isinstance(value, str)]


def _named(file: str, cell: NotebookNode) -> str:
    return f'{file}: cell {cell.id} ("{first_words(cell.source)}")'


def _indented(lines: list[str]) -> str:
    return "\n".join(f"    {line}" for line in lines)
