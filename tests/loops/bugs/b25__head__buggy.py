# bug: B25
# id: layer-replaced-after-optimizer
import torch
import torch.nn.functional as F
from torch import nn


class Net(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.conv = nn.Conv2d(1, 4, 3)
        self.fc = nn.Linear(64, classes)

    def forward(self, x):
        return self.fc(torch.relu(self.conv(x)).flatten(1))


torch.manual_seed(0)
model = Net(classes=10)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)  # <-- bug
model.fc = nn.Linear(64, 3)  # <-- bug

for _ in range(8):
    images, labels = torch.randn(8, 1, 6, 6), torch.randint(0, 3, (8,))
    optimizer.zero_grad()
    loss = F.cross_entropy(model(images), labels)
    loss.backward()
    optimizer.step()
print(loss.item())
