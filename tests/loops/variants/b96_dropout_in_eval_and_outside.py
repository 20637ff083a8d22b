# variant: checkpoints without random state around a frozen body in eval; the dropout that is on stands outside of them
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint
from torch.utils.data import DataLoader, TensorDataset


def layer(dim, p):
    return nn.Sequential(nn.Linear(dim, dim), nn.ReLU(), nn.Dropout(p))


class Prompted(nn.Module):
    """Learns what is put in front of a frozen body."""

    def __init__(self, dim=8):
        super().__init__()
        self.prompt = nn.Parameter(torch.zeros(dim))
        self.body = nn.ModuleList(layer(dim, 0.5) for _ in range(3)).requires_grad_(False)
        self.drop, self.head = nn.Dropout(0.1), nn.Linear(dim, 2)

    def train(self, mode=True):
        super().train(mode)
        self.body.eval()
        return self

    def forward(self, x):
        x = x + self.prompt
        for part in self.body:
            x = x + checkpoint(part, x, use_reentrant=True, preserve_rng_state=False)
        return self.head(self.drop(x))


torch.manual_seed(0)
model = Prompted().train()
optimizer = torch.optim.Adam([p for p in model.parameters() if p.requires_grad], lr=1e-2)
for x, y in DataLoader(TensorDataset(torch.randn(88, 8), torch.randint(2, (88,))), batch_size=8):
    loss = F.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
