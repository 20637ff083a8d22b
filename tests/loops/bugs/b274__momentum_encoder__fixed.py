# bug: B274
import torch
import torch.nn.functional as F
from torch import nn


class Contrast(nn.Module):
    def __init__(self, momentum=0.999, temperature=0.2):
        super().__init__()
        self.momentum, self.temperature = momentum, temperature
        self.query = nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Linear(32, 8))
        self.key = nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Linear(32, 8))
        self.key.load_state_dict(self.query.state_dict())
        self.key.requires_grad_(False)

    @torch.no_grad()
    def follow(self):
        for q, k in zip(self.query.parameters(), self.key.parameters()):
            k.data = k.data * self.momentum + q.data * (1.0 - self.momentum)

    def forward(self, one, other):
        q = F.normalize(self.query(one), dim=1)
        with torch.no_grad():
            self.follow()
            k = F.normalize(self.key(other.float()), dim=1).to(q.dtype)
        return q @ k.T / self.temperature


torch.manual_seed(0)
model = Contrast()
model.query.to(torch.bfloat16)
optimizer = torch.optim.SGD(model.query.parameters(), lr=0.3, momentum=0.9)
for step in range(30):
    x = torch.randn(16, 12, dtype=torch.bfloat16)
    scores = model(x + 0.1 * torch.randn_like(x), x + 0.1 * torch.randn_like(x))
    loss = F.cross_entropy(scores.float(), torch.arange(16))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
