# variant: schedule-free SGD: the optimizer has train() and eval() of its own, which move the weights to their mean
import torch
from torch import nn


class SGDScheduleFree(torch.optim.Optimizer):
    def __init__(self, params, lr: float = 0.1, beta: float = 0.9) -> None:
        super().__init__(params, {"lr": lr, "beta": beta, "k": 0, "train_mode": True})

    @torch.no_grad()
    def _swap(self, to_train: bool) -> None:
        for group in self.param_groups:
            if group["train_mode"] == to_train:
                continue
            weight = 1 - group["beta"] if to_train else 1 - 1 / group["beta"]
            for p in group["params"]:
                if "z" in self.state[p]:
                    p.lerp_(self.state[p]["z"], weight)
            group["train_mode"] = to_train

    def eval(self) -> None:
        self._swap(False)

    def train(self) -> None:
        self._swap(True)

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            assert group["train_mode"]
            lr, beta, c = group["lr"], group["beta"], 1 / (group["k"] + 1)
            for p in group["params"]:
                if p.grad is None:
                    continue
                z = self.state[p].setdefault("z", p.detach().clone())
                p.lerp_(z, c)
                p.add_(p.grad, alpha=lr * (beta * (1 - c) - 1))
                z.sub_(p.grad, alpha=lr)
            group["k"] += 1


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = SGDScheduleFree(model.parameters())
held_out = torch.randn(16, 6)
for epoch in range(4):
    model.train()
    optimizer.train()
    for _ in range(3):
        x = torch.randn(8, 6)
        loss = (model(x) - x[:, :1]).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()
    optimizer.eval()
    with torch.no_grad():
        val_loss = (model(held_out) - held_out[:, :1]).pow(2).mean()

print(f"{loss.item():.4f} {val_loss.item():.4f}")
