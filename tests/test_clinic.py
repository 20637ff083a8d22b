"""The clinic of lesson 5: its instruments show what is there and change nothing."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import pytest
import torch
from torch import nn

from course_utils.lessons.lesson2.saved import SavedBytes
from course_utils.lessons.lesson5.clinic import (
    Norms,
    advice,
    examine,
    network,
    norm,
    other_labels,
    report,
    rows,
    share_right,
    training_batches,
    weights_of,
)
from course_utils.lessons.lesson5.recordings import unnamed
from course_utils.lessons.trace import TraceEvent
from course_utils.lessons.training import Batch, LossFn
from gradient_ledger import GradientLedger
from gradient_ledger.events import Finding

SGD = partial(torch.optim.SGD, lr=0.1)
cross_entropy = nn.functional.cross_entropy


def cleared(
    model: nn.Module, optimizer: torch.optim.Optimizer, loss_fn: LossFn, batches: Sequence[Batch], epochs: int
) -> None:
    for _ in range(epochs):
        for x, y in batches:
            optimizer.zero_grad()
            loss_fn(model(x), y).backward()
            optimizer.step()


def never(
    model: nn.Module, optimizer: torch.optim.Optimizer, loss_fn: LossFn, batches: Sequence[Batch], epochs: int
) -> None:
    for _ in range(epochs):
        for x, y in batches:
            loss_fn(model(x), y).backward()
            optimizer.step()


def events(*kinds: str, names: Sequence[str] = ("a.weight", "a.bias", "b.weight")) -> list[TraceEvent]:
    return [{"kind": kind, "step": 0, "window": 0, "names": list(names)} for kind in kinds]


def test_the_network_is_the_same_every_time_and_draws_nothing_from_the_global_state() -> None:
    before = torch.get_rng_state()
    assert torch.equal(weights_of(network()), weights_of(network()))
    assert torch.equal(torch.get_rng_state(), before)


def test_a_network_of_other_labels_is_sure_of_wrong_answers_and_handed_out_as_a_copy() -> None:
    first, second = other_labels(), other_labels()
    assert share_right(first) < 0.1
    with torch.no_grad():
        first.get_parameter("head.weight").zero_()
    assert all(one.get_parameter("head.weight").any() for one in (second, other_labels()))


def test_used_is_own_where_a_loop_clears_and_more_where_it_does_not() -> None:
    batches = training_batches()[:6]
    right, wrong = (examine(loop, SGD, 2, batches=batches) for loop in (cleared, never))
    assert right.norms == right.own and len(right.norms) == 12 and len(right.losses) == 2
    assert wrong.norms[0] == wrong.own[0] and all(u > o for u, o in zip(wrong.norms[1:], wrong.own[1:], strict=True))
    assert [finding.misconception for finding in wrong.ledger.findings()] == ["never-zeroed"]
    assert not right.ledger.findings()


def test_the_instruments_do_not_change_the_training() -> None:
    batches = training_batches()[:6]
    for loop in (cleared, never):
        alone = network()
        loop(alone, SGD(alone.parameters()), cross_entropy, batches, 2)
        assert torch.equal(weights_of(alone), weights_of(examine(loop, SGD, 2, batches=batches).model))


def test_own_is_the_norm_of_the_mean_gradient_since_the_last_step() -> None:
    model, batches = network(), training_batches()[:2]
    with Norms(model) as norms:
        for x, y in batches:
            norms.loss(cross_entropy(model(x), y))
        SGD(model.parameters()).step()
    x, y = (torch.cat(part) for part in zip(*batches, strict=True))
    wanted = norm(torch.autograd.grad(cross_entropy(model(x), y), list(model.parameters())))
    assert norms.own == [pytest.approx(wanted, rel=1e-12)] and norms.used == [0.0]


def test_a_loss_without_a_graph_has_no_own_gradient() -> None:
    model = network()
    with Norms(model) as norms:
        norms.loss(torch.tensor(1.0))
        SGD(model.parameters()).step()
    assert norms.own == [] and norm([]) == 0.0


def test_rows_fold_equal_lines_and_name_layers_where_not_all_take_part() -> None:
    plain = events("clear", "forward", "backward", "accumulate", "step")
    assert rows(plain * 3) == ["clear backward step   (3 times)"]
    partly = plain + events("clear", names=["a.weight", "a.bias"])
    assert rows(partly) == ["clear backward step", "clear(a)"]


def test_a_report_fits_the_page_and_says_when_nothing_was_found(capsys: pytest.CaptureFixture[str]) -> None:
    batches = training_batches()[:2]
    report(examine(never, SGD, 1, batches=batches).ledger)
    said = capsys.readouterr().out
    assert "  name  never-zeroed" in said and "mend" in said and max(map(len, said.splitlines())) <= 78
    report(examine(cleared, SGD, 1, batches=batches).ledger)
    assert capsys.readouterr().out == "the ledger found nothing\n"


def test_saved_bytes_are_let_go_with_a_graph_that_never_went_backward() -> None:
    model, (x, y) = network(), training_batches()[0]
    with SavedBytes(*model.parameters(), x, y) as saved:
        loss = cross_entropy(model(x), y)
        assert saved.now > 0
        del loss
        assert saved.now == 0


def test_a_report_without_its_mend_and_the_advice_are_the_two_halves_of_a_report(
    capsys: pytest.CaptureFixture[str],
) -> None:
    ledger = examine(never, SGD, 1, batches=training_batches()[:2]).ledger
    report(ledger, mend=False)
    seen = capsys.readouterr().out
    advice(ledger)
    mend = capsys.readouterr().out
    report(ledger)
    assert capsys.readouterr().out == seen + mend
    assert "zero_grad" in mend and "mend" not in seen and "zero_grad" not in seen


def test_the_traces_without_names_are_the_five_faults_that_the_lesson_names_and_two_right_loops() -> None:
    first = {
        "trace A": "backward clear step",
        "trace B": "clear backward clear backward clear backward step",
        "trace C": "clear backward step",
        "trace D": "clear(first) backward step(first)",
        "trace E": "clear backward step",
        "right, windows": "clear backward backward backward step",
        "right, two optimizers": "clear backward step(first)",
    }
    found = {title: rows(events) for title, events in unnamed().items()}
    assert {title: lines[0].partition("   (")[0] for title, lines in found.items()} == first
    assert found["trace C"][1] == "step" and found["trace E"][-1] == "clip" and found["trace D"][1] == "step(second)"


def test_a_report_names_no_place_of_a_cell_which_another_run_numbers_otherwise(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "SGD #1 (In[3]:2) holds a, which no model uses, while b, made at In[53]:4, get gradients."
    finding = Finding("layer-replaced-after-optimizer", "error", None, {"text": text}, "Make it later.")
    ledger = GradientLedger()
    monkeypatch.setattr(ledger, "findings", lambda: [finding])
    report(ledger)
    said = " ".join(capsys.readouterr().out.split())
    assert "seen SGD #1 holds a, which no model uses, while b get gradients." in said
