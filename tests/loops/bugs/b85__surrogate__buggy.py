# bug: B85
# id: weights-moved-inside-window
import torch
from torch import nn


class Surrogate(torch.optim.Optimizer):
    def __init__(self, model, base, rho=0.05, alpha=0.2):
        super().__init__(model.parameters(), {"rho": rho, "lr": base.param_groups[0]["lr"]})
        self.model, self.base, self.alpha = model, base, alpha
        self.param_groups = base.param_groups
        self.compute = None

    def keep(self, criterion, inputs, targets):
        def compute():
            loss = criterion(self.model(inputs), targets)
            loss.backward()  # <-- bug
            return loss.detach()

        self.compute = compute

    @torch.no_grad()
    def move_up(self):
        held = [p for group in self.param_groups for p in group["params"] if p.grad is not None]
        norm = torch.stack([p.grad.norm() for p in held]).norm() + 1e-12
        for p in held:
            self.state[p]["first"] = p.grad.clone()
            self.state[p]["added"] = p.grad * (0.05 / norm)
            p.add_(self.state[p]["added"])

    @torch.no_grad()
    def move_back(self):
        for group in self.param_groups:
            for p in group["params"]:
                p.sub_(self.state[p]["added"])
                p.grad.lerp_(self.state[p]["first"], self.alpha)

    @torch.no_grad()
    def step(self, closure=None):
        self.base.zero_grad()
        with torch.enable_grad():
            loss = self.compute()
        self.move_up()  # <-- bug
        with torch.enable_grad():
            self.compute()  # <-- bug
        self.move_back()
        self.base.step()
        return loss


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
optimizer = Surrogate(model, torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9))
for step in range(12):
    inputs, targets = torch.randn(16, 8), torch.randint(0, 3, (16,))
    optimizer.keep(nn.CrossEntropyLoss(), inputs, targets)
    loss = optimizer.step()
print(f"{loss.item():.4f}")
