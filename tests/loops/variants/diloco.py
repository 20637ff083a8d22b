# variant: DiLoCo: AdamW on each worker's copy, an outer Nesterov SGD that gets the mean movement assigned to .grad
import copy

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 1))
outer = torch.optim.SGD(model.parameters(), lr=0.7, momentum=0.9, nesterov=True)
workers = [copy.deepcopy(model) for _ in range(2)]
inner = [torch.optim.AdamW(worker.parameters(), lr=5e-3) for worker in workers]
for round_ in range(8):
    for rank, (worker, optimizer) in enumerate(zip(workers, inner)):
        worker.load_state_dict(model.state_dict())
        for _ in range(3):
            x = torch.randn(8, 6) + 0.2 * rank
            loss = (worker(x) - x[:, :1]).pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    for p, *copies in zip(model.parameters(), *(worker.parameters() for worker in workers)):
        p.grad = torch.stack([p.detach() - q.detach() for q in copies]).mean(0)
    outer.step()
    outer.zero_grad()

print(f"{loss.item():.4f}")
