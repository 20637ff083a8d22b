"""Returned floats become facts whose factors can be told, and what is no float stays what it is."""

from __future__ import annotations

import torch

from course_utils.exercise import Evidence
from course_utils.lessons.returned import FLOAT, float_beside, floats_beside, number_in
from course_utils.plain import Plain, TensorData


def _returned(result: Plain) -> Evidence:
    return Evidence("a case", "returned", result)


def _value(evidence: Evidence, fact: str) -> list[float] | float:
    value: list[float] | float = evidence.facts[fact].value.tolist()
    return value


def _pair(evidence: Evidence) -> list[Plain]:
    assert isinstance(evidence.result, list)
    return evidence.result


def test_a_float_stands_beside_its_value() -> None:
    seen = float_beside(_returned(0.5), "the loss")
    assert seen.result == FLOAT and _value(seen, "the loss") == 0.5


def test_a_tensor_has_the_value_and_is_no_float() -> None:
    tensor = TensorData(torch.tensor(0.5))
    seen = float_beside(_returned(tensor), "the loss")
    assert seen.result is tensor and _value(seen, "the loss") == 0.5


def test_what_is_no_number_has_no_value() -> None:
    for odd in (None, True, "0.5", [0.5], {}, TensorData(torch.zeros(2))):
        assert number_in(odd) is None
        assert float_beside(_returned(odd), "the loss").facts["the loss"] is None


def test_a_list_of_floats_is_one_row() -> None:
    seen = floats_beside(_returned([0.5, 2]), "the losses")
    assert seen.result == [FLOAT, FLOAT] and _value(seen, "the losses") == [0.5, 2.0]
    assert _value(floats_beside(_returned([]), "the losses"), "the losses") == []


def test_a_list_with_something_else_in_it_is_no_row() -> None:
    seen = floats_beside(_returned([0.5, None]), "the losses")
    assert seen.result == [FLOAT, None] and "the losses" not in seen.facts


def test_a_pair_has_a_fact_each_and_a_tensor_only_where_one_may_stand() -> None:
    tensor = TensorData(torch.tensor(2.0))
    for value in (2.0, tensor):  # the two are alike there
        seen = floats_beside(_returned([0.5, value]), ("the loss", "the norm"), tensors=(1,))
        first, second = _pair(seen)
        assert first == FLOAT and _value(seen, "the norm") == 2.0
        assert isinstance(second, TensorData) and not second.has_graph and second.value == 0
    assert _pair(floats_beside(_returned([tensor, 2.0]), ("the loss", "the norm"), tensors=(1,)))[0] is tensor


def test_where_a_tensor_may_stand_one_with_a_graph_is_told_from_it() -> None:
    graph = TensorData(torch.tensor(2.0), has_graph=True)
    seen = floats_beside(_returned([0.5, graph]), ("the loss", "the norm"), tensors=(1,))
    second = _pair(seen)[1]
    assert isinstance(second, TensorData) and second.has_graph and _value(seen, "the norm") == 2.0


def test_what_is_no_list_stays() -> None:
    evidence = _returned(0.5)
    assert floats_beside(evidence, "the losses") is evidence
