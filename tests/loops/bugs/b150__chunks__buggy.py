# bug: B150
# id: loss-not-divided
import torch
import torch.nn.functional as F
from torch import nn

CHUNKS = 4


class TwoHeads(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(8, 32), nn.ReLU())
        self.kind, self.size = nn.Linear(32, 4), nn.Linear(32, 1)

    def forward(self, x):
        features = self.body(x)
        return self.kind(features), self.size(features)


def train_step(model, optimizer, x, kind, size):
    optimizer.zero_grad()
    shown = 0.0
    for xs, ks, ss in zip(x.chunk(CHUNKS), kind.chunk(CHUNKS), size.chunk(CHUNKS)):
        said_kind, said_size = model(xs)
        loss = F.cross_entropy(said_kind, ks) + 0.5 * F.mse_loss(said_size, ss)
        loss.backward()  # <-- bug
        shown += loss.item() / CHUNKS
    optimizer.step()
    return shown


torch.manual_seed(0)
model = TwoHeads()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
for step in range(10):
    x = torch.randn(64, 8)
    shown = train_step(model, optimizer, x, x[:, :4].argmax(1), x.norm(dim=1, keepdim=True))
    print(f"{step}: {shown:.3f}")
