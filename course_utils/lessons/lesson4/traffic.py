"""How often data-parallel training asks for gradients to be averaged over the machines."""

# No `from __future__ import annotations`: DDP looks at the annotations of its hook, and wants them as types.
from contextlib import nullcontext

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel


def all_reduces(batches: int, window: int, no_sync: bool = False) -> int:
    """Averagings over all machines in a data-parallel run: `batches` backward passes, a step after every `window`.

    Clearing follows each step. With `no_sync`, all passes of a window but the last stand under DDP's `no_sync()`. The
    process group is PyTorch's own for tests: it says that there are four machines, and sends nothing. Raises
    `ValueError` where a process group is open already.
    """
    # Its import registers the group under the name "fake". It needs no network, and so runs in every notebook.
    from torch.testing._internal.distributed.fake_pg import FakeStore

    dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=4)  # type: ignore[no-untyped-call]
    try:
        model = DistributedDataParallel(nn.utils.skip_init(nn.Linear, 3, 1))
        nn.init.ones_(model.module.weight)
        nn.init.zeros_(model.module.bias)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        asked = []

        def count(state: object, bucket: dist.GradBucket) -> torch.futures.Future[torch.Tensor]:
            asked.append(bucket.index())
            answer: torch.futures.Future[torch.Tensor] = torch.futures.Future()
            answer.set_result(bucket.buffer())
            return answer

        model.register_comm_hook(None, count)  # type: ignore[no-untyped-call]
        for number in range(1, batches + 1):
            last = number % window == 0
            with model.no_sync() if no_sync and not last else nullcontext():
                model(torch.ones(2, 3)).mean().backward()
            if last:
                optimizer.step()
                optimizer.zero_grad()
        return len(asked)
    finally:
        dist.destroy_process_group()
