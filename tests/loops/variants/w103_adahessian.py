# variant: backward(create_graph=True), Hutchinson's diagonal from the gradients, optimizer of one's own
import warnings

import torch
from torch import nn

warnings.filterwarnings("ignore", message="Using backward.. with create_graph=True")


class AdaHessian(torch.optim.Optimizer):
    def __init__(self, params, lr: float = 0.1) -> None:
        super().__init__(params, dict(lr=lr))

    def step(self) -> None:
        params = [p for group in self.param_groups for p in group["params"] if p.grad is not None]
        zs = [torch.randint_like(p, 0, 2) * 2.0 - 1.0 for p in params]
        h_zs = torch.autograd.grad([p.grad for p in params], params, grad_outputs=zs)
        with torch.no_grad():
            for p, z, h_z in zip(params, zs, h_zs):
                state = self.state[p]
                hess = (h_z * z).abs()
                state["h"] = 0.9 * state.get("h", hess) + 0.1 * hess
                p.addcdiv_(p.grad, state["h"] + 1.0, value=-self.param_groups[0]["lr"])


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = AdaHessian(model.parameters())
for step in range(5):
    x = torch.randn(8, 6)
    loss = (model(x) - x[:, :1]).pow(2).mean()
    optimizer.zero_grad()
    loss.backward(create_graph=True)
    optimizer.step()
model.zero_grad()

print(f"{loss.item():.4f}")
