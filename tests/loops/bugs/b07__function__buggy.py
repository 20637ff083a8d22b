# bug: B07
# id: divided-twice
# needs: reference
# window: 3
import torch
import torch.nn.functional as F
from torch import nn

N_ACC = 3
torch.manual_seed(13)
net = nn.Sequential(nn.Linear(4, 8), nn.SiLU(), nn.Linear(8, 2))
opt = torch.optim.RMSprop(net.parameters(), lr=1e-3)
window: list[tuple[torch.Tensor, torch.Tensor]] = []


def reference() -> dict[str, torch.Tensor]:
    inputs = torch.cat([a for a, _ in window])
    labels = torch.cat([b for _, b in window])
    loss = F.cross_entropy(net(inputs), labels)
    return {n: torch.autograd.grad(loss, p, retain_graph=True)[0] for n, p in net.named_parameters()}


def average_gradients(model, n):
    for p in model.parameters():
        if p.grad is not None:
            p.grad.div_(n)  # <-- bug


def update():
    average_gradients(net, N_ACC)
    opt.step()
    opt.zero_grad()
    window.clear()


for step in range(18):
    inputs, labels = torch.randn(5, 4), torch.randint(0, 2, (5,))
    window.append((inputs, labels))
    loss = F.cross_entropy(net(inputs), labels) / N_ACC  # <-- bug
    loss.backward()
    if step % N_ACC == N_ACC - 1:
        update()
