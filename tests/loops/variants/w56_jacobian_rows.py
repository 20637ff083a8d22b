# variant: Jacobian rows by repeated backward for a log, everything cleared before the training backward
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 12), nn.Tanh(), nn.Linear(12, 3))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
x, y = torch.randn(16, 4), torch.randn(16, 3)


def jacobian(point: torch.Tensor) -> torch.Tensor:
    point = point.clone().requires_grad_()
    out = net(point)
    rows = []
    for i in range(out.numel()):
        out[i].backward(retain_graph=True)
        rows.append(point.grad.clone())
        point.grad.zero_()
    return torch.stack(rows)


for step in range(6):
    if step % 2 == 0:
        spectrum = torch.linalg.svdvals(jacobian(x[0]))
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(net(x), y)
    loss.backward()
    optimizer.step()

print(f"{loss.item():.4f} {spectrum.max().item():.4f}")
