# bug: B06
# id: loss-not-divided
import torch
from torch import nn


class BoxLoss(nn.Module):
    """Boxes and classes of what was matched, per match."""

    def forward(self, boxes, scores, wanted, labels):
        matched = labels > 0
        found = nn.functional.smooth_l1_loss(boxes[matched], wanted[matched], reduction="sum")
        named = nn.functional.cross_entropy(scores, labels, reduction="sum")
        count = matched.sum()
        return found / count, named / count


class Detector(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(12, 32), nn.ReLU())
        self.boxes, self.scores = nn.Linear(32, 4), nn.Linear(32, 3)

    def forward(self, x):
        x = self.trunk(x)
        return self.boxes(x), self.scores(x)


torch.manual_seed(0)
net, criterion, accumulate = Detector(), BoxLoss(), 2
optimizer = torch.optim.SGD(net.parameters(), lr=1e-3, momentum=0.9)
for iteration in range(24):
    x, wanted, labels = torch.randn(20, 12), torch.randn(20, 4), torch.randint(0, 3, (20,))
    if iteration % accumulate == 0:
        optimizer.zero_grad()
    boxes, scores = net(x)
    loss_l, loss_c = criterion(boxes, scores, wanted, labels)
    loss = loss_l + loss_c
    loss.backward()  # <-- bug
    if (iteration + 1) % accumulate == 0:
        optimizer.step()
print(f"{loss.item():.4f}")
