# variant: the short window at the end, behind the first sixty passes, is divided by its own number of micro-batches
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(6, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
batches = [(torch.randn(4, 6), torch.randint(0, 2, (4,))) for _ in range(93)]
grad_accum, steps = 4, 0
for epoch in range(2):
    for i, (inputs, labels) in enumerate(batches):
        begun = (i // grad_accum) * grad_accum
        size = min(grad_accum, len(batches) - begun)
        loss = nn.functional.cross_entropy(model(inputs), labels) / size
        loss.backward()
        steps += 1
        if (i + 1) % grad_accum == 0 or i + 1 == len(batches):
            optimizer.step()
            optimizer.zero_grad()
