# bug: B03
# id: zeroed-before-step
import torch
from torch import nn

torch.manual_seed(0)


def total_norm(net):
    return torch.stack([p.grad.norm() for p in net.parameters()]).norm()


net = nn.Sequential(nn.Linear(6, 12), nn.Tanh(), nn.Linear(12, 1))
optimizer = torch.optim.AdamW(net.parameters(), lr=1e-2)
usual = None
for step in range(40):
    x = torch.randn(16, 6) * (8.0 if step % 9 == 5 else 1.0)
    nn.functional.mse_loss(net(x), x.sum(1, keepdim=True)).backward()
    norm = total_norm(net)
    if usual is not None and norm > 4 * usual:
        print(f"step {step}: a spike of {norm:.1f} is passed over")
        optimizer.zero_grad(set_to_none=False)  # <-- bug
    else:
        usual = norm if usual is None else 0.9 * usual + 0.1 * norm
    optimizer.step()
    optimizer.zero_grad()
