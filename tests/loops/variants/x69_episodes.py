# variant: prototypical networks: queries against the prototypes of their own episode, gradients of four episodes summed
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
ways, shots, queries, episodes = 5, 2, 1, 4
net = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 6))
optimizer = torch.optim.Adam(net.parameters(), lr=5e-3)
target = torch.arange(ways).repeat_interleave(queries)
for step in range(9):
    optimizer.zero_grad()
    for _ in range(episodes):
        centres = torch.randn(ways, 1, 8)
        support = net(centres + 0.3 * torch.randn(ways, shots, 8)).mean(1)
        query = net(centres + 0.3 * torch.randn(ways, queries, 8)).flatten(0, 1)
        logits = -torch.cdist(query, support).pow(2)
        loss = F.cross_entropy(logits, target) / episodes
        loss.backward()
    optimizer.step()

print(f"{loss.item() * episodes:.4f}")
