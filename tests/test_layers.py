"""The house: imports point one way, and what runs a learner's code never sees a right answer."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "course_utils"
INSTRUMENT = ROOT / "gradient_ledger"

# A module may import from rooms that stand lower than its own, or from its own.
FLOORS = [
    {"plain", "record", "data"},
    {"exercise", "definitions"},
    {"checks"},
    {"lessons"},
    {"feedback", "standing"},
    {"learner", "widgets"},
    {"authoring", "workbook", "doctor"},
    {"grading"},
    {"cli", "__main__"},
]


def _room(module: str) -> str:
    return module.split(".")[1] if "." in module else ""


def _imports(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("course_utils"):
            rooms = {_room(node.module)} if "." in node.module else {alias.name for alias in node.names}
            found |= rooms
        elif isinstance(node, ast.Import):
            found |= {_room(alias.name) for alias in node.names if alias.name.startswith("course_utils")}
    return found - {""}


@pytest.mark.parametrize("path", sorted(INSTRUMENT.rglob("*.py")), ids=lambda path: str(path.relative_to(INSTRUMENT)))
def test_the_instrument_knows_nothing_of_the_course(path: Path) -> None:
    assert "course_utils" not in path.read_text(encoding="utf-8")


def test_any_module_of_the_instrument_can_be_imported_first() -> None:
    """Two that import each other may do so in one order and fail in the other."""
    names = [".".join(path.relative_to(ROOT).with_suffix("").parts) for path in sorted(INSTRUMENT.rglob("*.py"))]
    names = [name.removesuffix(".__init__") for name in names if not name.endswith("__main__")]
    script = "\n".join(
        [
            "import importlib, sys, torch",
            f"for name in {names!r}:",
            "    for loaded in [one for one in sys.modules if one.partition('.')[0] == 'gradient_ledger']:",
            "        del sys.modules[loaded]",
            "    importlib.import_module(name)",
        ]
    )
    ended = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr


@pytest.mark.parametrize("path", sorted((INSTRUMENT / "rules").glob("*.py")), ids=lambda path: path.name)
def test_a_rule_reads_the_log_alone(path: Path) -> None:
    """Neither the user's text nor the recorder: what a rule needs of them stands in an event."""
    allowed = ("gradient_ledger.events", "gradient_ledger.catalogue", "gradient_ledger.rules")
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        for name in names:
            assert name.startswith(allowed) or not name.startswith("gradient_ledger"), name
            assert name.split(".")[0] not in {"ast", "inspect", "linecache", "torch"}, name


def _modules() -> list[Path]:
    return sorted(path for path in PACKAGE.rglob("*.py") if path != PACKAGE / "__init__.py")


@pytest.mark.parametrize("path", _modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_module_imports_only_from_its_own_floor_or_lower(path: Path) -> None:
    own = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
    floor = {room: number for number, rooms in enumerate(FLOORS) for room in rooms}
    assert own in floor, f"{own} is a new room: give it a floor in this test"
    for room in _imports(path):
        if room == own:
            continue
        assert room in floor, f"{room} is a new room: give it a floor in this test"
        assert floor[room] <= floor[own], f"{path.name} imports course_utils.{room}, which stands above {own}"


def test_observing_loads_nothing_that_knows_an_answer() -> None:
    code = (
        "import sys; from pathlib import PurePath; from course_utils.checks import knows_an_answer\n"
        "from course_utils import learner; from course_utils.lessons import lessons\n"
        "for lesson in lessons():\n"
        "    for exercise in lesson.exercises:\n"
        "        learner.observe_all(exercise, lambda *a, **k: None, exercise.cases(0)[:1])\n"
        "found = [name for name in sys.modules if name.startswith('course_utils')]\n"
        "found = [name for name in found if knows_an_answer(PurePath(*name.split('.')))]\n"
        "assert not found, found"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]


def test_importing_the_package_loads_neither_matplotlib_nor_widgets_nor_answers() -> None:
    code = (
        "import sys, course_utils\n"
        "course_utils.check, course_utils.predict\n"
        "heavy = ('matplotlib', 'ipywidgets', 'IPython', 'jupyterlab', 'course_utils.checks.judge', 'safetensors')\n"
        "found = [name for name in heavy if name in sys.modules]\n"
        "assert not found, found"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
