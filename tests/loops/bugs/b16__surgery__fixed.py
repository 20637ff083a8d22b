# bug: B16
import torch
import torch.nn.functional as F
from torch import nn


class Surgery:
    def __init__(self, optimizer, scaler):
        self.optimizer, self.scaler = optimizer, scaler
        self.params = [p for group in optimizer.param_groups for p in group["params"]]

    def backward(self, losses):
        found = []
        for loss in losses:
            self.optimizer.zero_grad()
            self.scaler.scale(loss).backward(retain_graph=True)
            found.append(torch.cat([p.grad.flatten() for p in self.params]))
        one, two = found
        dot = torch.dot(one, two)
        if dot < 0:
            one = one - dot / two.norm() ** 2 * two
        at = 0
        for p in self.params:
            p.grad = (one + two)[at : at + p.numel()].view_as(p).clone()
            at += p.numel()

    def step(self):
        self.scaler.step(self.optimizer)
        self.scaler.update()


torch.manual_seed(10)
model = nn.Sequential(nn.Linear(6, 18), nn.ReLU(), nn.Linear(18, 4))
scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
surgery = Surgery(torch.optim.SGD(model.parameters(), lr=1e-3), scaler)
for _ in range(12):
    x = torch.randn(20, 6)
    out = model(x)
    losses = [F.mse_loss(out[:, :2], x[:, :2]), F.l1_loss(out[:, 2:], x[:, 2:4])]
    surgery.backward(losses)
    surgery.step()
    print(f"{sum(loss.item() for loss in losses):.4f}")
