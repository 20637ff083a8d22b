# bug: B116
# id: trained-in-eval-mode
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(3)
nodes, wanted = torch.randn(40, 6), torch.randint(0, 3, (40,))
adjacency = (torch.rand(40, 40) < 0.1).float() + torch.eye(40)
adjacency = adjacency / adjacency.sum(1, keepdim=True)


class GCN(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second, self.dropout = nn.Linear(6, 16), nn.Linear(16, 3), nn.Dropout()

    def forward(self, x):
        return self.second(adjacency @ self.dropout(F.relu(self.first(adjacency @ x))))


model = GCN()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)


def train():
    optimizer.zero_grad()  # <-- bug
    loss = F.cross_entropy(model(nodes)[:20], wanted[:20])
    loss.backward()
    optimizer.step()
    return loss.item()


@torch.no_grad()
def test():
    model.eval()  # <-- bug
    return (model(nodes)[20:].argmax(1) == wanted[20:]).float().mean().item()


for epoch in range(12):
    print(epoch, train(), test())
