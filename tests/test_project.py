"""The project's own files agree with each other, and its two commands and its command line do what they say."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from datetime import date
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml
from conftest import pytest_collection_modifyitems
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version

from course_utils import cli, doctor

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parent.parent
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PYTHONS = ("3.10", "3.11", "3.12", "3.13")
OUTPUT_PACKAGES = {"ipykernel", "ipython", "jupyter-client"}
"""Pinned though no direct dependency, for what they do to a notebook's output; constraints.txt says so."""


def ranges(lines: list[str]) -> dict[str, SpecifierSet]:
    requirements = [Requirement(line) for line in lines]
    return {canonicalize_name(item.name): item.specifier for item in requirements}


RUNTIME = ranges(PROJECT["project"]["dependencies"])
EXTRAS = {name: ranges(lines) for name, lines in PROJECT["project"]["optional-dependencies"].items()}
DIRECT = {**RUNTIME, **{name: item for extra in EXTRAS.values() for name, item in extra.items()}}
DIRECT.pop("gradient-ledger")


def pins(python: str) -> dict[str, str]:
    """{name: version} of constraints.txt as pip reads it on this Python; a name pinned twice is an error."""
    found: dict[str, str] = {}
    for line in (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines():
        if not line or line.startswith("#"):
            continue
        requirement = Requirement(line)
        if requirement.marker is None or requirement.marker.evaluate({"python_version": python}):
            name = canonicalize_name(requirement.name)
            [specifier] = requirement.specifier
            assert specifier.operator == "==", f"{line} is not a pin"
            assert name not in found, f"{name} has two pins on Python {python}"
            found[name] = specifier.version
    return found


# ------------------------------------------------------------------ dependencies


@pytest.mark.parametrize("python", PYTHONS)
def test_every_direct_dependency_has_one_tested_pin_inside_its_range(python: str) -> None:
    pinned = pins(python)
    needed = DIRECT if python == "3.10" else {name: item for name, item in DIRECT.items() if name != "tomli"}
    assert set(pinned) == set(needed) | OUTPUT_PACKAGES
    outside = [name for name in needed if Version(pinned[name]) not in DIRECT[name]]
    assert outside == []


def test_a_learner_installs_few_packages() -> None:
    assert set(RUNTIME) == {"torch", "numpy"}
    assert set(EXTRAS["course"]) == {"matplotlib", "ipywidgets", "jupyterlab"}


def test_the_set_up_cell_installs_what_a_kernel_needs_of_the_course() -> None:
    from course_utils.authoring.notebooks import IN_A_KERNEL

    assert set(IN_A_KERNEL) == {*RUNTIME, *EXTRAS["course"]} - {"jupyterlab"}


def test_the_conda_environment_has_the_tested_pins_name_by_name() -> None:
    environment = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))
    [pip] = [item["pip"] for item in environment["dependencies"] if isinstance(item, dict)]
    [python] = [item.split("=")[1] for item in environment["dependencies"] if str(item).startswith("python=")]
    listed = {canonicalize_name(item.name): str(item.specifier) for item in map(Requirement, pip[:-1])}
    assert listed == {name: f"=={pins(python)[name]}" for name in {**RUNTIME, **EXTRAS["course"]}}
    assert pip[-1] == "-e .[course]"
    assert python in PYTHONS and environment["name"] == PROJECT["project"]["name"]


def test_the_oldest_and_newest_python_are_the_same_everywhere() -> None:
    matrix = workflow("test")["jobs"]["test"]["strategy"]["matrix"]["python"]
    assert tuple(matrix) == PYTHONS
    assert PROJECT["project"]["requires-python"] == f">={PYTHONS[0]}"
    assert PROJECT["tool"]["mypy"]["python_version"] == PYTHONS[0]
    assert PROJECT["tool"]["ruff"]["target-version"] == "py" + PYTHONS[0].replace(".", "")
    assert doctor.OLDEST_PYTHON == tuple(map(int, PYTHONS[0].split(".")))
    assert doctor.NEWEST_TESTED_PYTHON == tuple(map(int, PYTHONS[-1].split(".")))


