# bug: B116
# id: trained-in-eval-mode
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, width, dropout):
        super().__init__()
        self.inner = nn.Linear(width, width)
        self.dropout = dropout

    def forward(self, x):
        return x + nn.functional.dropout(self.inner(x).relu(), self.dropout, self.training)


def estimate_loss(net):
    net.eval()  # <-- bug
    with torch.no_grad():
        losses = [nn.functional.mse_loss(net(x), x) for x in torch.randn(3, 8, 12)]
    return torch.stack(losses).mean().item()


torch.manual_seed(2)
net = nn.Sequential(Block(12, 0.2), Block(12, 0.2))
optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3)
for epoch in range(3):
    net.train()
    for i, x in enumerate(torch.randn(20, 8, 12)):
        optimizer.zero_grad(set_to_none=True)
        loss = nn.functional.mse_loss(net(x), x)
        loss.backward()
        optimizer.step()
        if i % 10 == 9:
            print(epoch, i, f"{estimate_loss(net):.4f}")
