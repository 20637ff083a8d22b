# variant: a parameter on the model itself that no optimizer holds, since a rule of its own moves it
import torch
from torch import nn


class Scaled(nn.Module):
    def __init__(self):
        super().__init__()
        self.temperature = nn.Parameter(torch.ones(()))
        self.body = nn.Sequential(nn.Linear(5, 12), nn.ReLU())
        self.head = nn.Linear(12, 3)

    def forward(self, x):
        return self.head(self.body(x)) / self.temperature


torch.manual_seed(4)
model = Scaled()
optimizer = torch.optim.Adam([*model.body.parameters(), *model.head.parameters()], lr=0.01)
for _ in range(20):
    x = torch.randn(16, 5)
    loss = nn.functional.cross_entropy(model(x), x[:, :3].argmax(1))
    model.zero_grad()
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        model.temperature.sub_(0.01 * model.temperature.grad.sign()).clamp_(0.5, 2.0)
print(f"{loss.item():.4f}")
