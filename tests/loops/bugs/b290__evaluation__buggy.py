# bug: B290
# id: average-taken-twice
# severity: warning
import torch
from torch import nn
from torch.optim.swa_utils import AveragedModel

torch.manual_seed(1)
net = nn.Linear(5, 2)
swa_net = AveragedModel(net)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)


@torch.no_grad()
def evaluate():
    swa_net.update_parameters(net)  # <-- bug
    swa_net.eval()
    x = torch.randn(64, 5)
    right = (swa_net(x).argmax(1) == (x[:, 0] > 0).long()).float().mean()
    print(right.item())


for step in range(40):
    x = torch.randn(16, 5)
    loss = nn.functional.cross_entropy(net(x), (x[:, 0] > 0).long())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    swa_net.update_parameters(net)
    if step % 10 == 9:
        evaluate()