def test_the_oldest_torch_is_the_same_everywhere() -> None:
    assert str(RUNTIME["torch"]) == ">=" + ".".join(map(str, doctor.OLDEST_TORCH))


@pytest.mark.parametrize("extra", cli.EXTRAS)
def test_the_modules_that_the_command_line_knows_of_an_extra_are_those_of_the_extra(extra: str) -> None:
    own = set(EXTRAS[extra]) - {"gradient-ledger", *EXTRAS["course"]}  # of those `course doctor` tells
    assert {canonicalize_name(name) for name in cli.EXTRAS[extra]} == own


def test_the_repository_is_one_setting_and_empty_or_of_the_form_owner_name() -> None:
    assert re.fullmatch(r"(|[\w-]+/[\w.-]+)", PROJECT["tool"]["course"]["repository"])


def test_the_workbook_finds_this_repository_by_the_projects_name() -> None:
    from course_utils.workbook import find_repository

    assert find_repository(ROOT / "course_utils") == ROOT


# ------------------------------------------------------------------ workflows and .ci/run


def workflow(name: str) -> dict[Any, Any]:
    return dict(yaml.safe_load((ROOT / ".github" / "workflows" / f"{name}.yml").read_text(encoding="utf-8")))


def commands(job: dict[str, Any]) -> str:
    return "\n".join(step.get("run", "") for step in job["steps"])


def test_the_workflow_runs_what_a_developer_runs() -> None:
    assert "make test" in commands(workflow("test")["jobs"]["test"])


def test_the_stamp_names_the_repository_it_runs_in_and_may_commit() -> None:
    stamp = workflow("stamp")
    assert stamp["permissions"] == {"contents": "write"}
    job = stamp["jobs"]["stamp"]
    assert "default_branch" in job["if"]
    assert 'course build --repository "$REPOSITORY"' in commands(job) and "git push" in commands(job)
    assert {"REPOSITORY": "${{ github.repository }}"} in [step.get("env") for step in job["steps"]]


def test_actions_are_pinned_by_commit_and_the_comment_names_the_version() -> None:
    for path in (ROOT / ".github" / "workflows").glob("*.yml"):
        used = re.findall(r"uses: (.+)", path.read_text(encoding="utf-8"))
        assert used and all(re.fullmatch(r"[\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", one) for one in used), path


def test_the_stamp_can_be_started_by_hand() -> None:
    # YAML reads the key `on` as true.
    assert set(workflow("stamp")[True]) == {"push", "workflow_dispatch"}


def test_the_readme_names_every_way_in() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    ways = ("make lab", "TORCH=cuda", "py -m venv .venv", "environment.yml", "`stamp.yml`", "enable Actions first")
    assert [way for way in ways if way not in readme] == []


def program(folder: Path, name: str, script: str) -> None:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(f"#!/bin/sh\n{script}\n")
    (folder / name).chmod(0o755)


def ci(tmp_path: Path, *programs: tuple[str, str], **environment: str) -> subprocess.CompletedProcess[str]:
    """Run `.ci/run` with nothing on the path but these programs and what the script itself needs."""
    folder = tmp_path / "path"
    for name in ("dirname", "bash", "env"):
        folder.mkdir(exist_ok=True)
        (folder / name).symlink_to(str(shutil.which(name)))
    for name, script in (("make", 'echo "make $* CI=$CI"; read line || echo no input'), *programs):
        program(folder, name, script)
    command = [str(shutil.which("bash")), str(ROOT / ".ci" / "run")]
    return subprocess.run(
        command, cwd=tmp_path, env={"PATH": str(folder), **environment}, capture_output=True, text=True, input="typed\n"
    )


def test_ci_runs_make_test_from_any_folder_without_standard_input(tmp_path: Path) -> None:
    done = ci(tmp_path, ("chromium", ""), ("bwrap", ""), CI="1")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == ["== browser and bubblewrap: found", "make test CI=1", "no input"]


