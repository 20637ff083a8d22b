"""A compiled model: the backward pass runs as one traced function, the gradients still land on the parameters."""

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 4))
compiled = torch.compile(model, backend="aot_eager")
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-3)

for _ in range(8):
    inputs, targets = torch.randn(8, 6), torch.randint(0, 4, (8,))
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(compiled(inputs), targets)
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 0.2)
    optimizer.step()
