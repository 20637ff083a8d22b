# variant: a script with argparse, logging and a main(), the clearing hidden in a helper with a default argument
# window: 4
import argparse
import logging

import torch
from torch import nn

logger = logging.getLogger("train")


def parse_args() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--lr", type=float, default=1e-2)
    parser.add_argument("--steps", type=int, default=4)
    parser.add_argument("--gradient-accumulation-steps", type=int, default=4)
    return parser.parse_args()


def apply_update(optimizer: torch.optim.Optimizer, model: nn.Module, max_norm: float = 1.0) -> float:
    norm = nn.utils.clip_grad_norm_(model.parameters(), max_norm)
    optimizer.step()
    for parameter in model.parameters():
        parameter.grad = None
    return norm.item()


def main() -> None:
    args = parse_args()
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1))
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr)
    micro_step = 0
    norms: list[float] = []
    while len(norms) < args.steps:
        x = torch.randn(8, 6)
        loss = (model(x) - x[:, :1]).pow(2).mean()
        (loss / args.gradient_accumulation_steps).backward()
        micro_step += 1
        if micro_step % args.gradient_accumulation_steps == 0:
            norms.append(apply_update(optimizer, model))
            logger.info("step %d norm %.4f", len(norms), norms[-1])
    print(" ".join(f"{n:.4f}" for n in norms))


if __name__ == "__main__":
    main()
