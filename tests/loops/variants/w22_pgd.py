# variant: PGD training with a model in eval mode during the attack
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)


def pgd(x: torch.Tensor, y: torch.Tensor, eps: float = 0.1, alpha: float = 0.03, steps: int = 3) -> torch.Tensor:
    model.eval()
    x_adv = x.detach() + 0.001 * torch.randn_like(x)
    for _ in range(steps):
        x_adv.requires_grad_()
        with torch.enable_grad():
            loss = F.cross_entropy(model(x_adv), y)
        grad = torch.autograd.grad(loss, [x_adv])[0]
        x_adv = x_adv.detach() + alpha * torch.sign(grad.detach())
        x_adv = torch.min(torch.max(x_adv, x - eps), x + eps)
    model.train()
    return x_adv.detach()


for batch_idx in range(5):
    data, target = torch.randn(12, 6), torch.randint(0, 3, (12,))
    x_adv = pgd(data, target)
    optimizer.zero_grad()
    loss = 0.5 * F.cross_entropy(model(data), target) + 0.5 * F.cross_entropy(model(x_adv), target)
    loss.backward()
    optimizer.step()

print(f"{loss.item():.4f}")