@pytest.mark.parametrize(
    ("there", "wanted"), [((), " chromium bubblewrap"), (("chromium",), " bubblewrap"), (("bwrap",), " chromium")]
)
def test_ci_installs_what_is_not_there_when_it_is_root(tmp_path: Path, there: tuple[str, ...], wanted: str) -> None:
    found = [(name, "") for name in there]
    done = ci(tmp_path, *found, ("id", "echo 0"), ("apt-get", f"echo $* >> {tmp_path}/log"))
    assert done.returncode == 0 and "make test CI=true" in done.stdout
    first, second = (tmp_path / "log").read_text().splitlines()
    assert (
        first.startswith("update")
        and second.startswith("install")
        and second.endswith(f"--no-install-recommends{wanted}")
    )


def test_ci_goes_on_and_says_so_when_chromium_cannot_be_installed(tmp_path: Path) -> None:
    done = ci(tmp_path, ("id", "echo 0"), ("apt-get", "exit 100"))
    assert done.returncode == 0 and "could not be installed" in done.stdout and "make test" in done.stdout


def test_ci_says_why_it_installs_no_browser(tmp_path: Path) -> None:
    done = ci(tmp_path, ("id", "echo 1000"), ("apt-get", "exit 100"))
    assert done.returncode == 0 and "needs root and apt-get" in done.stdout


def test_ci_fails_when_the_tests_fail(tmp_path: Path) -> None:
    assert ci(tmp_path, ("chromium", ""), ("bwrap", ""), ("make", "exit 2")).returncode == 2


# ------------------------------------------------------------------ make

