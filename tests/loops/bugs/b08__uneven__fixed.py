# bug: B08
# needs: reference
import torch
from torch import nn

torch.manual_seed(0)
torch.set_default_dtype(torch.float64)

CHUNKS = [10, 8, 4, 2]
model = nn.Sequential(nn.Linear(10, 16), nn.Tanh(), nn.Linear(16, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
batch: tuple[torch.Tensor, torch.Tensor]


def reference() -> dict[str, torch.Tensor]:
    x, y = batch
    loss = nn.functional.mse_loss(model(x), y)
    grads = torch.autograd.grad(loss, tuple(model.parameters()))
    return {name: g for (name, _), g in zip(model.named_parameters(), grads)}


def train_on(x, y):
    optimizer.zero_grad()
    for xs, ys in zip(x.split(CHUNKS), y.split(CHUNKS)):
        per_element = (model(xs) - ys) ** 2
        loss = per_element.sum() / y.numel()
        loss.backward()
    optimizer.step()


for step in range(6):
    batch = (torch.randn(24, 10), torch.randn(24, 2))
    train_on(*batch)
