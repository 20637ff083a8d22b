# bug: B19
import math

import torch
from torch import nn
from torch.optim.lr_scheduler import LambdaLR
from torch.utils.data import DataLoader, TensorDataset


def cosine_with_warmup(optimizer, warmup, total):
    def factor(step):
        if step < warmup:
            return (step + 1) / warmup
        return 0.5 * (1 + math.cos(math.pi * (step - warmup) / (total - warmup)))

    return LambdaLR(optimizer, factor)


def main():
    torch.manual_seed(42)
    train_dl = DataLoader(TensorDataset(torch.randn(64, 9), torch.randint(0, 2, (64,))), batch_size=4, shuffle=True)
    model = nn.Sequential(nn.Linear(9, 9), nn.ReLU(), nn.Linear(9, 2))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    accum, epochs = 2, 2
    scheduler = cosine_with_warmup(optimizer, warmup=3, total=epochs * len(train_dl) // accum)
    for _ in range(epochs):
        for step, (x, y) in enumerate(train_dl):
            loss = nn.functional.cross_entropy(model(x), y) / accum
            loss.backward()
            if step % accum == accum - 1:
                torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()
                scheduler.step()
                optimizer.zero_grad()
    print(f"final lr {optimizer.param_groups[0]['lr']:.2e}")


if __name__ == "__main__":
    main()
