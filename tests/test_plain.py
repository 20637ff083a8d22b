"""Plain data crosses from one process to another unchanged, and bytes that are not plain data do no harm."""

from __future__ import annotations

import json
import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from course_utils.exercise import Change, Evidence, Frame, Raised
from course_utils.plain import (
    MAX_ITEMS,
    MAX_TEXT,
    Opaque,
    Plain,
    TensorData,
    from_bytes,
    short_repr,
    to_bytes,
    to_plain,
)

DTYPES = [
    torch.float64,
    torch.float32,
    torch.float16,
    torch.bfloat16,
    torch.int64,
    torch.int32,
    torch.uint8,
    torch.bool,
    torch.complex64,
]


@st.composite
def tensors(draw: st.DrawFn) -> TensorData:
    shape = draw(st.lists(st.integers(0, 3), max_size=3))
    numbers = st.floats(width=16) | st.integers(0, 100).map(float)
    count = math.prod(shape)
    values = draw(st.lists(numbers, min_size=count, max_size=count))
    dtype = draw(st.sampled_from(DTYPES))
    if not (dtype.is_floating_point or dtype.is_complex):
        values = [value if math.isfinite(value) and 0 <= value < 200 else 1.0 for value in values]
    value = torch.tensor(values, dtype=torch.float64).reshape(shape).to(dtype)
    return TensorData(value, "cpu", draw(st.booleans()), draw(st.booleans()))


texts = st.text(max_size=20)
leaves = (
    st.none()
    | st.booleans()
    | st.integers(-(2**255), 2**255)
    | st.floats()
    | texts
    | tensors()
    | st.builds(Opaque, texts, texts, st.booleans())
)
trees = st.recursive(
    leaves,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts | st.just("$"), inner, max_size=4),
    max_leaves=12,
)


def _same(a: Plain, b: Plain) -> bool:
    if type(a) is not type(b):
        return False
    if isinstance(a, TensorData):
        facts_agree = (a.device, a.requires_grad, a.has_graph) == (b.device, b.requires_grad, b.has_graph)
        kind_agrees = a.value.dtype == b.value.dtype and a.value.shape == b.value.shape
        return facts_agree and kind_agrees and _bits(a.value) == _bits(b.value)
    if isinstance(a, dict):
        return list(a) == list(b) and all(_same(a[key], b[key]) for key in a)
    if isinstance(a, list):
        return len(a) == len(b) and all(_same(x, y) for x, y in zip(a, b, strict=True))
    if isinstance(a, float):
        return a == b or (math.isnan(a) and math.isnan(b))
    return bool(a == b)


def _bits(tensor: torch.Tensor) -> list[int]:
    return [] if tensor.numel() == 0 else tensor.contiguous().reshape(-1).view(torch.uint8).tolist()


@given(trees)
@settings(deadline=None)
def test_what_is_written_is_read_back_bit_for_bit(tree: Plain) -> None:
    assert _same(from_bytes(to_bytes(tree)), tree)


@given(trees)
@settings(deadline=None)
def test_plain_data_is_plain_already(tree: Plain) -> None:
    def alive(item: Plain) -> object:
        if isinstance(item, TensorData):
            return item.value
        if isinstance(item, dict):
            return {key: alive(value) for key, value in item.items()}
        return [alive(value) for value in item] if isinstance(item, list) else item

    once = to_plain(alive(tree))
    assert _same(from_bytes(to_bytes(once)), once)


@given(st.binary(max_size=200))
@settings(deadline=None)
def test_bytes_that_are_not_evidence_are_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match="not a piece of evidence"):
        from_bytes(data)


@given(trees, st.data())
@settings(deadline=None)
def test_evidence_that_was_cut_short_is_refused(tree: Plain, data: st.DataObject) -> None:
    whole = to_bytes(tree)
    with pytest.raises(ValueError, match="not a piece of evidence"):
        from_bytes(whole[: data.draw(st.integers(0, len(whole) - 1))])


@given(trees, st.data())
@settings(deadline=None)
def test_a_changed_byte_is_refused_or_read_as_plain_data(tree: Plain, data: st.DataObject) -> None:
    whole = bytearray(to_bytes(tree))
    whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    try:
        read = from_bytes(bytes(whole))
    except ValueError:
        return
    to_bytes(read)


