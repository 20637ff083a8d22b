"""`course doctor`: is this environment fit for the course, and if not, what to do about it.

Nothing here imports torch, Jupyter or the rest of the package: each library is tried in a child
process, so one that is missing, fails at import or takes the interpreter down with it is a line of
the report and not the end of it.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from course_utils import record
from course_utils.workbook import WORKBOOK, find_repository, record_folder
from gradient_ledger.errors import UserError

Level = Literal["ok", "warn", "fail"]

OLDEST_PYTHON = (3, 10)
NEWEST_TESTED_PYTHON = (3, 13)
OLDEST_TORCH = (2, 6)
PROBE_SECONDS = 120.0
"""How long one library may take to import: a first import from a slow disk or network home takes a minute."""
FULL_DISK_MIB, SCARCE_DISK_MIB = 50, 500
NOTEBOOK_KERNEL = "python3"
"""The kernel name that every notebook of the course asks for."""
SHADOWABLE = ("torch", "numpy", "matplotlib", "ipywidgets", "IPython", "course_utils", "random", "copy", "math")
"""Modules of which a file of the same name beside the notebooks would hide the real one."""


@dataclass(frozen=True)
class Check:
    """One line of the report: what was looked at, how it is, and what to do when it is not well."""

    name: str
    level: Level
    found: str
    remedy: str = ""

    def line(self) -> str:
        """The check as one line of text."""
        text = f"{'[' + self.level + ']':<6} {self.name}: {self.found}"
        return " ".join((text + (f". To mend: {self.remedy}" if self.remedy else "")).split("\n"))


@dataclass(frozen=True)
class Probe:
    """What a child process found: its data, or the reason why there is none."""

    data: Mapping[str, Any]
    error: str = ""
    missing: str = ""
    """The name of the module that is not installed, if that was the reason."""


def doctor_command() -> int:
    """Print one line a check. Returns 1 if any failed, else 0."""
    failed = 0
    for check in CHECKS:
        for result in check():
            failed += result.level == "fail"
            print(result.line(), flush=True)
    if failed:
        print(f"\n{failed} failed: mend the first one, then run `course doctor` again")
    else:
        print("\nThis environment is fit for the course")
    return 1 if failed else 0


def probe(body: str) -> Probe:
    """Run `body` in a child process, in an empty folder; it fills the dict `data` with JSON values.

    Never raises: an exception, a crash or a hang of the child becomes `Probe.error`.
    """
    script = _WRAPPER.format(body="\n".join("    " + line for line in body.strip().splitlines()))
    with tempfile.TemporaryDirectory() as folder:
        answer = Path(folder) / "answer.json"
        try:
            child = subprocess.run(
                [sys.executable, "-c", script, str(answer)],
                cwd=folder,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=PROBE_SECONDS,
            )
        except subprocess.TimeoutExpired:
            return Probe({}, f"no answer within {PROBE_SECONDS:.0f} s")
        except OSError as error:
            return Probe({}, f"cannot start {sys.executable}: {error}")
        try:
            result = json.loads(answer.read_text(encoding="utf-8"))
            return Probe(result["data"], result["error"], result["missing"])
        except (OSError, ValueError, KeyError):
            return Probe({}, f"the interpreter ended with {_ending(child.returncode)}")


_WRAPPER = """
import json, sys
data, error, missing = {{}}, "", ""
try:
{body}
except ModuleNotFoundError as exception:
    error, missing = f"{{type(exception).__name__}}: {{exception}}", exception.name or ""
except Exception as exception:
    error = f"{{type(exception).__name__}}: {{exception}}"
with open(sys.argv[1], "w", encoding="utf-8") as file:
    json.dump({{"data": data, "error": error[:300], "missing": missing}}, file)
