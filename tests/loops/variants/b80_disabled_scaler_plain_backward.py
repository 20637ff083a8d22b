# variant: the scaler is off (bfloat16 needs none): loss.backward() without scale(), scaler.step and update pass through
import argparse

import torch
from torch import nn


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--dtype", default="bfloat16", choices=["bfloat16", "float16"])
    parser.add_argument("--steps", type=int, default=12)
    return parser.parse_known_args()[0]


def main():
    args = parse()
    torch.manual_seed(6)
    model = nn.Sequential(nn.Linear(5, 12), nn.SiLU(), nn.Linear(12, 2))
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    scaler = torch.amp.GradScaler("cpu", enabled=args.dtype == "float16")
    for step in range(args.steps):
        x = torch.randn(8, 5)
        with torch.autocast("cpu", dtype=getattr(torch, args.dtype)):
            loss = nn.functional.mse_loss(model(x), x[:, :2])
        if scaler.is_enabled():
            loss = scaler.scale(loss)
        loss.backward()
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad(set_to_none=True)
    print(f"{loss.item():.4f}")


if __name__ == "__main__":
    main()
