# variant: gradients masked in place before the step (pruned weights, frozen embedding rows)
# window: 2
import torch
from torch import nn

torch.manual_seed(0)
embed, fc = nn.Embedding(20, 8), nn.Linear(8, 3)
mask = (torch.rand_like(fc.weight) > 0.5).float()
fc.weight.data.mul_(mask)
frozen_rows = embed.weight[:10].detach().clone()
optimizer = torch.optim.SGD([*embed.parameters(), *fc.parameters()], lr=0.1)
for step in range(5):
    optimizer.zero_grad()
    for _ in range(2):
        ids, y = torch.randint(0, 20, (8, 4)), torch.randint(0, 3, (8,))
        loss = nn.functional.cross_entropy(fc(embed(ids).mean(1)), y) / 2
        loss.backward()
    fc.weight.grad.data.mul_(mask)
    embed.weight.grad[:10] = 0
    optimizer.step()

print(torch.equal(frozen_rows, embed.weight[:10].detach()), bool((fc.weight[mask == 0] == 0).all()))
