# bug: B248
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 16), nn.ReLU())
        self.classifier = nn.Linear(16, 4)

    def forward(self, x):
        return self.classifier(self.backbone(x))


torch.manual_seed(0)
model = Net()
head = list(map(id, model.classifier.parameters()))
base_params = [p for p in model.parameters() if id(p) not in head]
print("backbone:", sum(p.numel() for p in base_params), "parameters")
optimizer = torch.optim.SGD(
    [{"params": base_params, "lr": 0.01}, {"params": model.classifier.parameters(), "lr": 0.1}],
    momentum=0.9,
)
for step in range(20):
    x = torch.randn(32, 8)
    loss = nn.functional.cross_entropy(model(x), x[:, :4].argmax(1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"{loss.item():.4f}")
