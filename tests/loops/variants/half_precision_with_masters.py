# variant: The optimizer steps float32 copies; the bfloat16 weights, which seldom change, are copied from them.
import torch
from torch import nn

torch.manual_seed(7)
model = nn.Sequential(nn.Linear(8, 64), nn.Tanh(), nn.Linear(64, 1)).bfloat16()
masters = [p.detach().float() for p in model.parameters()]
optimizer = torch.optim.AdamW(masters, lr=1e-4)
for _ in range(40):
    x = torch.randn(32, 8)
    loss = nn.functional.mse_loss(model(x.bfloat16()).float(), x[:, :1].sin())
    loss.backward()
    for p, master in zip(model.parameters(), masters):
        master.grad = p.grad.float()
        p.grad = None
    optimizer.step()
    with torch.no_grad():
        for p, master in zip(model.parameters(), masters):
            p.copy_(master)
