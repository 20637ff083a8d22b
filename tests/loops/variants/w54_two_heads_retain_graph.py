# variant: two heads on one trunk, first loss with retain_graph=True, the sum is what is wanted
# reference: yes
import torch
from torch import nn


class TwoHeads(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Linear(6, 16)
        self.policy = nn.Linear(16, 4)
        self.value = nn.Linear(16, 1)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        h = torch.tanh(self.body(x))
        return self.policy(h), self.value(h)


torch.manual_seed(0)
model = TwoHeads().double()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
x = torch.randn(8, 6, dtype=torch.float64)
y = torch.randint(0, 4, (8,))


def losses() -> tuple[torch.Tensor, torch.Tensor]:
    p, v = model(x)
    return nn.functional.cross_entropy(p, y), nn.functional.mse_loss(v, x[:, :1])


def reference() -> dict[str, torch.Tensor]:
    named = dict(model.named_parameters())
    with torch.enable_grad():
        loss = sum(losses())
    return dict(zip(named, torch.autograd.grad(loss, list(named.values()))))


for step in range(6):
    policy_loss, value_loss = losses()
    optimizer.zero_grad()
    policy_loss.backward(retain_graph=True)
    value_loss.backward()
    optimizer.step()

print(f"{policy_loss.item():.4f} {value_loss.item():.4f}")
