# bug: B90
import torch
import torch.nn.functional as F
from torch import nn


class Ranker(nn.Module):
    def __init__(self, users=20, items=30, dim=8, margin=1.0):
        super().__init__()
        self.users, self.items = nn.Embedding(users, dim), nn.Embedding(items, dim)
        self.margin = margin

    def distance(self, user, item):
        return (self.users(user) - self.items(item)).pow(2).sum(-1)

    def triplet_loss(self, user, liked):
        pos = self.distance(user, liked)
        with torch.no_grad():
            candidates = torch.randint(self.items.num_embeddings, (len(user), 10))
        neg = self.distance(user[:, None], candidates).min(dim=1).values
        return F.relu(pos - neg + self.margin).mean()


torch.manual_seed(0)
ranker = Ranker()
optimizer = torch.optim.Adam(ranker.parameters(), lr=1e-2)
pairs = torch.stack([torch.randint(20, (192,)), torch.randint(30, (192,))], dim=1)
for batch in pairs.split(16):
    loss = ranker.triplet_loss(batch[:, 0], batch[:, 1])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