"""


def _ending(status: int) -> str:
    if status < 0:
        try:
            return signal.Signals(-status).name
        except ValueError:
            return f"signal {-status}"
    return f"status {status}"


def _install(requirement: str) -> str:
    return f'{_python()} -m pip install "{requirement}"'


def _python() -> str:
    """How to type this interpreter: a bare `python` may be another one."""
    return f'"{sys.executable}"' if " " in sys.executable else sys.executable


def _reinstall(package: str) -> str:
    return f"{_python()} -m pip install --force-reinstall --no-deps {package}"


def _no_library(name: str, found: Probe, requirement: str) -> Check:
    """The check of a library that did not import: absent, lacking something it needs, or broken."""
    if found.missing == name:
        return Check(name, "fail", "not installed", _install(requirement))
    if found.missing:
        return Check(name, "fail", f"does not import: {found.error}", _install(found.missing.split(".")[0]))
    return Check(name, "fail", f"does not import: {found.error}", _reinstall(name))


def _numbers(version: str) -> tuple[int, ...]:
    """The leading numbers of a version: (2, 13, 0) of "2.13.0+cpu"."""
    match = re.match(r"\d+(\.\d+)*", version)
    return tuple(int(part) for part in match.group().split(".")) if match else ()


def _repository() -> Path | None:
    try:
        return find_repository()
    except UserError:
        return None


# ------------------------------------------------------------------ the checks


def check_python() -> list[Check]:
    """Python is one the course runs on, and one it was tested on."""
    version = sys.version_info[:2]
    found = f"{sys.version_info[0]}.{sys.version_info[1]}.{sys.version_info[2]} at {sys.executable}"
    oldest, newest = (".".join(map(str, v)) for v in (OLDEST_PYTHON, NEWEST_TESTED_PYTHON))
    if version < OLDEST_PYTHON:
        return [Check("python", "fail", found, f"make an environment with Python {oldest} to {newest}")]
    if version > NEWEST_TESTED_PYTHON:
        return [Check("python", "warn", found, f"if something fails, try Python {newest}, the newest tested")]
    return [Check("python", "ok", found)]


def check_torch() -> list[Check]:
    """Torch imports, is new enough, names its device, and can differentiate."""
    found = probe(
        """
import torch
data["version"] = str(torch.__version__)
data["threads"] = torch.get_num_threads()
try:
    data["cuda_build"] = torch.version.cuda
    data["cuda"] = torch.cuda.get_device_name(0) if torch.cuda.is_available() else None
    data["mps"] = bool(torch.backends.mps.is_available())
except Exception as exception:
    data["device_error"] = f"{type(exception).__name__}: {exception}"
try:
    w = torch.tensor([3.0], requires_grad=True)
    (w * w).sum().backward()
    data["gradient"] = float(w.grad)
except Exception as exception:
    data["backward_error"] = f"{type(exception).__name__}: {exception}"
"""
    )
    requirement = f"torch>={OLDEST_TORCH[0]}.{OLDEST_TORCH[1]}"
    if found.error:
        return [_no_library("torch", found, requirement)]
    version = str(found.data["version"])
    if _numbers(version) < OLDEST_TORCH:
        first = Check("torch", "fail", f"{version} is older than 2.6", _install(requirement))
    else:
        first = Check("torch", "ok", version)
    return [first, _device(found.data), _backward(found.data)]


def _device(data: Mapping[str, Any]) -> Check:
    if "device_error" in data:
        return Check("device", "warn", f"CPU; asking for others raised {data['device_error']}", "nothing: CPU suffices")
    if data.get("cuda"):
        return Check("device", "ok", f"CUDA: {data['cuda']}")
    if data.get("mps"):
        return Check("device", "ok", "MPS (Apple GPU)")
    note = "; torch is a CUDA build and sees no CUDA device" if data.get("cuda_build") else ""
    return Check("device", "ok", f"CPU, {data['threads']} threads{note}; the course needs no more")


def _backward(data: Mapping[str, Any]) -> Check:
    if "backward_error" in data:
        return Check("torch works", "fail", f"a small backward raised {data['backward_error']}", _reinstall("torch"))
    if data["gradient"] != 6.0:
        found = f"the gradient of w*w at 3 came out as {data['gradient']}, not 6"
        return Check("torch works", "fail", found, _reinstall("torch"))
    return Check("torch works", "ok", "the gradient of w*w at 3 is 6")


def check_matplotlib() -> list[Check]:
    """Matplotlib can draw into memory; the display does not matter."""
    found = probe(
        """
