# variant: bfloat16 parameters, float32 main_grad added to at every micro-batch, handed to float32 masters
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 2)).to(torch.bfloat16)
masters = [nn.Parameter(p.detach().float()) for p in model.parameters()]
optimizer = torch.optim.AdamW(masters, lr=1e-2)
for step in range(8):
    for p in model.parameters():
        p.main_grad = None
    for _ in range(4):
        x = torch.randn(4, 8)
        loss = nn.functional.mse_loss(model(x.bfloat16()).float(), x[:, :2]) / 4
        loss.backward()
        for p in model.parameters():
            g = p.grad.float()
            p.main_grad = g if p.main_grad is None else p.main_grad + g
            p.grad = None
    for p, master in zip(model.parameters(), masters):
        master.grad = p.main_grad
    optimizer.step()
    with torch.no_grad():
        for p, master in zip(model.parameters(), masters):
            p.copy_(master)

print(f"{loss.item() * 4:.4f}")
