"""Five ways to write a window of micro-batches around `no_sync()`. The notebook counts what each of them sends."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext

from torch import Tensor
from torch.nn.parallel import DistributedDataParallel

WAYS = {
    "plain": (False, False),
    "inside": (True, True),
    "backward inside": (False, True),
    "forward inside": (True, False),
    "all inside": (True, True),
}
"""{way: (is the forward, is the backward inside `no_sync()`?)} before the last micro-batch."""


def backwards(
    way: str,
    ddp_model: DistributedDataParallel,
    loss_fn: Callable[[Tensor, Tensor], Tensor],
    micro_batches: Sequence[tuple[Tensor, Tensor]],
) -> Iterator[int]:
    """One backward after the other, each of its micro-batch's share of the mean; yields 1, 2, … when one is done.

    micro_batches: pairs (inputs, targets) of equally many rows. Raises KeyError for an unknown way.
    """
    forward, backward = WAYS[way]

    def switched(quiet: bool, number: int) -> AbstractContextManager[None]:
        sends = not quiet or (number == len(micro_batches) and way != "all inside")
        return nullcontext() if sends else ddp_model.no_sync()

    for number, (inputs, targets) in enumerate(micro_batches, start=1):
        with switched(forward, number):
            loss = loss_fn(ddp_model(inputs), targets) / len(micro_batches)
        with switched(backward, number):
            loss.backward()
        yield number
