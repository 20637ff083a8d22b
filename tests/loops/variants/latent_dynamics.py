# variant: The next latent state is predicted, and both sides have a graph; a decoder keeps the states apart.
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(4)
encode, decode, move = nn.Linear(8, 4), nn.Linear(4, 8), nn.Linear(5, 4)
parts = nn.ModuleList([encode, decode, move])
optimizer = torch.optim.Adam(parts.parameters(), lr=1e-2)
for _ in range(12):
    now, action = torch.randn(16, 8), torch.randn(16, 1)
    following = 0.9 * now + 0.1 * action
    state, target = encode(now), encode(following)
    predicted = move(torch.cat([state, action], 1))
    loss = F.mse_loss(predicted, target) + F.mse_loss(decode(state), now) + F.mse_loss(decode(target), following)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