import io, matplotlib
matplotlib.use("Agg")
import matplotlib.pyplot as plt
plt.figure(figsize=(1, 1)).savefig(io.BytesIO())
data["version"] = matplotlib.__version__
"""
    )
    if found.error:
        return [_no_library("matplotlib", found, "matplotlib>=3.8")]
    return [Check("matplotlib", "ok", found.data["version"])]


def check_widgets() -> list[Check]:
    """ipywidgets 8 in the kernel and its half in JupyterLab, `jupyterlab_widgets` 3: both are needed.

    Colab has a front end of its own, made for the ipywidgets it ships: 7.7 is well there.
    """
    found = probe(
        """
import importlib.util
import ipywidgets
data["version"] = ipywidgets.__version__
data["colab"] = bool(importlib.util.find_spec("google") and importlib.util.find_spec("google.colab"))
"""
    )
    if found.error:
        return [_no_library("ipywidgets", found, "ipywidgets>=8.1")]
    version = str(found.data["version"])
    if found.data["colab"] and _numbers(version) >= (7, 7):
        return [Check("ipywidgets", "ok", f"{version}, with Colab's own front end")]
    if _numbers(version) < (8,):
        return [Check("ipywidgets", "fail", f"{version} is older than 8", _install("ipywidgets>=8.1"))]
    lab = probe(
        """
from importlib.metadata import version
import jupyterlab_widgets
from jupyter_core.paths import jupyter_path
from pathlib import Path
data["version"] = version("jupyterlab_widgets")
name = "@jupyter-widgets/jupyterlab-manager/package.json"
data["front"] = any((Path(folder) / name).is_file() for folder in jupyter_path("labextensions"))
"""
    )
    first = Check("ipywidgets", "ok", version)
    if lab.error:
        return [first, _no_library("jupyterlab_widgets", lab, "jupyterlab_widgets>=3")]
    if _numbers(lab.data["version"]) < (3,):
        found_version = f"{lab.data['version']} does not go with ipywidgets {version}"
        return [first, Check("jupyterlab_widgets", "fail", found_version, _install("jupyterlab_widgets>=3"))]
    if not lab.data["front"]:
        gone = f"{lab.data['version']}, but its JupyterLab extension is not on JupyterLab's path"
        return [first, Check("jupyterlab_widgets", "fail", gone, _reinstall("jupyterlab_widgets"))]
    return [first, Check("jupyterlab_widgets", "ok", lab.data["version"])]


def check_jupyterlab() -> list[Check]:
    """JupyterLab imports. Its lack is a warning: VS Code and Colab bring their own front end."""
    found = probe("import jupyterlab\ndata['version'] = jupyterlab.__version__")
    if found.error:
        bad = _no_library("jupyterlab", found, "jupyterlab>=4.2")
        return [Check(bad.name, "warn", f"{bad.found}; `course lab` needs it, other front ends do not", bad.remedy)]
    return [Check("jupyterlab", "ok", found.data["version"])]


def check_kernel() -> list[Check]:
    """The kernel a notebook asks for runs in this environment."""
    found = probe(
        """
