"""What the text freezes: for a while, with a line that is to thaw it again; norms, with their statistics."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gradient_ledger import frozen

EVALUATE = """
def evaluate(models):
    for model in models:
        held = []
        for p in model.parameters():
            p.requires_grad = False
            held.append(p)
    run(models)
    for p in held:
        p.requires_grad = True
"""
FLAGS = """
def measure(net):
    net.body.requires_grad_(False)
    flags = [p.requires_grad for p in net.parameters()]
    run(net)
    for p, flag in zip(net.parameters(), flags):
        p.requires_grad = flag
"""
NEW_HEAD = """
def probe(model, head):
    trained = [p for p in head.parameters() if p.requires_grad]
    for p in model.parameters():
        p.requires_grad = False
    for p in trained:
        p.requires_grad = True
"""


def written(folder: Path, text: str, name: str = "train.py") -> str:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return str(path)


A_PART = """
def perturb(net, x):
    for p in net.parameters():
        p.requires_grad_(False)
    distance(net(x + d)).backward()
    for p in net{}.parameters():
        p.requires_grad_({})
"""


def test_a_part_alone_is_thawed_behind_a_backward_pass(tmp_path: Path) -> None:
    (found,) = frozen.for_a_while([written(tmp_path, A_PART.format(".body", "True"))])
    assert found.a_part
    assert (found.frozen_at.line, found.where.line) == (3, 6)


@pytest.mark.parametrize(
    "text",
    [
        A_PART.format("", "True"),
        A_PART.format(".body", "False"),
        A_PART.format(".body", "True").replace(".backward()", ""),
        A_PART.format(".body", "True").replace("in net.parameters", "in other.parameters"),
    ],
    ids=["the whole", "frozen again", "no pass in between: what is to be trained", "another model"],
)
def test_no_part_is_left_behind(tmp_path: Path, text: str) -> None:
    assert frozen.for_a_while([written(tmp_path, text)]) == ()


@pytest.mark.parametrize(("text", "line"), [(EVALUATE, 4), (FLAGS, 4)], ids=["emptied", "kept too late"])
def test_the_line_is_found_by_which_an_evaluation_remembers_too_little(tmp_path: Path, text: str, line: int) -> None:
    (found,) = frozen.for_a_while([written(tmp_path, text)])
    assert found.where.line == line
    assert found.frozen_at.line < found.thawed_at.line


def test_a_file_may_be_there_by_two_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = written(tmp_path, EVALUATE, "known_by_two_names.py")  # texts are kept by name
    monkeypatch.chdir(tmp_path)
    (found,) = frozen.for_a_while([os.path.basename(file), file])
    assert found.where.file == os.path.basename(file)


@pytest.mark.parametrize(
    "text",
    [
        NEW_HEAD,
        EVALUATE + "def freeze(net):\n    net.requires_grad_(False)\n",
        EVALUATE + "for epoch in range(9):\n    if epoch == 3:\n        net.stem.requires_grad_(False)\n",
        EVALUATE + "train(net)\nnet.stem.requires_grad_(False)\ntrain(net)\n",
        EVALUATE + FLAGS,
    ],
    ids=["what is to be trained next", "another function freezes", "the loop freezes", "a later phase", "two do so"],
)
def test_the_text_does_not_say_who_left_something_frozen(tmp_path: Path, text: str) -> None:
    assert frozen.for_a_while([written(tmp_path, text)]) == ()


def test_what_a_model_freezes_as_it_is_made_leaves_no_doubt(tmp_path: Path) -> None:
    text = "class Net:\n    def __init__(self):\n        self.table.requires_grad_(False)\n"
    assert len(frozen.for_a_while([written(tmp_path, EVALUATE + text)])) == 1


@pytest.mark.parametrize(
    ("body", "line"),
    [("m.eval()\n        m.weight.requires_grad_(False)", 5), ("m.weight.requires_grad_(False)", 0), ("m.eval()", 0)],
    ids=["both", "weights alone", "statistics alone"],
)
def test_norms_are_frozen_where_their_statistics_are(tmp_path: Path, body: str, line: int) -> None:
    found = frozen.norms(
        [written(tmp_path, f"\nfor m in net.modules():\n    if isinstance(m, BatchNorm2d):\n        {body}\n")]
    )
    assert (found.line if found is not None else 0) == line


SOME = """
for x in data:
    set_requires_grad([d_a, d_b], False)
    loss_of(g, x).backward()
    set_requires_grad({}, True)
    loss_of(d_a, x).backward()
"""


@pytest.mark.parametrize("models", ["[d_a]", "d_a", "[d_a, other]"])
def test_of_several_models_some_are_thawed(tmp_path: Path, models: str) -> None:
    (found,) = frozen.for_a_while([written(tmp_path, SOME.format(models))])
    assert found.a_part
    assert (found.frozen_at.line, found.where.line) == (3, 5)


@pytest.mark.parametrize(
    "text",
    [
        SOME.format("[d_a, d_b]"),
        SOME.format("d_a") + "    set_requires_grad(d_b, True)\n",
        SOME.format("other"),
        SOME.format("[d_a]").replace(".backward()", ""),
        SOME.format("[d_a]").replace("set_requires_grad", "use"),
        SOME.format("[d_a]").replace("True", "flag"),
    ],
    ids=["all", "one after the other", "none of them", "no pass in between", "by another name", "a flag"],
)
def test_none_of_several_models_is_left_behind(tmp_path: Path, text: str) -> None:
    assert frozen.for_a_while([written(tmp_path, text)]) == ()
