# bug: B156
import torch
from torch import nn


class Adamax(torch.optim.Optimizer):
    def __init__(self, params, lr=2e-3, beta1=0.9, beta2=0.999, weight_decay=0.0):
        super().__init__(params, {"lr": lr, "beta1": beta1, "beta2": beta2, "decay": weight_decay, "step": 0})

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            beta1, beta2 = group["beta1"], group["beta2"]
            group["step"] += 1
            for p in group["params"]:
                if p.grad is None:
                    continue
                grad = p.grad.add(p, alpha=group["decay"])
                state = self.state[p]
                if not state:
                    state["mean"], state["most"] = torch.zeros_like(p), torch.zeros_like(p)
                state["mean"].mul_(beta1).add_(grad, alpha=1 - beta1)
                state["most"] = torch.maximum(beta2 * state["most"], grad.abs() + 1e-8)
                correction = 1 - beta1 ** group["step"]
                p.addcdiv_(state["mean"], state["most"], value=-group["lr"] / correction)


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 20), nn.ReLU(), nn.Linear(20, 3))
optimizer, criterion = Adamax(model.parameters(), weight_decay=1e-4), nn.CrossEntropyLoss()
for step in range(15):
    x = torch.randn(24, 6)
    optimizer.zero_grad()
    criterion(model(x), x[:, :3].argmax(1)).backward()
    optimizer.step()
