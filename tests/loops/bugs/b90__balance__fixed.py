# bug: B90
import torch
import torch.nn.functional as F
from torch import nn


class Routed(nn.Module):
    def __init__(self, width, parts):
        super().__init__()
        self.router = nn.Linear(width, parts)
        self.parts = nn.ModuleList(nn.Linear(width, width) for _ in range(parts))
        self.balance = torch.zeros(())

    def forward(self, x):
        share = self.router(x).softmax(-1)
        gate, choice = share.max(-1)
        out = torch.stack([part(x) for part in self.parts], dim=1)
        with torch.no_grad():
            load = F.one_hot(choice, len(self.parts)).float().mean(0)
        self.balance = len(self.parts) * (load * share.mean(0)).sum()
        return gate[:, None] * out[torch.arange(len(x)), choice]


def main(weight=0.02):
    torch.manual_seed(0)
    layer, head = Routed(8, 4), nn.Linear(8, 3)
    optimizer = torch.optim.AdamW([*layer.parameters(), *head.parameters()], lr=1e-2)
    for _ in range(12):
        x, y = torch.randn(16, 8), torch.randint(3, (16,))
        task = F.cross_entropy(head(layer(x)), y)
        loss = task + weight * layer.balance
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    layer.eval()
    print(layer(torch.randn(16, 8)).mean().item())


main()
