"""A result as JSON: it comes back as it was, and the schema explains every field."""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path

import gradebooks as made
import jsonschema
import pytest

from course_utils.exercise import Fault, Frame, Raised, Verdict
from course_utils.grading import tables
from course_utils.grading.result import Marked, Note, Result
from course_utils.grading.result_json import from_json, to_json
from gradient_ledger.catalogue.entry import Misconception

SCHEMA = json.loads(Path(tables.__file__).with_name("result.schema.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("result", made.EVERY, ids=lambda result: ascii(result.student))
def test_a_result_comes_back_as_it_was(result: Result) -> None:
    assert from_json(to_json(result, "run")) == (result, "run")


def test_outcomes_faults_and_exceptions_are_all_among_what_comes_back() -> None:
    verdicts = [marked.verdict for marked in made.EVERY[0].exercises]
    assert [verdict.outcome for verdict in verdicts] == ["passed", "failed", "failed", "raised", "not attempted"]
    assert verdicts[1].misconception == "forward-difference" and verdicts[2].faults[0].certain
    assert verdicts[3].faults[0].raised is not None and verdicts[3].faults[0].raised.frames


def _changed(**changes: object) -> str:
    return json.dumps({**json.loads(to_json(made.EVERY[0])), **changes})


@pytest.mark.parametrize(
    "text",
    [
        "",
        to_json(made.EVERY[0])[:-40],
        "[]",
        "[" * 100_000,
        _changed(format=2),
        _changed(student=3),
        _changed(lesson=True),
        _changed(another="field"),
        _changed(exercises=[{}]),
        _changed(notes=[{"kind": "rumour", "text": "", "where": ""}]),
        to_json(made.EVERY[0]).replace('"points": 20,', '"points": 20.5,', 3),
    ],
    ids=["empty", "cut", "list", "deep", "format", "student", "lesson", "extra", "lacking", "kind", "half"],
)
def test_what_is_no_result_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        from_json(text)


@pytest.mark.parametrize("result", made.EVERY, ids=lambda result: ascii(result.student))
def test_the_schema_accepts_real_results(result: Result) -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    jsonschema.validate(json.loads(to_json(result, "run")), SCHEMA)


@pytest.mark.parametrize("wrong", [{"lesson": "1"}, {"points": -1}, {"more": 1}, {"exercises": [{}]}])
def test_the_schema_refuses_others(wrong: dict[str, object]) -> None:
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**json.loads(to_json(made.EVERY[0])), **wrong}, SCHEMA)


def test_the_schema_explains_each_field_and_no_other() -> None:
    places = {"marked": Marked, "verdict": Verdict, "fault": Fault, "mistake": Misconception, "raised": Raised}
    for place, kind in {**places, "frame": Frame, "note": Note}.items():
        assert set(SCHEMA["$defs"][place]["properties"]) == {field.name for field in fields(kind)}, place
    own = {field.name for field in fields(Result)}
    assert set(SCHEMA["properties"]) == own | {"format", "run", "points", "max_points"}
    for one in (SCHEMA, *SCHEMA["$defs"].values()):
        for name, field in one["properties"].items():
            assert "description" in field or "$ref" in field, name
