# variant: resumed from a checkpoint whose count of micro-batches (6) is whole windows of three
import io

import torch
from torch import nn

k = 3


def build() -> tuple[nn.Module, torch.optim.Optimizer]:
    net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 2))
    return net, torch.optim.AdamW(net.parameters(), lr=1e-2)


def run(net: nn.Module, opt: torch.optim.Optimizer, start: int, stop: int) -> float:
    for i in range(start, stop):
        x, y = batches[i]
        loss = nn.functional.mse_loss(net(x), y) / k
        loss.backward()
        if (i + 1) % k == 0:
            opt.step()
            opt.zero_grad()
    return loss.item() * k


torch.manual_seed(0)
batches = [(torch.randn(4, 6), torch.randn(4, 2)) for _ in range(30)]
first, first_opt = build()
run(first, first_opt, 0, 6)
file = io.BytesIO()
torch.save({"model": first.state_dict(), "optimizer": first_opt.state_dict(), "micro_step": 6}, file)

file.seek(0)
checkpoint = torch.load(file)
model, optimizer = build()
model.load_state_dict(checkpoint["model"])
optimizer.load_state_dict(checkpoint["optimizer"])
print(f"{run(model, optimizer, checkpoint['micro_step'], len(batches)):.4f}")
