# variant: the output of a network is thrown away; what is trained is what a hook keeps of a hidden layer, and the
# network's head, which belongs to the optimizer, too, gets nothing
import torch
import torch.nn.functional as F
from torch import nn


class Wrapped(nn.Module):
    def __init__(self, net, layer):
        super().__init__()
        self.net, self.hidden = net, {}
        dict(net.named_modules())[layer].register_forward_hook(lambda _, __, out: self.hidden.update(out=out))
        self.project = nn.Linear(16, 4)

    def forward(self, x):
        self.hidden.clear()
        _ = self.net(x)
        return self.project(self.hidden["out"].flatten(1))


torch.manual_seed(0)
net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 10))
model = Wrapped(net, "1")
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for step in range(20):
    x = torch.randn(12, 6)
    one, other = model(x), model(x + 0.1 * torch.randn_like(x))
    loss = F.mse_loss(one, other) + F.relu(1 - one.std(0)).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
