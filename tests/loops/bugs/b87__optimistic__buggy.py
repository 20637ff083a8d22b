# bug: B87
# id: gradient-kept-as-state
import torch
from torch import nn


class LastGradient(torch.optim.Optimizer):
    """Steps along the gradient plus its change since the last step (optimistic gradient descent)."""

    def __init__(self, params, lr):
        super().__init__(params, {"lr": lr})

    def step(self, closure=None):
        with torch.no_grad():
            for group in self.param_groups:
                for p in group["params"]:
                    before = self.state[p].get("last", p.grad)
                    p.sub_(group["lr"] * (2 * p.grad - before))
                    self.state[p]["last"] = p.grad.detach()  # <-- bug


def train(model, batches):
    optimizer = LastGradient(model.parameters(), lr=0.05)
    for x, y in batches:
        loss = nn.functional.mse_loss(model(x), y)
        for p in model.parameters():
            if p.grad is not None:
                p.grad.zero_()
        loss.backward()
        optimizer.step()  # <-- bug
    return loss.item()


torch.manual_seed(5)
data = [(torch.randn(8, 4), torch.randn(8, 2)) for _ in range(14)]
print(f"{train(nn.Linear(4, 2), data):.4f}")