def test_a_size_that_promises_more_than_there_is_costs_no_memory() -> None:
    with pytest.raises(ValueError, match="not a piece of evidence"):
        from_bytes((2**62).to_bytes(8, "little") + b"[]")


def test_a_tree_nested_without_end_is_refused() -> None:
    tree = (b"[" * 100_000) + (b"]" * 100_000)
    with pytest.raises(ValueError, match="not a piece of evidence"):
        from_bytes(len(tree).to_bytes(8, "little") + tree + to_bytes(None)[12:])


def test_a_pickle_is_not_read() -> None:
    import pickle

    with pytest.raises(ValueError, match="not a piece of evidence"):
        from_bytes(pickle.dumps([1, 2]))


def test_evidence_crosses_with_all_that_belongs_to_it() -> None:
    evidence = Evidence(
        case="a pair",
        status="raised",
        result=to_plain({"w": torch.ones(2), "n": [float("inf"), None]}),
        facts={"calls": 3, "grads": {"w": None}},
        changes=(Change("x", "input", "[1.0]", "[2.0]"),),
        raised=Raised("ValueError", "of my own", (Frame("answer", 3, "raise"), Frame("helper", 9, "x"))),
        printed="hello",
        warned=("careful",),
    )
    read = Evidence.from_plain(from_bytes(to_bytes(evidence.to_plain())))
    assert _same(read.to_plain()["result"], evidence.to_plain()["result"])
    for name in ("case", "status", "facts", "changes", "raised", "printed", "warned"):
        assert getattr(read, name) == getattr(evidence, name), name


@pytest.mark.parametrize("data", [None, [], {}, {"case": "x"}, "text", {"case": 1, "status": "passed", "raised": None}])
def test_what_is_not_evidence_is_refused(data: Plain) -> None:
    with pytest.raises(ValueError):
        Evidence.from_plain(data)


def test_tensors_that_share_memory_are_each_their_own_afterwards() -> None:
    base = torch.arange(6.0)
    first, second = to_plain([base, base.reshape(2, 3).T])
    base.zero_()
    read = from_bytes(to_bytes([first, second]))
    assert read[0].value.tolist() == [0, 1, 2, 3, 4, 5]
    assert read[1].value.tolist() == [[0, 3], [1, 4], [2, 5]]


@pytest.mark.parametrize(
    "tensor",
    [
        torch.eye(3).to_sparse(),
        torch.ones(2, dtype=torch.complex64).conj(),
        torch.ones(4).expand(2, 4),
        torch.empty(0),
        torch.tensor(1.5),
    ],
    ids=["sparse", "conjugated", "expanded", "empty", "0-d"],
)
def test_a_tensor_of_any_layout_is_kept_by_its_values(tensor: torch.Tensor) -> None:
    read = from_bytes(to_bytes(to_plain(tensor)))
    assert torch.equal(read.value, tensor.to_dense().resolve_conj())


def test_what_has_no_values_is_described() -> None:
    assert isinstance(to_plain(torch.empty(3, device="meta")), Opaque)


def test_long_text_and_long_lists_are_cut() -> None:
    assert len(to_plain("x" * 10**6)) < MAX_TEXT + 100
    many = to_plain(list(range(MAX_ITEMS + 1)))
    assert isinstance(many, Opaque) and many.too_large


def test_the_limits_hold_for_the_whole_and_not_only_for_its_parts() -> None:
    parts = to_plain([torch.zeros(1_500_000), torch.zeros(1_500_000)])
    assert isinstance(parts[0], TensorData) and isinstance(parts[1], Opaque)


def test_an_integer_without_end_is_described() -> None:
    assert isinstance(to_plain(10**100), Opaque)


def test_json_holds_nothing_that_json_does_not_know() -> None:
    wire = to_bytes([float("nan"), float("inf"), -0.0])
    size = int.from_bytes(wire[:8], "little")
    assert "NaN" not in json.dumps(json.loads(wire[8 : 8 + size]), allow_nan=False)


def test_a_short_text_is_short() -> None:
    assert len(short_repr("x" * 1000)) <= 120
    assert " at 0x" not in short_repr(object())
