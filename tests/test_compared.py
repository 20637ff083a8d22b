"""What a loss compares with what, read from its graph."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from gradient_ledger import compared, graph
from gradient_ledger.source import target

torch.manual_seed(0)
VALUE, ACTIONS, OTHER = nn.Linear(4, 1), nn.Linear(4, 3), nn.Linear(4, 3)
TABLE = nn.Parameter(torch.randn(5))
NOW, NEXT = torch.randn(6, 4), torch.randn(6, 4)
REWARD, GOES_ON = torch.randn(6, 1), torch.tensor([1.0, 0, 1, 1, 0, 1])[:, None]
AT = torch.tensor([0, 1, 2, 3, 4, 0])


def ends(loss: Tensor) -> int:
    found = compared.compared(loss.grad_fn).found
    return sum(bool(compared.bootstraps(one)) for one in found if one.is_difference)


def best(states: Tensor) -> Tensor:
    return ACTIONS(states).max(1, keepdim=True).values


def masked(values: Tensor) -> Tensor:
    values = values * 1.0
    values[GOES_ON == 0] = 0.0
    return values


def slope() -> Tensor:
    x = NOW.clone().requires_grad_()
    found: Tensor = torch.autograd.grad(
        nn.Sequential(OTHER, nn.Tanh(), nn.Linear(3, 1))(x).sum(), x, create_graph=True
    )[0]
    return found[:, :1]


BOOTSTRAPS: dict[str, tuple[Callable[[], Tensor], int]] = {
    "the next value": (lambda: F.mse_loss(VALUE(NOW), REWARD + 0.9 * VALUE(NEXT)), 1),
    "the best of the next": (lambda: F.huber_loss(VALUE(NOW), REWARD + 0.9 * GOES_ON * best(NEXT)), 1),
    "the target first": (lambda: F.smooth_l1_loss(REWARD + 0.9 * VALUE(NEXT), VALUE(NOW)), 1),
    "a difference, squared": (lambda: (REWARD + 0.9 * VALUE(NEXT) - VALUE(NOW)).square().mean(), 1),
    "its absolute value": (lambda: (VALUE(NOW) - (REWARD + 0.9 * VALUE(NEXT))).abs().sum(), 1),
    "a mask in place of a discount": (lambda: F.mse_loss(VALUE(NOW), REWARD + GOES_ON * VALUE(NEXT)), 1),
    "ends written into it": (lambda: F.mse_loss(VALUE(NOW), REWARD + 0.9 * masked(VALUE(NEXT))), 1),
    "ends chosen": (
        lambda: F.mse_loss(VALUE(NOW), torch.where(GOES_ON > 0, REWARD + 0.9 * VALUE(NEXT), REWARD)),
        1,
    ),
    "two steps": (lambda: F.mse_loss(VALUE(NOW), REWARD + 0.9 * (REWARD + 0.9 * VALUE(NEXT))), 1),
    "a table": (lambda: F.mse_loss(TABLE[AT], REWARD[:, 0] + 0.9 * TABLE[AT.flip(0)]), 1),
    "weighed by what is learned": (
        lambda: TABLE.sum() * F.mse_loss(VALUE(NOW), REWARD + 0.9 * VALUE(NEXT)),
        1,
    ),
    "two critics": (
        lambda: F.mse_loss(VALUE(NOW), REWARD + 0.9 * best(NEXT)) + F.mse_loss(best(NOW), REWARD + 0.9 * VALUE(NEXT)),
        2,
    ),
    "weighed": (lambda: (GOES_ON * (VALUE(NOW) - (REWARD + 0.9 * VALUE(NEXT))) ** 2).mean(), 1),
    "detached": (lambda: F.mse_loss(VALUE(NOW), REWARD + 0.9 * VALUE(NEXT).detach()), 0),
    "no reward": (lambda: F.mse_loss(VALUE(NOW), 0.9 * VALUE(NEXT)), 0),
    "no discount": (lambda: F.mse_loss(VALUE(NOW), REWARD + VALUE(NEXT)), 0),
    "a rate above one": (lambda: F.mse_loss(VALUE(NOW), REWARD + 1.5 * VALUE(NEXT)), 0),
    "a derivative": (lambda: F.mse_loss(slope(), REWARD + 0.9 * VALUE(NOW)), 0),
    "a product": (lambda: (VALUE(NOW) * (REWARD + 0.9 * VALUE(NEXT))).mean(), 0),
}


@pytest.mark.parametrize("name", BOOTSTRAPS)
def test_a_target_made_of_the_next_value_is_known_by_its_graph(name: str) -> None:
    make, wanted = BOOTSTRAPS[name]
    assert ends(make()) == wanted


def test_a_mask_alone_is_a_discount_only_where_that_is_asked_for() -> None:
    for name, wanted in (("a mask in place of a discount", False), ("the best of the next", True)):
        (one,) = compared.compared(BOOTSTRAPS[name][0]().grad_fn).found
        assert compared.bootstraps(one)
        assert bool(compared.bootstraps(one, masks=False)) == wanted


def soft(logits: Tensor) -> Tensor:
    return F.softmax(logits, dim=1)


def log(logits: Tensor) -> Tensor:
    return F.log_softmax(logits, dim=1)


LABELS = torch.tensor([0, 1, 2, 0, 1, 2])
BOTH = {id(ACTIONS.weight), id(OTHER.weight)}
TAUGHT: dict[str, tuple[Callable[[], Tensor], set[int]]] = {
    "a divergence alone": (lambda: F.kl_div(log(ACTIONS(NOW)), soft(OTHER(NOW)), reduction="batchmean"), BOTH),
    "labels for one": (
        lambda: (
            F.cross_entropy(ACTIONS(NOW), LABELS) + F.kl_div(log(ACTIONS(NOW)), soft(OTHER(NOW)), reduction="batchmean")
        ),
        {id(OTHER.weight)},
    ),
    "logs on both sides": (
        lambda: (
            F.nll_loss(log(ACTIONS(NOW)), LABELS)
            + F.kl_div(log(ACTIONS(NOW)), log(OTHER(NOW)), log_target=True, reduction="batchmean")
        ),
        {id(OTHER.weight)},
    ),
    "soft labels": (
        lambda: F.cross_entropy(ACTIONS(NOW), LABELS) + F.cross_entropy(ACTIONS(NOW), soft(OTHER(NOW))),
        {id(OTHER.weight)},
    ),
    "a distance": (
        lambda: F.cross_entropy(ACTIONS(NOW), LABELS) + (ACTIONS(NOW) - OTHER(NOW)).square().mean(),
        {id(OTHER.weight)},
    ),
    "labels for both": (
        lambda: F.cross_entropy(ACTIONS(NOW) + OTHER(NOW), LABELS) + F.mse_loss(ACTIONS(NOW), OTHER(NOW)),
        set(),
    ),
    "directions": (
        lambda: F.cross_entropy(ACTIONS(NOW), LABELS) - F.cosine_similarity(ACTIONS(NOW), OTHER(NOW)).mean(),
        {id(OTHER.weight)},
    ),
    "a learned weight of a loss": (lambda: OTHER.weight.sum().exp() * F.cross_entropy(ACTIONS(NOW), LABELS), set()),
    "a learned weight of each": (lambda: (OTHER(NOW) * ACTIONS(NOW)).mean(), set()),
    "one network on both sides": (lambda: F.mse_loss(ACTIONS(NOW), ACTIONS(NEXT)), set()),
    "apart where they do not match": (
        lambda: (
            (ACTIONS(NOW) - OTHER(NOW)).square().mean()
            + (1 - (ACTIONS(NOW) - OTHER(NOW).roll(1, 0)).square().sum(1)).clamp(min=0).mean()
        ),
        set(),
    ),
    "apart by a negative weight": (
        lambda: F.mse_loss(ACTIONS(NOW), OTHER(NOW)) + -0.1 * F.mse_loss(ACTIONS(NOW), OTHER(NEXT)),
        set(),
    ),
    "twice the same way": (
        lambda: -(-F.mse_loss(ACTIONS(NOW), OTHER(NOW)) - 0.1 * F.mse_loss(ACTIONS(NOW), OTHER(NEXT))),
        BOTH,
    ),
    "detached": (lambda: F.mse_loss(ACTIONS(NOW), OTHER(NOW).detach()), set()),
    "a generator against both": (lambda: F.mse_loss(ACTIONS(OTHER(NOW) @ OTHER.weight), OTHER(NOW)), set()),
}


@pytest.mark.parametrize("name", TAUGHT)
def test_what_is_reached_through_one_side_alone(name: str) -> None:
    make, wanted = TAUGHT[name]
    found = {leaf for mine, _ in compared.alone(compared.compared(make().grad_fn)) for leaf in mine}
    assert found & BOTH == wanted


ENCODER, PREDICTOR = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8)), nn.Linear(8, 8)


def alike(one: Tensor, other: Tensor) -> Tensor:
    return -(F.normalize(one, dim=1) * F.normalize(other, dim=1)).sum(1).mean()


def views(compare: Callable[[Tensor, Tensor], Tensor], change: Callable[[Tensor], Tensor] = lambda z: z) -> Tensor:
    one, other = ENCODER(NOW), ENCODER(NEXT)
    return compare(PREDICTOR(one), change(other)) / 2 + compare(PREDICTOR(other), change(one)) / 2


MIRRORS: dict[str, tuple[Callable[[], Tensor], bool]] = {
    "cosines by hand": (lambda: views(alike), True),
    "cosines": (lambda: views(lambda p, z: 1 - F.cosine_similarity(p, z).mean()), True),
    "distances": (lambda: views(F.mse_loss), True),
    "detached": (lambda: views(alike, Tensor.detach), False),
    "another term": (lambda: views(F.mse_loss) + torch.relu(1 - ENCODER(NOW).std(0)).mean(), False),
    "an anchor and two others": (lambda: alike(z := ENCODER(NOW), ENCODER(NEXT)) - alike(z, ENCODER(NEXT + 1)), False),
    "one way alone": (lambda: F.mse_loss(PREDICTOR(ENCODER(NOW)), ENCODER(NEXT)), False),
    "no predictor": (
        lambda: F.mse_loss(ENCODER(NOW), ENCODER(NEXT)) * 2 + F.mse_loss(ENCODER(NEXT), ENCODER(NOW)),
        False,
    ),
}


@pytest.mark.parametrize("name", MIRRORS)
def test_two_views_that_are_predicted_from_each_other(name: str) -> None:
    make, wanted = MIRRORS[name]
    assert bool(compared.mirrored(compared.compared(make().grad_fn))) == wanted


def drawn() -> tuple[Tensor, Tensor]:
    mean = ACTIONS(NOW)
    return torch.normal(mean, 0.1), mean


def weighed() -> Tensor:
    sample, mean = drawn()
    return ((sample - mean) ** 2).mean()


DRAWS: dict[str, tuple[Callable[[], Tensor], int]] = {
    "a layer gets it": (lambda: nn.Linear(3, 1)(drawn()[0]).mean(), 1),
    "two draws": (lambda: (drawn()[0] * nn.Linear(3, 1)(drawn()[0])).mean(), 2),
    "a learned deviation": (lambda: torch.normal(0.0, ACTIONS(NOW).exp()).mean(), 1),
    "compared with its mean": (weighed, 0),
    "noise": (lambda: (ACTIONS(NOW) + torch.normal(0.0, torch.ones(6, 3))).mean(), 0),
}


@pytest.mark.parametrize("name", DRAWS)
def test_a_draw_that_has_a_graph_of_zeros(name: str) -> None:
    make, wanted = DRAWS[name]
    assert len(compared.draws(compared.every(make().grad_fn))) == wanted


def test_many_comparisons_are_not_followed() -> None:
    teach, predict = TAUGHT["labels for one"][0], MIRRORS["distances"][0]
    for make in (teach, predict):
        parts = compared.compared(make().grad_fn)
        many = compared.Compared(parts.found * 10, parts.rest, [])
        assert list(compared.alone(parts)) or compared.mirrored(parts)
        assert not list(compared.alone(many)) and not compared.mirrored(many)


def test_a_graph_that_is_too_large_is_not_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    loss = views(F.mse_loss)
    monkeypatch.setattr(graph, "MOST_NODES", 3)
    assert compared.every(loss.grad_fn) == set()
    assert compared.mirrored(compared.compared(loss.grad_fn)) == []


def test_what_was_freed_is_not_asked_for() -> None:
    value = 0.9 * VALUE(NEXT) * GOES_ON
    value.sum().backward()
    assert graph.saved(value.grad_fn, "other") is None
    assert graph.saved(SimpleNamespace(_saved_self=3), "self") == 3
    assert graph.saved(SimpleNamespace(), "self") is None


@pytest.mark.parametrize(
    "text, line",
    [
        ("def f(r, q):\n    wanted = r + 0.9 * q\n    wanted.backward()\n", 2),
        ("gamma = 1\ndef g(r, q):\n    return r + gamma * q\ndef f(loss):\n    (loss + 2 * loss).backward()\n", 3),
        ("def f(x, y):\n    z = x + 3 * y\n    z.backward()\n", None),
        ("def f(r, q):\n    return r + q\n", None),
    ],
)
def test_the_line_of_a_target(tmp_path: Any, text: str, line: int | None) -> None:
    file = tmp_path / "learn.py"
    file.write_text(text)
    found = target(((str(file), len(text.splitlines())),), [str(file)])
    assert (found.line if found is not None else None) == line


def test_the_line_of_a_target_that_may_add_other_things(tmp_path: Any) -> None:
    for text, known in (("known + mask * net(x)", False), ("reward + mask * net(x)", True)):
        file = tmp_path / f"learn_{known}.py"
        file.write_text(f"def f():\n    return {text}\n")
        assert target(((str(file), 2),), [str(file)]) is not None
        assert (target(((str(file), 2),), [str(file)], sure=True) is not None) == known


def predicted(cut: bool, also: bool = False, shared: bool = True) -> Tensor:
    """Both ways between two views: one other view has a graph, the other one as `cut` says."""
    one, other = OTHER(NOW), OTHER(NEXT)
    ahead = PREDICT if shared else ALONE
    seen = other.detach() if cut else other
    loss = F.mse_loss(PREDICT(one), seen) + F.mse_loss(ahead(other), one)
    return loss + F.mse_loss(VALUE(NOW), REWARD) if also else loss


PREDICT, ALONE = nn.Sequential(nn.Linear(3, 3), nn.Tanh()), nn.Linear(3, 3)
HALVES: dict[str, tuple[Callable[[], Tensor], bool]] = {
    "one side is a constant": (lambda: predicted(True), True),
    "no side is a constant": (lambda: predicted(False), False),
    "something else is trained as well": (lambda: predicted(True, also=True), False),
    "another predictor": (lambda: predicted(True, shared=False), False),
}


@pytest.mark.parametrize("name", HALVES)
def test_one_view_of_two_has_a_graph(name: str) -> None:
    make, wanted = HALVES[name]
    assert bool(compared.half_mirrored(compared.compared(make().grad_fn))) == wanted


CODES = nn.Embedding(5, 3)


def quantised(make: Callable[[Tensor, Tensor], Tensor]) -> Callable[[], Tensor]:
    return lambda: make(CODES(AT % 5), OTHER(NOW))


TWICE: dict[str, tuple[Callable[[], Tensor], bool]] = {
    "the codebook's constant is lost": (quantised(lambda q, z: F.mse_loss(q, z) + F.mse_loss(z, q.detach())), True),
    "the commitment's is lost": (quantised(lambda q, z: F.mse_loss(q, z.detach()) + F.mse_loss(z, q)), True),
    "both are lost": (quantised(lambda q, z: F.mse_loss(q, z) + 0.5 * F.mse_loss(z, q)), True),
    "squares": (quantised(lambda q, z: ((q - z) ** 2).sum() + ((z - q.detach()) ** 2).sum()), True),
    "squares and absolute values": (quantised(lambda q, z: ((q - z) ** 2).sum() + (q - z).abs().sum()), False),
    "none is lost": (quantised(lambda q, z: F.mse_loss(q, z.detach()) + F.mse_loss(z, q.detach())), False),
    "one term": (quantised(lambda q, z: F.mse_loss(q, z)), False),
    "another constant": (quantised(lambda q, z: F.mse_loss(q, z) + F.mse_loss(z, NOW[:, :3])), False),
    "no table": (lambda: F.mse_loss(a := OTHER(NOW), b := OTHER(NEXT)) + F.mse_loss(b, a.detach()), False),
}


@pytest.mark.parametrize("name", TWICE)
def test_rows_of_a_table_are_compared_twice(name: str) -> None:
    make, wanted = TWICE[name]
    assert bool(compared.twice(compared.compared(make().grad_fn))) == wanted


def test_which_matrices_are_multiplied() -> None:
    one, other, third = (nn.Linear(3, 3) for _ in range(3))
    x, weights = torch.randn(6, 3), [layer.weight for layer in (one, other, third)]

    def found(loss: Tensor) -> list[int]:
        return graph.multiplied(loss.grad_fn, [id(weight) for weight in weights])

    assert found(third(torch.relu(other(one(x)))).sum()) == [1, 2]
    assert found(F.mse_loss(one(x), x) + F.mse_loss(other(x), x) + third(x).sum()) == []
    assert found((x @ (other.weight * 2 @ (one.weight * 2)).T).sum() + third(x).sum()) == [1]
    assert found((one(x) @ third(x).T).sum()) == []
    assert found((other(x) * third(x)).sum()) == [2]
