"""`course doctor`: each thing that can be wrong with an environment is named, with how to mend it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from course_utils import doctor
from course_utils.doctor import Check

ROOT = Path(__file__).resolve().parent.parent

Library = Callable[[str, str], None]


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Library:
    """Puts a module of the given name and source in front of the real one, for child processes."""
    folder = tmp_path / "in-front"
    folder.mkdir()
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(folder), str(ROOT)]))

    def put(name: str, source: str) -> None:
        (folder / f"{name}.py").write_text(source)

    return put


def missing(name: str) -> str:
    return f"raise ModuleNotFoundError(\"No module named '{name}'\", name='{name}')"


BROKEN = "raise OSError('libsomething.so.1: cannot open shared object file')"
FAKE_TORCH = """
__version__ = "{version}"
class version: cuda = {cuda_build!r}
class cuda:
    is_available = staticmethod(lambda: {cuda_name!r} is not None)
    get_device_name = staticmethod(lambda index: {cuda_name!r})
class backends:
    class mps: is_available = staticmethod(lambda: {mps})
def get_num_threads(): return 4
class tensor:
    def __init__(self, values, requires_grad): pass
    def __mul__(self, other): return self
    def sum(self): return self
    def backward(self):
        {backward}
        self.grad = {gradient}
"""


def fake_torch(
    version: str = "2.13.0",
    cuda_build: str | None = None,
    cuda_name: str | None = None,
    mps: bool = False,
    backward: str = "pass",
    gradient: float = 6.0,
) -> str:
    return FAKE_TORCH.format(**locals())


def only(checks: list[Check], name: str) -> Check:
    [found] = [check for check in checks if check.name == name]
    return found


# ------------------------------------------------------------------ python


def python_is(monkeypatch: pytest.MonkeyPatch, *version: int) -> Check:
    monkeypatch.setattr(sys, "version_info", version)
    return only(doctor.check_python(), "python")


def test_a_supported_python_is_well(monkeypatch: pytest.MonkeyPatch) -> None:
    assert python_is(monkeypatch, 3, 10, 0).level == "ok"


def test_an_old_python_fails_and_the_range_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    check = python_is(monkeypatch, 3, 9, 18)
    assert check.level == "fail" and "3.10 to 3.13" in check.remedy


def test_a_python_newer_than_tested_is_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    assert python_is(monkeypatch, 3, 99, 0).level == "warn"


# ------------------------------------------------------------------ libraries that are missing or broken

LIBRARIES = [
    ("torch", doctor.check_torch, "torch"),
    ("matplotlib", doctor.check_matplotlib, "matplotlib"),
    ("ipywidgets", doctor.check_widgets, "ipywidgets"),
    ("jupyterlab_widgets", doctor.check_widgets, "jupyterlab_widgets"),
    ("jupyterlab", doctor.check_jupyterlab, "jupyterlab"),
    ("ipykernel", doctor.check_kernel, "kernel"),
]
libraries = pytest.mark.parametrize(("name", "check", "line"), LIBRARIES, ids=[row[0] for row in LIBRARIES])


@libraries
def test_a_missing_library_is_named_with_the_command_that_installs_it(
    name: str, check: Callable[[], list[Check]], line: str, library: Library
) -> None:
    library(name, missing(name))
    found = only(check(), line)
    assert found.level != "ok" and "not installed" in found.found
    assert f'pip install "{name}' in found.remedy


@libraries
def test_a_library_broken_at_import_is_named_with_its_error(
    name: str, check: Callable[[], list[Check]], line: str, library: Library
) -> None:
    library(name, BROKEN)
    found = only(check(), line)
    assert found.level != "ok" and "libsomething.so.1" in found.found
    assert f"--force-reinstall --no-deps {name}" in found.remedy


@libraries
def test_a_library_that_ends_the_interpreter_is_a_line_of_the_report(
    name: str, check: Callable[[], list[Check]], line: str, library: Library
) -> None:
    library(name, "import os, signal; os.kill(os.getpid(), signal.SIGKILL)")
    found = only(check(), line)
    assert found.level != "ok" and "SIGKILL" in found.found


def test_a_library_that_lacks_another_one_asks_for_that_one(library: Library) -> None:
    library("matplotlib", missing("kiwisolver"))
    found = only(doctor.check_matplotlib(), "matplotlib")
    assert "kiwisolver" in found.found and 'pip install "kiwisolver"' in found.remedy


def test_a_library_that_hangs_is_given_up(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "PROBE_SECONDS", 0.5)
    library("matplotlib", "import time; time.sleep(60)")
    assert "no answer within" in only(doctor.check_matplotlib(), "matplotlib").found


def test_the_report_stays_one_line_when_an_error_has_several() -> None:
    assert "\n" not in Check("torch", "fail", "first\nsecond", "one\ntwo").line()


# ------------------------------------------------------------------ torch


def test_the_torch_of_this_environment_is_well() -> None:
    assert [check.level for check in doctor.check_torch()] == ["ok", "ok", "ok"]


@pytest.mark.parametrize(("version", "level"), [("2.5.1", "fail"), ("1.13.1+cu117", "fail"), ("2.6.0", "ok")])
def test_a_torch_older_than_2_6_fails(version: str, level: str, library: Library) -> None:
    library("torch", fake_torch(version))
    assert only(doctor.check_torch(), "torch").level == level


def test_versions_are_compared_as_numbers(library: Library) -> None:
    library("torch", fake_torch("2.10.0a0+gitabc"))
    assert only(doctor.check_torch(), "torch").level == "ok"


def test_a_cuda_device_is_named(library: Library) -> None:
    library("torch", fake_torch(cuda_build="12.8", cuda_name="Some GPU"))
    assert only(doctor.check_torch(), "device").found == "CUDA: Some GPU"


def test_an_apple_gpu_is_named(library: Library) -> None:
    library("torch", fake_torch(mps=True))
    assert "MPS" in only(doctor.check_torch(), "device").found


def test_a_cuda_build_without_a_device_is_told_and_is_no_fault(library: Library) -> None:
    library("torch", fake_torch(cuda_build="12.8"))
    check = only(doctor.check_torch(), "device")
    assert check.level == "ok" and "no CUDA device" in check.found


def test_a_torch_that_cannot_differentiate_fails(library: Library) -> None:
    library("torch", fake_torch(backward="raise RuntimeError('could not create a primitive')"))
    check = only(doctor.check_torch(), "torch works")
    assert check.level == "fail" and "could not create a primitive" in check.found


def test_a_torch_that_differentiates_wrongly_fails(library: Library) -> None:
    library("torch", fake_torch(gradient=0.0))
    assert only(doctor.check_torch(), "torch works").level == "fail"


# ------------------------------------------------------------------ widgets


def test_the_widgets_of_this_environment_are_well() -> None:
    assert [check.level for check in doctor.check_widgets()] == ["ok", "ok"]


def test_ipywidgets_7_fails(library: Library) -> None:
    library("ipywidgets", "__version__ = '7.8.5'")
    assert only(doctor.check_widgets(), "ipywidgets").level == "fail"


@pytest.mark.parametrize(("version", "level"), [("7.7.1", "ok"), ("7.6.5", "fail")])
def test_on_colab_its_own_ipywidgets_is_well(version: str, level: str, library: Library) -> None:
    library("ipywidgets", f"__version__ = '{version}'")
    library("google", "import os\n__path__ = [os.path.dirname(__file__)]")
    library("colab", "")
    assert [(check.name, check.level) for check in doctor.check_widgets()] == [("ipywidgets", level)]


def test_a_jupyterlab_extension_that_is_not_on_the_path_fails(library: Library) -> None:
    library(
        "jupyter_core",
        "import sys, types\nsys.modules['jupyter_core.paths'] = types.SimpleNamespace("
        "jupyter_path=lambda *parts: [])\n__path__ = []",
    )
    check = only(doctor.check_widgets(), "jupyterlab_widgets")
    assert check.level == "fail" and "not on JupyterLab's path" in check.found


# ------------------------------------------------------------------ the kernel


@pytest.fixture
def kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Library:
    """Installs a kernelspec of the given name that starts the given program, in front of all others."""

    def put(name: str, program: str) -> None:
        folder = tmp_path / "jupyter" / "kernels" / name
        folder.mkdir(parents=True)
        argv = [program, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
        (folder / "kernel.json").write_text(json.dumps({"argv": argv, "display_name": name, "language": "python"}))
        monkeypatch.setenv("JUPYTER_PATH", str(tmp_path / "jupyter"))

    return put


def test_the_kernel_of_this_environment_is_well() -> None:
    assert doctor.check_kernel()[0].level == "ok"


def test_a_kernel_of_another_environment_fails_and_the_other_is_named(kernel: Library) -> None:
    kernel("python3", "/elsewhere/bin/python")
    check = doctor.check_kernel()[0]
    assert check.level == "fail" and "/elsewhere/bin/python" in check.found
    assert "-m ipykernel install --sys-prefix --name python3" in check.remedy


def test_a_kernel_of_this_environment_under_another_name_is_a_warning_that_names_it(kernel: Library) -> None:
    kernel("python3", "/elsewhere/bin/python")
    kernel("course", sys.executable)
    check = doctor.check_kernel()[0]
    assert check.level == "warn" and "choose the kernel course" in check.remedy


def test_a_kernel_that_says_only_python_runs_here(kernel: Library) -> None:
    kernel("python3", "python")
    assert doctor.check_kernel()[0].level == "ok"


# ------------------------------------------------------------------ the package, the workbook, the record, the disk


def test_the_package_says_where_it_comes_from(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    check = doctor.check_package()[0]
    assert check.level == "ok" and str(ROOT / "course_utils") in check.found


def test_a_package_of_another_checkout_is_a_warning(
    library: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "gradient-ledger"\n')
    monkeypatch.chdir(tmp_path)
    check = doctor.check_package()[0]
    assert check.level == "warn" and str(ROOT) in check.found and str(tmp_path) in check.remedy


def test_a_package_that_is_not_installed_fails(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    library("course_utils", missing("course_utils"))
    monkeypatch.chdir(ROOT)
    check = doctor.check_package()[0]
    assert check.level == "fail" and "not importable" in check.found and "pip install -e" in check.remedy


def test_a_file_that_hides_a_library_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "torch.py").touch()
    monkeypatch.chdir(tmp_path)
    check = doctor.check_workbook()[0]
    assert check.level == "fail" and "torch.py" in check.found


def test_a_record_that_can_be_written_is_well_and_trying_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COURSE_HOME", str(tmp_path / "not" / "yet"))
    assert doctor.check_record()[0].level == "ok"
    assert list(tmp_path.iterdir()) == []


def test_a_file_where_the_record_should_be_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "record").touch()
    monkeypatch.setenv("COURSE_HOME", str(tmp_path / "record"))
    check = doctor.check_record()[0]
    assert check.level == "fail" and "COURSE_HOME" in check.remedy


def test_a_record_folder_without_permission_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(**options: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(tempfile, "TemporaryFile", refuse)  # root may write everywhere, so a mode will not do
    monkeypatch.setenv("COURSE_HOME", str(tmp_path))
    check = doctor.check_record()[0]
    assert check.level == "fail" and "Permission denied" in check.found


@pytest.mark.parametrize(("mib", "level"), [(10, "fail"), (200, "warn"), (5000, "ok")])
def test_little_disk_is_a_warning_and_none_a_failure(
    mib: int, level: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COURSE_HOME", str(tmp_path))
    monkeypatch.setattr(shutil, "disk_usage", lambda path: type("Usage", (), {"free": mib * 2**20}))
    assert only(doctor.check_record(), "disk").level == level


# ------------------------------------------------------------------ the command


def course_doctor(cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "course_utils.cli", "doctor"]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, stdin=subprocess.DEVNULL)


def test_course_doctor_reports_on_an_environment_in_which_nothing_imports(library: Library, tmp_path: Path) -> None:
    for name in ("torch", "numpy", "matplotlib", "ipywidgets", "jupyterlab", "ipykernel", "IPython"):
        library(name, missing(name))
    done = course_doctor(tmp_path)
    assert done.returncode == 1, done.stderr
    assert done.stderr == ""
    failed = [line.split()[1] for line in done.stdout.splitlines() if line.startswith("[fail]")]
    assert failed[:3] == ["torch:", "matplotlib:", "ipywidgets:"] and "kernel:" in failed
    assert "[ok]   python:" in done.stdout and "[ok]   record:" in done.stdout


def test_course_doctor_ends_with_0_only_when_nothing_failed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(doctor, "CHECKS", (lambda: [Check("a", "ok", "x"), Check("b", "warn", "y", "z")],))
    assert doctor.doctor_command() == 0
    assert capsys.readouterr().out.splitlines()[:2] == ["[ok]   a: x", "[warn] b: y. To mend: z"]
    monkeypatch.setattr(doctor, "CHECKS", (lambda: [Check("a", "fail", "x", "z"), Check("b", "ok", "y")],))
    assert doctor.doctor_command() == 1
