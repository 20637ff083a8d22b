# bug: B123
# id: gradients-nobody-uses
import torch
from torch import nn


class Matcher(nn.Module):
    def __init__(self):
        super().__init__()
        self.left, self.right = nn.Linear(5, 8), nn.Linear(7, 8)
        self.scale = torch.tensor(2.0, requires_grad=True)  # <-- bug

    def forward(self, a, b):
        a, b = nn.functional.normalize(self.left(a)), nn.functional.normalize(self.right(b))
        return self.scale.exp() * (a @ b.t())


def train(model, steps=20):
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)  # <-- bug
    for _ in range(steps):
        a = torch.randn(6, 5)
        logits = model(a, torch.cat([a, a[:, :2]], dim=1))
        labels = torch.arange(6)
        loss = (nn.functional.cross_entropy(logits, labels) + nn.functional.cross_entropy(logits.t(), labels)) / 2
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss.item()


torch.manual_seed(1)
print(train(Matcher()))
