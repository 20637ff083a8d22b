# variant: data parallel by hand: the mean of two replicas' gradients is written into both
import copy

import torch
from torch import nn

torch.manual_seed(0)
replicas = [nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 1))]
replicas.append(copy.deepcopy(replicas[0]))
optimizers = [torch.optim.AdamW(m.parameters(), lr=1e-2) for m in replicas]
for step in range(5):
    for model, shard in zip(replicas, torch.randn(16, 6).chunk(2)):
        loss = (model(shard) - shard[:, :1]).pow(2).mean()
        loss.backward()
    for pair in zip(*(m.parameters() for m in replicas)):
        mean = torch.stack([p.grad for p in pair]).mean(0)
        for p in pair:
            p.grad.copy_(mean)
    for opt in optimizers:
        opt.step()
        opt.zero_grad()

print(all(torch.equal(p, q) for p, q in zip(*(m.parameters() for m in replicas))))
