# bug: B248
# id: gradients-nobody-uses
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
base_params = filter(lambda p: id(p) not in head, model.parameters())
print("backbone:", sum(p.numel() for p in base_params), "parameters")  # <-- bug
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
