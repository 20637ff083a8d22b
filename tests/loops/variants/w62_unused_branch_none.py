# variant: a branch no batch uses: its gradients stay None and AdamW leaves it alone
# window: 2
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.main = nn.Linear(6, 3)
        self.aux = nn.Linear(6, 3)

    def forward(self, x: torch.Tensor, with_aux: bool = False) -> torch.Tensor:
        out = self.main(x)
        return out + self.aux(x) if with_aux else out


torch.manual_seed(0)
net = Net()
before = net.aux.weight.detach().clone()
opt = torch.optim.AdamW(net.parameters(), lr=1e-2, weight_decay=0.1)
for step in range(4):
    for _ in range(2):
        x = torch.randn(8, 6)
        (nn.functional.mse_loss(net(x), x[:, :3]) / 2).backward()
    opt.step()
    opt.zero_grad()

print(torch.equal(before, net.aux.weight))
