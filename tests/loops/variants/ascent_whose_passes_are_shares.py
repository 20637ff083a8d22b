# variant: each pass of an attack is a share of the step, as in free adversarial training, for many steps
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 3))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
x_all, y_all, m = torch.randn(64, 6), torch.randint(3, (64,)), 3
for step in range(60):
    optimizer.zero_grad()
    perturb = torch.empty_like(x_all).uniform_(-0.01, 0.01).requires_grad_()
    loss = nn.functional.nll_loss(model(x_all + perturb).log_softmax(-1), y_all)
    loss /= m
    for _ in range(m - 1):
        loss.backward()
        perturb.data = perturb.detach() + 0.01 * torch.sign(perturb.grad.detach())
        perturb.grad[:] = 0
        loss = nn.functional.nll_loss(model(x_all + perturb).log_softmax(-1), y_all)
        loss /= m
    loss.backward()
    optimizer.step()
