# bug: B29
# id: loss-backward-twice
import torch
import torch.nn.functional as F
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(8, 12)
        self.main = nn.Linear(12, 3)
        self.aux = nn.Linear(12, 2)

    def forward(self, x):
        h = torch.relu(self.body(x))
        return self.main(h), self.aux(h)


torch.manual_seed(0)
model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(8):
    x, y, z = torch.randn(10, 8), torch.randint(0, 3, (10,)), torch.randn(10, 2)
    logits, extra = model(x)
    loss = F.cross_entropy(logits, y)
    aux_loss = F.mse_loss(extra, z)
    optimizer.zero_grad()
    loss.backward(retain_graph=True)  # <-- bug
    (loss + 0.3 * aux_loss).backward()  # <-- bug
    optimizer.step()
print(loss.item(), aux_loss.item())
