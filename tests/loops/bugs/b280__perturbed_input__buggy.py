# bug: B280
# id: result-written-by-data
import torch
import torch.nn.functional as F
from torch import nn


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Conv2d(1, 8, 3)
        self.head = nn.Linear(8, 4)

    def forward(self, x):
        return self.head(F.relu(self.features(x)).mean((2, 3)))


def smoothness(model, x, told, size=0.5):
    """How much noise moves the answer."""
    x.data += size * torch.randn_like(x)  # <-- bug
    return F.kl_div(model(x).log_softmax(1), told.detach().softmax(1), reduction="batchmean")


torch.manual_seed(0)
model = Classifier()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(20):
    x = torch.randn(8, 1, 9, 9)
    y = model(x)
    loss = F.cross_entropy(y, x.mean((1, 2, 3)).gt(0).long()) + smoothness(model, x, y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
