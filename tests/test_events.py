"""What the ledger writes down: every field is explained, frozen, plain, written by the recorder, and read."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import json
import math
import subprocess
import sys
import types
import typing
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from test_rules import FOUND, RIGHT_LOGS

from gradient_ledger import events, picture, report
from gradient_ledger.events import KINDS, Comparison, Ending, Event, Finding, Log, Place, Step
from gradient_ledger.rules import findings

SOURCE = Path(events.__file__)
PACKAGE = SOURCE.parent
CLASSES = [
    one
    for one in vars(events).values()
    if inspect.isclass(one) and dataclasses.is_dataclass(one) and one.__module__ == events.__name__
]


def by_name(one: type) -> str:
    return one.__name__


def owner_of(one: type, name: str) -> str:
    """The class that declares a field: `optimizer` of a `Step` is declared by `Ending`."""
    return next(base.__name__ for base in reversed(one.__mro__) if name in base.__dict__.get("__annotations__", {}))


def declared() -> Iterator[tuple[str, str]]:
    for one in CLASSES:
        for name in (field.name for field in dataclasses.fields(one)):
            if owner_of(one, name) == one.__name__:
                yield one.__name__, name


# ------------------------------------------------------------------ what a field means

PLAIN_WORDS = {
    "the name says it": """
        Place.file Place.line Place.function Finding.severity ParameterFacts.name UnfrozenModule.name Log.events
        Log.parameters Log.optimizers""",
    "the docstring of its class says it": "Clear.how ScalerUpdate.before ScalerUpdate.after",
    "an argument of the call that the event stands for": "Clip.function Clip.limit Unscale.optimizer",
    "explained where the number is given": "Accumulate.pass_number SchedulerStep.optimizer",
}
"""Fields without a docstring, by the reason."""


def explained() -> Iterator[tuple[str, str]]:
    """Fields with a docstring under them."""
    for one in ast.parse(SOURCE.read_text(encoding="utf-8")).body:
        for here, below in zip(one.body, one.body[1:], strict=False) if isinstance(one, ast.ClassDef) else ():
            if isinstance(here, ast.AnnAssign) and isinstance(here.target, ast.Name) and isinstance(below, ast.Expr):
                if isinstance(below.value, ast.Constant) and str(below.value.value).strip().endswith("."):
                    yield one.name, here.target.id


def test_a_field_is_explained_under_it_unless_its_name_says_it_all() -> None:
    plain = {tuple(name.split(".")) for names in PLAIN_WORDS.values() for name in names.split()}
    every, told = set(declared()), set(explained())
    assert plain <= every, f"no such fields: {sorted(plain - every)}"
    assert not plain & told, f"explained, and listed as plain: {sorted(plain & told)}"
    assert sorted(every - told - plain) == []
    assert len(plain) * 8 < len(every)


@pytest.mark.parametrize("one", CLASSES, ids=by_name)
def test_every_class_is_frozen_and_says_what_it_is(one: type) -> None:
    assert one.__dataclass_params__.frozen
    assert one.__doc__ and not one.__doc__.startswith(f"{one.__name__}(")
    with pytest.raises(dataclasses.FrozenInstanceError):
        built(one).anything = 1


def test_every_kind_of_event_is_listed_under_a_word_of_its_own() -> None:
    kinds = [one for one in CLASSES if issubclass(one, Event) and one not in (Event, Ending)]
    assert list(KINDS) == kinds or set(KINDS) == set(kinds)
    assert len({one.kind for one in KINDS}) == len(KINDS) and all(one.kind for one in KINDS)


def test_events_rules_and_catalogue_are_there_without_torch() -> None:
    script = (
        "import sys, gradient_ledger.events, gradient_ledger.rules, gradient_ledger.catalogue, gradient_ledger.report"
    )
    script += "; print([name for name in ('torch', 'numpy', 'matplotlib') if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, "[]\n"), done.stderr[-2000:]


# ------------------------------------------------------------------ plain values


def sample(hint: Any) -> Any:
    """A value of that type, as awkward for JSON as it may be."""
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        return sample(next(one for one in inner if one is not type(None)))
    if origin is typing.Literal:
        return inner[0]
    if origin is tuple:
        return tuple(sample(one) for one in inner if one is not Ellipsis)
    if inspect.isclass(origin) and issubclass(origin, Mapping):
        return {sample(inner[0]): sample(inner[1])}
    if inspect.isclass(hint) and dataclasses.is_dataclass(hint):
        return built(hint)
    return {int: 3, str: "word", bool: True, float: math.nan, Any: Path("somewhere")}[hint]


def built(one: type) -> Any:
    """An instance with every field set."""
    hints = typing.get_type_hints(one)
    return one(**{field.name: sample(hints[field.name]) for field in dataclasses.fields(one)})


@pytest.mark.parametrize("kind", KINDS, ids=by_name)
def test_an_event_is_plain_json(kind: type[Event]) -> None:
    event = built(kind)
    plain = event.plain()
    assert json.loads(json.dumps(plain, allow_nan=False)) == plain
    assert plain["kind"] == kind.kind and plain["where"]["line"] == 3
    mine = {field.name for field in dataclasses.fields(kind)} - {field.name for field in dataclasses.fields(Event)}
    assert set(plain["details"]) == set(event.details()) == mine
    least = {"number", "step", "window"} | {
        field.name
        for field in dataclasses.fields(kind)
        if field.default is field.default_factory is dataclasses.MISSING
    }
    hints = typing.get_type_hints(kind)
    assert json.dumps(kind(**{name: sample(hints[name]) for name in least}).plain(), allow_nan=False)


def test_a_finding_is_plain_json_whatever_its_evidence() -> None:
    where = Place("train.py", 3)
    evidence = {"text": "seen", "at": where, "set": {1}, "nested": {2: (math.inf, -math.inf)}, "odd": Path("x")}
    plain = Finding("never-zeroed", "error", where, evidence | {"found": built(Comparison)}, "mend").plain()
    assert json.loads(json.dumps(plain, allow_nan=False)) == plain
    assert plain["evidence"]["nested"] == {"2": ["inf", "-inf"]}
    assert plain["evidence"]["at"]["line"] == 3 and plain["evidence"]["found"]["ratio"] == "nan"


def test_a_whole_log_is_plain_json() -> None:
    for case in FOUND[::8]:
        log = case.write()
        plain = report.as_plain(log, findings(log))
        assert json.loads(json.dumps(plain, allow_nan=False)) == plain
        assert len(plain["events"]) == len(log.events)


def test_a_place_names_a_file_or_a_cell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").write_text("one()\n    two()\n")
    place = Place(str(tmp_path / "train.py"), 2, "main")
    assert (place.short, str(place), place.code) == ("train.py:2", "train.py:2", "two()")
    assert str(Place("/elsewhere/train.py", 2)) == "train.py:2"
    through = dataclasses.replace(place, through="accelerate/optimizer.py:172")
    assert str(through) == "train.py:2 (through accelerate/optimizer.py:172)"
    assert through.plain()["through"] == "accelerate/optimizer.py:172" and "through" not in place.plain()
    assert Place("<ipython-input-5-0a1b2c>", 3).short == str(Place("<ipython-input-5-0a1b2c>", 3)) == "In[5]:3"
    assert Place("ipykernel_99/12345.py", 3).short == "cell:3"
    assert Place("nowhere.py", 1).code == ""


# ------------------------------------------------------------------ who writes the fields

EVERY = {name for kind in KINDS for name in (field.name for field in dataclasses.fields(kind))}
FIELDS = {kind.__name__: {field.name for field in dataclasses.fields(kind)} for kind in [*KINDS, Ending]}
OPENS = {"open_pass": "Backward"}
"""Functions that hand their keywords on to an event."""


def recorder() -> Iterator[tuple[str, ast.AST]]:
    """Every node of the modules that stand between torch and the log."""
    for path in sorted(PACKAGE.glob("*.py")):
        if path.name not in ("events.py", "report.py", "picture.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                yield path.name, node


def test_what_the_recorder_writes_is_a_field_of_that_event() -> None:
    written = set()
    for file, node in recorder():
        if not isinstance(node, ast.Call):
            continue
        called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        first = node.args[0].id if node.args and isinstance(node.args[0], ast.Name) else ""
        kind = OPENS.get(called) or (first if called in ("emit", "join") else "")
        if kind in FIELDS:
            written |= {(file, node.lineno, kind, word.arg) for word in node.keywords if word.arg is not None}
    assert len(written) > 40
    assert sorted(one for one in written if one[3] not in FIELDS[one[2]]) == []


def test_what_is_added_to_a_draft_is_a_field_of_some_event() -> None:
    found = set()
    for file, node in recorder():
        key: Any = None
        held: Any = None
        if isinstance(node, ast.Subscript):
            held, key = node.value, node.slice
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if node.func.attr in ("get", "setdefault") and node.args:
                held, key = node.func.value, node.args[0]
        name = getattr(held, "attr", getattr(held, "id", ""))
        if name == "fields" and isinstance(key, ast.Constant) and isinstance(key.value, str):
            found.add((file, key.value))
    assert len(found) > 40
    assert sorted((file, key) for file, key in found if key not in EVERY) == []


def test_every_field_of_an_event_is_written_by_the_recorder() -> None:
    words = set()
    for _, node in recorder():
        if isinstance(node, ast.keyword) and node.arg:
            words.add(node.arg)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            words.add(node.value)
    assert sorted(EVERY - words) == []


# ------------------------------------------------------------------ who reads the fields

FOR_READERS = {
    "Event.thread": "which thread did it, for whoever reads the JSON",
    "Comparison.norm": "the two lengths behind `ratio`",
    "Comparison.reference_norm": "the two lengths behind `ratio`",
}
"""Fields that only the JSON shows, and why they are there."""


def test_every_field_is_read_by_a_rule_or_shown_to_somebody(monkeypatch: pytest.MonkeyPatch) -> None:
    """On all logs of the rules' tables: what rules, report and picture ask for, JSON apart."""
    owners = {(one, field.name): owner_of(one, field.name) for one in CLASSES for field in dataclasses.fields(one)}
    logs = [case.write() for case in FOUND + RIGHT_LOGS]
    read: set[str] = set()

    def noted(thing: Any, name: str) -> Any:
        owner = owners.get((type(thing), name))
        if owner is not None:
            read.add(f"{owner}.{name}")
        return object.__getattribute__(thing, name)

    for one in CLASSES:
        monkeypatch.setattr(one, "__getattribute__", noted, raising=False)
    for log in logs:
        found = findings(log)
        report.as_text(log, found), report.table(log), report.timeline(log, found=found)
        picture.alternative_text(log, found, picture.columns(log, found, 6))
    monkeypatch.undo()
    every = {f"{owner}.{name}" for (_, name), owner in owners.items()}
    listed = set(FOR_READERS)
    assert sorted(every - read - listed) == [], "nobody reads these"
    assert sorted(listed & read) == [], "these are read: strike them from the table"
    assert sorted(listed - every) == [], "these are gone: strike them from the table"


def test_lines_count_the_places_its_passes_came_from() -> None:
    one, other = (("train.py", 3),), (("train.py", 4),)
    assert Step(number=0, step=0, window=0, trails=(one, other, one)).lines == 2
    assert Log(()).finished and not Log(()).dropped


def test_the_picture_marks_a_pass_on_old_gradients_and_none_before_there_are_any() -> None:
    log = next(case for case in FOUND if case.name == "never-zeroed").write()
    drawn = [column for column in picture.columns(log, findings(log), 3) if column.word == "backward"]
    assert [column.marks for column in drawn] == [(), (1,), (1,)]
