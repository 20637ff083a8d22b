# variant: DARTS, first order: each loss reaches weights and architecture, each is cleared before its own
import torch
from torch import nn

torch.manual_seed(0)
ops = nn.ModuleList(
    [nn.Linear(6, 3), nn.Sequential(nn.Linear(6, 3), nn.Tanh()), nn.Sequential(nn.Linear(6, 3), nn.ReLU())]
)
alphas = (1e-3 * torch.randn(3)).requires_grad_()
optimizer = torch.optim.SGD(ops.parameters(), lr=0.05, momentum=0.9, weight_decay=3e-4)
architect = torch.optim.Adam([alphas], lr=3e-2, betas=(0.5, 0.999), weight_decay=1e-3)


def network(x: torch.Tensor) -> torch.Tensor:
    return sum(w * op(x) for w, op in zip(alphas.softmax(-1), ops))


for step in range(6):
    x_search, y_search = torch.randn(8, 6), torch.randint(0, 3, (8,))
    architect.zero_grad()
    nn.functional.cross_entropy(network(x_search), y_search).backward()
    architect.step()

    x, y = torch.randn(8, 6), torch.randint(0, 3, (8,))
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(network(x), y)
    loss.backward()
    nn.utils.clip_grad_norm_(ops.parameters(), 5.0)
    optimizer.step()

print(f"{loss.item():.4f}")