FAKE_PYTHON = """
if [ "$1" = -m ] && [ "$2" = venv ]; then
    mkdir -p "$3/bin" && cp "$0" "$3/bin/python"
    printf '#!/bin/sh\\necho "course $*" "COURSE_HOME=$COURSE_HOME" >> log\\ntest "$1" != "$FAIL"' > "$3/bin/course"
    chmod +x "$3/bin/course"
elif [ "$*" = "-c import torch" ]; then
    test -e torch-is-there
else
    if [ "$1" = -m ]; then echo "$*" >> log; fi
    if [ "$2" = pytest ]; then echo "$COURSE_PART" > part; fi
    case "$*" in $FAIL_PYTHON) exit 1 ;; esac
fi
"""


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A folder with the files that make reads, and a Python that writes down what it is asked to do."""
    folder = tmp_path / "clone"
    for name in ("solutions", "notebooks"):
        (folder / name).mkdir(parents=True)
        (folder / name / "01_a.ipynb").touch()
    for name in ("Makefile", "pyproject.toml", "constraints.txt"):
        shutil.copy(ROOT / name, folder)
    program(folder, "fake-python", FAKE_PYTHON)
    return folder


OF_MAKE = ("MAKE", "MFLAGS", "PART", "COURSE_", "HEAVY")
"""How variables begin that `make test` sets while these tests run."""


def make(clone: Path, *arguments: str, **environment: str) -> tuple[int, list[str], str]:
    """(exit status, what the fake Python was asked, printed text) of one run of make."""
    (clone / "log").unlink(missing_ok=True)
    clean = {key: value for key, value in os.environ.items() if not key.startswith(OF_MAKE)}
    done = subprocess.run(
        ["make", *arguments, "PYTHON=./fake-python"],
        cwd=clone,
        env={**clean, **environment},
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
    )
    log = (clone / "log").read_text().splitlines() if (clone / "log").exists() else []
    return done.returncode, log, done.stdout + done.stderr


def installs(log: list[str]) -> list[str]:
    return [line for line in log if line.startswith(("-m pip install", "-m uv pip install"))]


def test_make_lab_installs_torch_first_and_alone_then_the_course_then_opens_it(clone: Path) -> None:
    status, log, printed = make(clone, "lab", "ARGS=--no-browser --port 9000")
    assert status == 0, printed
    *_, first, second = installs(log)
    assert first.endswith("-c constraints.txt torch") and second.endswith("-e .[course]")
    assert log[-1].startswith("course lab --no-browser --port 9000")


@pytest.mark.parametrize(
    ("system", "gpu", "given", "build"),
    [
        ("Linux", False, "", "the CPU build, about 200 MB"),
        ("Linux", True, "", "the build for NVIDIA GPUs, 2 to 3 GB"),
        ("Linux", False, "cuda", "the build for NVIDIA GPUs, 2 to 3 GB"),
        ("Linux", True, "cpu", "the CPU build, about 200 MB"),
        ("Darwin", False, "", "the build for this system"),
    ],
)
def test_make_lab_takes_the_cpu_build_of_torch_on_linux_without_a_gpu_and_says_its_size_first(
    clone: Path, tmp_path: Path, system: str, gpu: bool, given: str, build: str
) -> None:
    program(tmp_path / "path", "uname", f"echo {system}")
    program(tmp_path / "path", "nvidia-smi", f"exit {0 if gpu else 9}")
    path = f"{tmp_path / 'path'}{os.pathsep}{os.environ['PATH']}"
    arguments = [f"TORCH={given}"] if given else []
    status, log, printed = make(clone, "lab", *arguments, PATH=path)
    assert status == 0, printed
    assert f"== download torch: {build}" in printed and "cannot be reached" not in printed
    [torch] = [line for line in installs(log) if line.endswith("-c constraints.txt torch")]
    assert ("-m uv pip install" in torch and "--torch-backend cpu" in torch) == ("CPU" in build)


@pytest.mark.parametrize("what", ["* --quiet uv", "-m uv *"])
def test_where_the_cpu_builds_cannot_be_reached_pip_takes_what_there_is_and_make_says_so(
    clone: Path, tmp_path: Path, what: str
) -> None:
    program(tmp_path / "path", "uname", "echo Linux")
    program(tmp_path / "path", "nvidia-smi", "exit 9")
    path = f"{tmp_path / 'path'}{os.pathsep}{os.environ['PATH']}"
    status, log, printed = make(clone, "lab", PATH=path, FAIL_PYTHON=what)
    assert status == 0 and "PyTorch's CPU builds cannot be reached" in printed, printed
    assert "-m pip install --disable-pip-version-check -c constraints.txt torch" in log


@pytest.mark.parametrize("failing", ["-c import uv", "-m uv pip install *"])
def test_uv_takes_the_second_step_and_pip_where_uv_is_not_there_or_fails(clone: Path, failing: str) -> None:
    (clone / "torch-is-there").touch()
    assert installs(make(clone, "lab")[1])[-1].startswith("-m uv pip install")
    (clone / ".venv" / "lab.stamp").unlink()
    status, log, printed = make(clone, "lab", FAIL_PYTHON=failing)
    assert status == 0 and installs(log)[-1].startswith("-m pip install"), printed
    assert installs(log)[-1].endswith("-c .venv/constraints.txt -e .[course]")


def test_make_lab_refuses_a_build_of_torch_that_does_not_exist(clone: Path) -> None:
    status, log, printed = make(clone, "lab", "TORCH=gpu")
    assert status != 0 and "TORCH=gpu: say cpu or cuda" in printed and installs(log) == []


@pytest.mark.parametrize("changed", ["pyproject.toml", "constraints.txt"])
def test_make_sets_up_once_and_again_only_when_one_of_its_two_files_changed(clone: Path, changed: str) -> None:
    make(clone, "lab")
    # Times are set by hand: a file system's clock may be too coarse to tell two steps apart.
    for age, name in enumerate(("pyproject.toml", "constraints.txt", ".venv/lab.stamp"), start=1000):
        os.utime(clone / name, (age, age))
    assert installs(make(clone, "lab")[1]) == []
    os.utime(clone / changed, (2000, 2000))
    assert installs(make(clone, "lab")[1]) != []


def test_a_set_up_for_tests_serves_the_lab_too(clone: Path) -> None:
    make(clone, "test")
    assert installs(make(clone, "lab")[1]) == []


def test_make_grading_installs_what_the_grader_needs(clone: Path) -> None:
    status, log, printed = make(clone, "grading")
    assert status == 0 and "course grade handed-in/" in printed, printed
    assert installs(log)[-1].endswith("-e .[course,grading]")
    assert installs(make(clone, "lab")[1]) == [], "the lab needs nothing more"


def test_a_torch_that_is_there_already_is_never_replaced(clone: Path) -> None:
    (clone / "torch-is-there").touch()
    _, log, printed = make(clone, "lab")
    [only] = installs(log)
    assert only.endswith("-e .[course]") and "download" not in printed
    [constraints] = re.findall(r"-c (\S+)", only)
    left = (clone / constraints).read_text()
    assert "torch==" not in left and "numpy==" in left


def test_make_test_runs_every_check_in_order_each_under_a_header(clone: Path) -> None:
    status, log, printed = make(clone, "test")
    assert status == 0, printed
    assert installs(log)[-1].endswith("-e .[dev]")
    ran = [line.split(" COURSE_HOME")[0] for line in log if line not in installs(log)]
    parallel = "-n 2 --dist loadfile"
    assert "-m mypy" in ran[2:5], "beside the lessons' promises"
    assert [line for line in ran if line != "-m mypy"] == [
        "-m ruff check .",
        "-m ruff format --check .",
        "course build --check",
        f"course verify --part {date.today().isoweekday()}/7",
        "-m pytest -q -m not heavy -n 3 --dist loadfile",
        f"-m pytest -q --nbval --nbval-current-env {parallel} solutions/01_a.ipynb",
        f"-m pytest -q --nbval-lax --nbval-current-env {parallel} notebooks/01_a.ipynb",
        "-m pytest -q -m heavy -n 3 --dist loadfile",
    ]
    headers = [line for line in printed.splitlines() if line.startswith("== ")]
    assert len(headers) == 2 + len(ran) + 1, "two for the set-up, one for each check, one at the end"


def test_make_test_runs_all_that_takes_turns_or_a_part_of_it_where_that_is_asked_for(clone: Path) -> None:
    _, log, printed = make(clone, "test", "PART=2/3")
    assert any(line.startswith("course verify --part 2/3") for line in log) and "part 2/3" in printed
    assert (clone / "part").read_text() == "2/3\n"
    _, log, printed = make(clone, "test", "PART=all")
    assert any(line.split(" COURSE_HOME")[0].rstrip() == "course verify" for line in log) and "part" not in printed


class Named:
    """What the hook of `conftest.py` asks of a test."""

    def __init__(self, nodeid: str, turns: bool, marker: str) -> None:
        self.nodeid, self.turns, self.marker = nodeid, turns, marker

    def get_closest_marker(self, name: str) -> str | None:
        return name if name == self.marker and self.turns else None


@pytest.mark.parametrize("marker", ["turns", "heavy"])
def test_of_what_takes_turns_each_test_runs_in_one_part_and_all_others_in_each(
    marker: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    tests: list[Any] = [
        Named(nodeid=f"tests/test_a.py::test[{at}]", turns=at % 5 > 0, marker=marker) for at in range(100)
    ]
    config: Any = SimpleNamespace(hook=SimpleNamespace(pytest_deselected=lambda items: left.extend(items)))
    parts = []
    for part in ("1/3", "2/3", "3/3"):
        monkeypatch.setenv("COURSE_PART", part)
        left: list[Any] = []
        kept = [*tests]
        pytest_collection_modifyitems(config, kept)
        assert len(left) + len(kept) == 100 and kept == [one for one in tests if one not in left]
        parts.append({one.nodeid for one in kept})
    always = {one.nodeid for one in tests if not one.turns}
    assert set.intersection(*parts) == always and all(len(part - always) > 15 for part in parts)
    assert sum(map(len, parts)) == 100 + 2 * len(always)
    for whole in ("all", ""):
        monkeypatch.setenv("COURSE_PART", whole)
        kept = [*tests]
        pytest_collection_modifyitems(config, kept)
        assert kept == tests


def test_heavy_tests_are_left_out_and_it_says_so_where_no_time_is_left_unless_they_are_asked_for(clone: Path) -> None:
    status, log, printed = make(clone, "test", "ENOUGH=0")
    assert status == 0 and "heavy tests left out" in printed and not any("-m heavy" in line for line in log)
    status, log, printed = make(clone, "test", "ENOUGH=0", "HEAVY=all", "PART=2/7")
    assert status == 0 and any("-m heavy" in line for line in log)
    assert (clone / "part").read_text() == "all\n"
    assert make(clone, "test", "PART=2/7")[0] == 0 and (clone / "part").read_text() == "2/7\n"


def test_make_test_touches_no_learners_record(clone: Path, tmp_path: Path) -> None:
    own = tmp_path / "own"
    log = make(clone, "test", COURSE_HOME=str(own))[1]
    homes = {line.split("COURSE_HOME=")[1] for line in log if "COURSE_HOME=" in line}
    assert len(homes) == 1 and homes.isdisjoint({"", str(own)})
    assert not Path(homes.pop()).exists(), "the folder made for the tests is removed afterwards"


@pytest.mark.parametrize("failing", [{"FAIL": "verify"}, {"FAIL_PYTHON": "-m mypy"}])
def test_make_test_stops_where_a_check_fails(clone: Path, failing: dict[str, str]) -> None:
    status, log, printed = make(clone, "test", **failing)
    assert status != 0 and "all checks passed" not in printed
    assert not any("-m pytest" in line for line in log)


def test_make_test_fails_when_there_are_no_notebooks(clone: Path) -> None:
    (clone / "solutions" / "01_a.ipynb").unlink()
    status, _, printed = make(clone, "test")
    assert status != 0 and "`course build` makes them" in printed


def test_make_clean_keeps_the_workbook(clone: Path) -> None:
    make(clone, "lab")
    (clone / "workbook").mkdir()
    (clone / "workbook" / "01_a.ipynb").touch()
    make(clone, "clean")
    assert (clone / "workbook" / "01_a.ipynb").exists() and not (clone / ".venv").exists()


def test_make_help_names_every_target(clone: Path) -> None:
    printed = make(clone, "help")[2]
    assert all(f"make {target}" in printed for target in ("lab", "test", "clean"))


# ------------------------------------------------------------------ the command line


def course(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    try:
        status = cli.main(arguments)
    except SystemExit as end:
        status = int(end.code or 0)
    printed = capsys.readouterr()
    return status, printed.out, printed.err


def test_the_console_script_is_installed_and_names_every_command() -> None:
    script = Path(sys.executable).parent / "course"
    if not script.exists():
        pytest.skip("the package is not installed in this environment: `make test` installs it")
    done = subprocess.run([str(script), "--help"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert [name for name in (c.name for c in cli.COMMANDS) if name not in done.stdout] == []


@pytest.mark.parametrize("command", [command.name for command in cli.COMMANDS])
def test_every_command_explains_itself(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    status, printed, _ = course(capsys, command, "--help")
    assert status == 0 and f"course {command}" in printed and len(printed) > 150


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ((), "COMMAND"),
        (("reset",), "N"),
        (("reset", "three"), "not the number of a lesson"),
        (("reset", "0"), "not the number of a lesson"),
        (("lab", "--port", "99999"), "1 to 65535"),
        (("build", "--", "1"), "nothing after --"),
        (("new-exercise", "7", "name"), "such as 2.7"),
        (("new-exercise", "2.7", "Not-A-Name"), "lower-case words"),
    ],
)
def test_a_wrong_command_line_says_what_is_wrong(
    arguments: tuple[str, ...], reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    status, _, error = course(capsys, *arguments)
    assert status == 2 and reason in error


def test_a_fault_the_user_can_mend_is_one_line_without_a_traceback(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    status, printed, error = course(capsys, "reset", "3")
    assert (status, printed) == (1, "")
    assert error.startswith("course: ") and error.count("\n") == 1 and "not inside the course's repository" in error


@pytest.fixture
def authoring(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Stands in for the authoring commands: notes their arguments, or raises what `raise` holds."""
    import course_utils.authoring

    seen: dict[str, Any] = {}

    def record(name: str) -> Any:
        def run(*arguments: Any, **options: Any) -> int:
            if "raise" in seen:
                raise seen["raise"]
            seen[name] = (arguments, options)
            return 1

        return run

    for name in ("build_command", "verify_command", "new_exercise_command"):
        monkeypatch.setattr(course_utils.authoring, name, record(name))
    monkeypatch.chdir(ROOT / "tests")
    return seen


