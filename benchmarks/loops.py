"""The three loops whose watching is priced by benchmarks/ledger.py, as a plain script.

Each iteration accumulates two micro-batches, clips, steps AdamW and clears: a small MLP, a CNN and a
transformer. It names no tool, so that a tool which rewrites scripts (TrainCheck) can rewrite this one.

Usage: python benchmarks/loops.py, which benchmarks/ledger.py does

The first line of standard input names the loop. Each further line, `COUNT WARM`, is answered by one line on
standard output: the processor seconds that COUNT iterations took, after WARM untimed ones. It ends with its
input.

No `from __future__` here: TrainCheck 0.2.0 puts its own lines above it, which Python refuses.
"""

import sys
import time
from collections.abc import Callable

import torch
from torch import Tensor, nn

LOOPS = ("MLP", "CNN", "transformer")


class Transformer(nn.Module):
    def __init__(self, tokens: int = 128, width: int = 128, length: int = 32) -> None:
        super().__init__()
        self.embedding = nn.Embedding(tokens, width)
        self.position = nn.Parameter(torch.zeros(length, width))
        layer = nn.TransformerEncoderLayer(width, 4, 4 * width, dropout=0.0, batch_first=True, norm_first=True)
        self.blocks = nn.TransformerEncoder(layer, 4, enable_nested_tensor=False)
        self.head = nn.Linear(width, tokens)

    def forward(self, ids: Tensor) -> Tensor:
        return self.head(self.blocks(self.embedding(ids) + self.position)).flatten(0, 1)


def build(loop: str) -> nn.Module:
    torch.manual_seed(0)
    if loop == "MLP":
        return nn.Sequential(nn.Linear(64, 96), nn.ReLU(), nn.Linear(96, 10))
    if loop == "CNN":
        return nn.Sequential(
            nn.Conv2d(1, 32, 3, padding=1),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(32, 64, 3, padding=1),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(64, 96, 3, padding=1),
            nn.ReLU(),
            nn.AdaptiveAvgPool2d(2),
            nn.Flatten(),
            nn.Linear(384, 30),
            nn.ReLU(),
            nn.Linear(30, 10),
        )
    return Transformer()


def micro_batches(loop: str) -> list[tuple[Tensor, Tensor]]:
    torch.manual_seed(1)
    if loop == "MLP":
        return [(torch.randn(32, 64), torch.randint(10, (32,))) for _ in range(2)]
    if loop == "CNN":
        return [(torch.randn(10, 1, 28, 28), torch.randint(10, (10,))) for _ in range(2)]
    return [(torch.randint(128, (7, 32)), torch.randint(128, (224,))) for _ in range(2)]


def train(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    batches: list[tuple[Tensor, Tensor]],
    loss_function: Callable[[Tensor, Tensor], Tensor],
    count: int,
) -> None:
    for _ in range(count):
        for x, y in batches:
            loss = loss_function(model(x), y) / len(batches)
            loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()


def main() -> None:
    torch.set_num_threads(1)
    loop = sys.stdin.readline().strip()
    batches = micro_batches(loop)
    model = build(loop)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    loss_function = nn.CrossEntropyLoss()
    print("ready", flush=True)
    while request := sys.stdin.readline():
        count, warm = map(int, request.split())
        train(model, optimizer, batches, loss_function, warm)
        start = time.process_time()
        train(model, optimizer, batches, loss_function, count)
        print("seconds", time.process_time() - start, flush=True)


if __name__ == "__main__":
    main()
