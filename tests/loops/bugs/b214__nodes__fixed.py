# bug: B214
"""A graph network in full batches, validated in every epoch with gradients switched on."""

import torch
import torch.nn.functional as F
from torch import nn


class GCN(nn.Module):
    def __init__(self, features, hidden, classes, dropout):
        super().__init__()
        self.first, self.second = nn.Linear(features, hidden), nn.Linear(hidden, classes)
        self.dropout = dropout

    def forward(self, x, adjacency):
        x = F.relu(adjacency @ self.first(x))
        x = F.dropout(x, self.dropout, training=self.training)
        return F.log_softmax(adjacency @ self.second(x), dim=1)


torch.manual_seed(2)
x = torch.randn(60, 8)
labels = x[:, :3].argmax(1)
adjacency = torch.eye(60) + (torch.rand(60, 60) < 0.05).float()
adjacency = adjacency / adjacency.sum(1, keepdim=True)
model = GCN(8, 16, 3, 0.5)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)


def train(epoch):
    model.train()
    optimizer.zero_grad()
    output = model(x, adjacency)
    loss = F.nll_loss(output[:20], labels[:20])
    loss.backward()
    optimizer.step()

    model.eval()
    output = model(x, adjacency)
    loss_val = F.nll_loss(output[20:40], labels[20:40])
    print(f"{epoch} {loss.item():.4f} {loss_val.item():.4f}")


for epoch in range(20):
    train(epoch)
