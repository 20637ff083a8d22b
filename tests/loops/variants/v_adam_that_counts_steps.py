# variant: Adam by hand: a count for each parameter in its state, one for each step; and a single loop over the steps
import torch
import torch.nn.functional as F
from torch import nn


class Adam(torch.optim.Optimizer):
    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                state = self.state[p]
                if not state:
                    state["step"], state["m"], state["v"] = 0, torch.zeros_like(p), torch.zeros_like(p)
                state["step"] += 1
                state["m"].mul_(0.9).add_(p.grad, alpha=0.1)
                state["v"].mul_(0.999).addcmul_(p.grad, p.grad, value=0.001)
                m = state["m"] / (1 - 0.9 ** state["step"])
                p.addcdiv_(m, (state["v"] / (1 - 0.999 ** state["step"])).sqrt() + 1e-8, value=-group["lr"])


def data():
    x = torch.randn(16, 5)
    return x, x[:, :1].tanh()


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(5, 12), nn.Tanh(), nn.Linear(12, 1))
optimizer = Adam(model.parameters(), {"lr": 1e-2})
for step in range(10):
    x, y = data()
    optimizer.zero_grad()
    F.mse_loss(model(x), y).backward()
    optimizer.step()

b1, b2, t = 0.9, 0.999, 0
params = list(model.parameters())
m, v = ([torch.zeros_like(p) for p in params] for _ in range(2))
for step in range(10):
    x, y = data()
    t += 1
    grads = torch.autograd.grad(F.mse_loss(model(x), y), params)
    with torch.no_grad():
        for i, (p, g) in enumerate(zip(params, grads)):
            m[i], v[i] = b1 * m[i] + (1 - b1) * g, b2 * v[i] + (1 - b2) * g * g
            p -= 1e-2 * (m[i] / (1 - b1**t)) / ((v[i] / (1 - b2**t)).sqrt() + 1e-8)

w, m, v, t = torch.zeros(5, 1, requires_grad=True), 0.0, 0.0, 0
for _ in range(20):
    t += 1
    x, y = data()
    F.mse_loss(x @ w, y).backward()
    with torch.no_grad():
        m, v = b1 * m + (1 - b1) * w.grad, b2 * v + (1 - b2) * w.grad**2
        w -= 1e-2 * (m / (1 - b1**t)) / ((v / (1 - b2**t)).sqrt() + 1e-8)
        w.grad = None
