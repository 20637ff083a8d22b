# bug: B165
import torch
import torch.nn.functional as F
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.base = nn.Sequential(nn.Linear(6, 16), nn.ReLU())
        self.classifier = nn.Linear(16, 3)

    def forward(self, x):
        return self.classifier(self.base(x))


def make_optimizer(model, lr=1e-3):
    params = []
    for key, value in model.named_parameters():
        params += [{"params": [value], "lr": 2 * lr if "bias" in key else lr}]
    return torch.optim.Adam(params)


torch.manual_seed(0)
net = Net()
net.base.requires_grad_(False)
optimizer = make_optimizer(net)
for step in range(24):
    if step == 8:
        net.base.requires_grad_(True)
    x = torch.randn(16, 6)
    optimizer.zero_grad()
    loss = F.cross_entropy(net(x), x[:, :3].argmax(dim=1))
    loss.backward()
    optimizer.step()
print(f"{loss:.4f}")
