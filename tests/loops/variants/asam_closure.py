# variant: adaptive SAM with a closure: gradients read for the norm, cleared in the closure before the second backward
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class ASAM:
    def __init__(self, optimizer, model, rho=0.3, eta=0.01):
        self.optimizer, self.model, self.rho, self.eta = optimizer, model, rho, eta

    @torch.no_grad()
    def ascend(self):
        norms, self.moved = [], []
        for _, p in self.model.named_parameters():
            if p.grad is not None:
                norms.append(((p.abs() + self.eta) * p.grad).norm())
        total = torch.stack(norms).norm() + 1e-16
        for _, p in self.model.named_parameters():
            if p.grad is None:
                continue
            eps = (p.abs() + self.eta).square() * p.grad * (self.rho / total)
            p.add_(eps)
            self.moved.append((p, eps))
        return total.item()

    @torch.no_grad()
    def descend(self):
        for p, eps in self.moved:
            p.sub_(eps)
        self.optimizer.step()

    def step(self, closure):
        loss = closure()
        norm = self.ascend()
        closure()
        self.descend()
        return loss.item(), norm


torch.manual_seed(9)
model = nn.Sequential(nn.Linear(5, 12), nn.ReLU(), nn.Linear(12, 12), nn.ReLU(), nn.Linear(12, 2))
nn.init.zeros_(model[4].weight)
minimizer = ASAM(torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9), model)
loader = DataLoader(TensorDataset(torch.randn(40, 5), torch.randint(0, 2, (40,))), batch_size=8, shuffle=True)
for epoch in range(2):
    for x, y in loader:

        def closure():
            minimizer.optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(x), y)
            loss.backward()
            return loss

        loss, norm = minimizer.step(closure)
    print(f"{epoch} {loss:.4f} {norm:.4f}")