import ipykernel
from jupyter_client.kernelspec import KernelSpecManager
data["kernels"] = {name: spec["spec"]["argv"][0] for name, spec in KernelSpecManager().get_all_specs().items()}
"""
    )
    if found.error:
        bad = _no_library("ipykernel", found, "ipykernel")
        return [Check("kernel", "fail", f"{bad.name} {bad.found}", bad.remedy)]
    kernels: dict[str, str] = found.data["kernels"]
    ours = sorted(name for name, program in kernels.items() if _is_this_python(program))
    mend = f"{_python()} -m ipykernel install --sys-prefix --name {NOTEBOOK_KERNEL}"
    if NOTEBOOK_KERNEL in ours:
        return [Check("kernel", "ok", f"{NOTEBOOK_KERNEL} runs this environment's Python")]
    elsewhere = f"{NOTEBOOK_KERNEL} runs {kernels[NOTEBOOK_KERNEL]}" if NOTEBOOK_KERNEL in kernels else ""
    if ours:
        note = f"{ours[0]} runs this environment's Python, but {elsewhere or f'there is no {NOTEBOOK_KERNEL}'}"
        return [Check("kernel", "warn", note, f"choose the kernel {ours[0]} in the notebook, or {mend}")]
    return [Check("kernel", "fail", elsewhere or "no kernel runs this environment's Python", mend)]


def _is_this_python(program: str) -> bool:
    """Whether a kernelspec's program is this interpreter.

    Jupyter itself replaces a bare `python` by the interpreter that it runs on. A path is compared
    as written, not resolved: every virtual environment's `python` is a link to the same base.
    """
    if program in ("python", f"python{sys.version_info[0]}", f"python{sys.version_info[0]}.{sys.version_info[1]}"):
        return True

    def folder(path: str) -> str:
        return os.path.normcase(os.path.abspath(os.path.dirname(path)))

    name = os.path.basename(program).lower()
    return os.path.isabs(program) and name.startswith("python") and folder(program) == folder(sys.executable)


def check_package() -> list[Check]:
    """`course_utils` imports in a kernel started anywhere, and is the one of this repository."""
    found = probe("import course_utils\ndata['from'] = list(course_utils.__path__)[0]")
    root = _repository()
    install = f"{_python()} -m pip install -e '{root}[course]'" if root else "run `make lab` in the folder you cloned"
    if found.missing == "course_utils":
        return [Check("course_utils", "fail", "not importable from other folders", install)]
    if found.error:
        return [Check("course_utils", "fail", f"does not import: {found.error}", f"what failed above, then {install}")]
    where = Path(found.data["from"])
    if root is not None and where.resolve() != (root / "course_utils").resolve():
        return [Check("course_utils", "warn", f"comes from {where}, not from this repository", install)]
    return [Check("course_utils", "ok", f"from {where}")]


def check_workbook() -> list[Check]:
    """No file beside the notebooks hides a library: a notebook's own folder comes first on its path."""
    root = _repository()
    folder = root / WORKBOOK if root else Path.cwd()
    hiding = [name for name in SHADOWABLE if (folder / f"{name}.py").is_file()]
    if hiding:
        found = f"{hiding[0]}.py in {folder} hides the library of that name from the notebooks"
        return [Check("workbook", "fail", found, "give that file another name")]
    return [Check("workbook", "ok", f"{folder} hides no library" if folder.is_dir() else "not made yet: `course lab`")]


def _record_folder() -> Path:
    """Where the record is kept in a notebook opened by `course lab`, or, outside the repository, in one opened here."""
    root = _repository()
    return record.home() if root is None else record_folder(root)


def check_record() -> list[Check]:
    """The learner's record can be written, and the disk it stands on has room."""
    folder = _record_folder()
    standing = next(path for path in (folder, *folder.parents) if path.exists())
    try:
        with tempfile.TemporaryFile(dir=standing):
            pass
    except OSError as error:
        remedy = f"make {standing} a folder you may write to, or set COURSE_HOME to one"
        return [Check("record", "fail", f"{folder} cannot be written: {error.strerror}", remedy)]
    return [Check("record", "ok", f"{folder} can be written"), _disk(shutil.disk_usage(standing).free)]


def _disk(free: int) -> Check:
    """`free` in bytes."""
    mib = free // 2**20
    found = f"{mib / 1024:.1f} GiB free" if mib >= 1024 else f"{mib} MiB free"
    if mib < FULL_DISK_MIB:
        return Check("disk", "fail", found, "delete something: notebooks cannot be saved on a full disk")
    if mib < SCARCE_DISK_MIB:
        return Check("disk", "warn", found, "delete something soon: a saved notebook takes up to a few MiB")
    return Check("disk", "ok", found)


CHECKS: tuple[Callable[[], list[Check]], ...] = (
    check_python,
    check_torch,
    check_matplotlib,
    check_widgets,
    check_jupyterlab,
    check_kernel,
    check_package,
    check_workbook,
    check_record,
)
