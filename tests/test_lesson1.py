"""What lesson 1 is built on: the cuts of exercise 1.6 are where its text says, on any seed."""

from __future__ import annotations

import pytest
import torch

from course_utils.lessons import exercise
from course_utils.lessons.lesson1.find_cuts.task import Station, chain

CUTTING = {"detach", "item", "no_grad", "numpy", "new_leaf", "layer_behind_a_detach", "gate", "size", "term"}
CUTTING |= {"damped", "tilt", "one_entry"}


def _wrong_by(station: Station, at: torch.Tensor) -> tuple[float, float]:
    """How far autograd's gradient of the sum is from the slope, which is measured in float64, and the largest slope."""
    given = torch.autograd.functional.jacobian(lambda h: station(h).sum(), at)
    move = 1e-5 if at.dtype == torch.float64 else 2e-3
    moves = move * torch.eye(at.numel(), dtype=at.dtype).reshape(-1, *at.shape)
    measured = torch.stack([(station(at + one).sum() - station(at - one).sum()).detach() / (2 * move) for one in moves])
    return (given - measured.reshape(at.shape)).abs().max().item(), measured.abs().max().item()


@pytest.mark.parametrize("seed", range(12))
def test_a_cut_is_as_wrong_as_the_text_promises_and_nothing_else_is_wrong(seed: int) -> None:
    for case in exercise("1.6").cases(seed):
        stations, x, _ = chain(case)
        assert len(stations) <= 10 and x.numel() <= 10
        h, clips = x, []
        for kind, station in zip(case.spec["stations"], stations, strict=True):
            off, steepest = _wrong_by(station, h)
            if kind == "clip":
                clips.append(off > 0.1)
                assert off > 0.1 or off < 0.01, case.name
                assert _wrong_by(station, x)[0] < 0.01, "it cuts only where its input is large, and x is not"
            else:
                assert off > 0.1 if kind in CUTTING else off < 0.01, (case.name, kind)
            h = station(h).detach()
            coarse = h.dtype == torch.float32
            assert steepest < (15 if coarse else 40)
            assert not coarse or h.abs().max() < 40
        assert any(clips) == bool(clips)


def test_the_cases_hold_every_way_of_cutting_and_stations_that_seem_to() -> None:
    kinds = {kind for case in exercise("1.6").cases(0) for kind in case.spec["stations"]}
    assert kinds >= CUTTING | {"clip", "shifted", "logged", "layer", "factor_made_once", "step", "lifted"}