def test_build_hands_on_its_options_and_the_status(
    authoring: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    assert course(capsys, "build", "--check", "--repository", "me/my-fork", "3", "1", "3")[0] == 1
    assert authoring["build_command"] == ((ROOT,), {"check": True, "repository": "me/my-fork", "only": [1, 3]})


def test_verify_and_new_exercise_hand_on_their_arguments(
    authoring: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    course(capsys, "verify", "2")
    assert authoring["verify_command"] == ((ROOT, [2], (1, 1)), {})
    course(capsys, "verify", "--part", "2/3")
    course(capsys, "new-exercise", "2.7", "sum_of_losses")
    assert authoring["verify_command"] == ((ROOT, [], (2, 3)), {})
    assert authoring["new_exercise_command"] == ((ROOT, "2.7", "sum_of_losses"), {})


@pytest.mark.parametrize("part", ["2", "0/3", "4/3", "/", "2/", "²/3", "one/two"])
def test_a_part_that_is_none_is_refused_with_an_example(
    authoring: dict[str, Any], capsys: pytest.CaptureFixture[str], part: str
) -> None:
    status, _, said = course(capsys, "verify", "--part", part)
    assert status == 2 and f"{part!r} is no part: say for instance 2/3" in said and "verify_command" not in authoring


@pytest.mark.parametrize(("module", "extra"), [("jupytext", "author"), ("tqdm", "grading"), ("distributed", "dask")])
def test_a_missing_package_of_an_extra_is_advice_in_one_line(
    authoring: dict[str, Any], capsys: pytest.CaptureFixture[str], module: str, extra: str
) -> None:
    authoring["raise"] = ModuleNotFoundError(f"No module named '{module}'", name=module)
    status, _, error = course(capsys, "build")
    assert status == 2 and error.count("\n") == 1
    assert f"course build needs {module}" in error and f'pip install -c constraints.txt -e ".[{extra}]"' in error


def test_an_authors_mistake_is_one_line_without_a_traceback(
    authoring: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    from course_utils.authoring.files import AuthoringError

    for command in (["build"], ["verify"], ["new-exercise", "2.7", "sum_of_losses"]):
        authoring["raise"] = AuthoringError("solutions/02.py: no whole solution")
        assert course(capsys, *command) == (1, "", "course: solutions/02.py: no whole solution\n")


def test_a_missing_library_points_to_the_doctor(authoring: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    authoring["raise"] = ModuleNotFoundError("No module named 'torch'", name="torch")
    status, _, error = course(capsys, "verify")
    assert status == 2 and "torch is not installed" in error and "course doctor" in error


def test_a_fault_of_the_package_itself_is_not_hidden(authoring: dict[str, Any]) -> None:
    authoring["raise"] = ModuleNotFoundError("No module named 'course_utils.gone'", name="course_utils.gone")
    with pytest.raises(ModuleNotFoundError):
        cli.main(["verify"])


def test_interrupting_a_command_prints_no_traceback(
    authoring: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    authoring["raise"] = KeyboardInterrupt()
    assert course(capsys, "verify")[::2] == (130, "course: interrupted\n")


def test_the_commands_for_learners_start_without_torch_and_jupyter() -> None:
    heavy = "[name for name in ('torch', 'jupyterlab', 'IPython') if name in sys.modules]"
    source = f"import sys, course_utils.cli, course_utils.doctor; print({heavy})"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", source], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]", "course_utils/__init__.py must import its names lazily"
