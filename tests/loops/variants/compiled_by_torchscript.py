# variant: a loss and a model compiled by TorchScript, of functions that are listened to; a derivative forward in mode
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)


class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.GRUCell(4, 8)
        self.out = nn.Linear(8, 3)

    def forward(self, x: torch.Tensor):
        h = torch.zeros(x.shape[0], 8)
        for t in range(x.shape[1]):
            h = self.cell(x[:, t], h)
        return self.out(h)


reader = torch.jit.script(Reader())
opt = torch.optim.Adam(reader.parameters(), lr=1e-2)
for step in range(8):

    @torch.jit.script
    def spread(x: torch.Tensor):
        both = torch.add(x, x.flip(0))
        return (F.normalize(both, dim=-1) * torch.norm(both)).var()

    @torch.jit.script
    def steepness(x: torch.Tensor):
        x = x.detach().requires_grad_()
        slope = torch.autograd.grad([(x * x).sum()], [x])[0]
        assert slope is not None
        return slope.mean()

    x = torch.randn(12, 5, 4)
    labels = (x.sum((1, 2)) > 0).long()
    scores = reader(x)
    loss = F.cross_entropy(scores, labels) + 0.01 * spread(scores) + 0.0 * steepness(x)
    opt.zero_grad()
    loss.backward()
    opt.step()
    _, change = torch.func.jvp(lambda t: F.layer_norm(t, (4,)).sum(), (x,), (torch.ones_like(x),))
    print(loss.item(), change.item())
