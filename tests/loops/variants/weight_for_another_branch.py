# variant: a parameter of a model stands in a branch that its options leave out
"""A graph network that may learn how much a node counts beside its neighbours, and does not here."""

import torch
import torch.nn.functional as F
from torch import nn


class GraphNetwork(nn.Module):
    def __init__(self, learn_eps=False):
        super().__init__()
        self.learn_eps = learn_eps
        self.eps = nn.Parameter(torch.zeros(2))
        self.layers = nn.ModuleList([nn.Linear(5, 16), nn.Linear(16, 16)])
        self.head = nn.Linear(16, 3)

    def forward(self, nodes, neighbours):
        for number, layer in enumerate(self.layers):
            pooled = neighbours @ nodes
            if self.learn_eps:
                pooled = pooled + (1 + self.eps[number]) * nodes
            nodes = layer(pooled).relu()
        return self.head(nodes.sum(0, keepdim=True))


torch.manual_seed(0)
model = GraphNetwork()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for _ in range(20):
    nodes, neighbours = torch.randn(6, 5), (torch.rand(6, 6) > 0.5).float() + torch.eye(6)
    loss = F.cross_entropy(model(nodes, neighbours), torch.randint(0, 3, (1,)))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
