# bug: B104
import torch
import torch.nn.functional as F
from torch import nn


class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(8, width), nn.ReLU())
        self.head = nn.Linear(width, 4)

    def forward(self, x):
        hidden = self.body(x)
        return hidden, self.head(hidden)


class Distiller(nn.Module):
    def __init__(self, t_net, s_net):
        super().__init__()
        self.t_net, self.s_net = t_net, s_net
        self.adapt = nn.Linear(8, 16)

    def forward(self, x):
        t_hidden, t_out = self.t_net(x)
        s_hidden, s_out = self.s_net(x)
        return s_out, t_out, F.mse_loss(self.adapt(s_hidden), t_hidden.detach())


torch.manual_seed(0)
distiller = Distiller(Net(16), Net(8))
distiller.t_net.requires_grad_(False)
optimizer = torch.optim.SGD(distiller.parameters(), lr=0.05)
for step in range(16):
    x, y = torch.randn(8, 8), torch.randint(0, 4, (8,))
    s_out, t_out, of_features = distiller(x)
    soft = F.kl_div(F.log_softmax(s_out / 2, 1), F.softmax(t_out / 2, 1), reduction="batchmean")
    loss = F.cross_entropy(s_out, y) + 4 * soft + of_features
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"{loss.item():.4f}")
