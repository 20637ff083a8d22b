# needs: reference
"""Accelerate's accumulation without clipping, beside the gradient of the whole window at once."""

import torch
from accelerate import Accelerator
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
accelerator = Accelerator(cpu=True, gradient_accumulation_steps=4)
dataset = TensorDataset(torch.randn(48, 8), torch.randint(0, 3, (48,)))
loader = DataLoader(dataset, batch_size=4, shuffle=True)
model = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
window: list[tuple[torch.Tensor, torch.Tensor]] = []


def reference() -> dict[str, torch.Tensor]:
    """The mean gradient over all rows since the last step."""
    inputs, targets = (torch.cat(column) for column in zip(*window, strict=True))
    names, parameters = zip(*model.named_parameters(), strict=True)
    with torch.enable_grad():
        loss = nn.functional.cross_entropy(model(inputs), targets)
        return dict(zip(names, torch.autograd.grad(loss, parameters), strict=True))


for _ in range(2):
    for inputs, targets in loader:
        window.append((inputs, targets))
        with accelerator.accumulate(model):
            loss = nn.functional.cross_entropy(model(inputs), targets)
            accelerator.backward(loss)
            optimizer.step()
            optimizer.zero_grad()
        if accelerator.sync_gradients:
            window.clear()
