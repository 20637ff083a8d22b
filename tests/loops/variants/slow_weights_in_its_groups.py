# variant: a Lookahead whose groups hold the slow weights, which no gradient reaches; it clears the inner optimizer
import torch
import torch.nn.functional as F
from torch import nn


class Lookahead(torch.optim.Optimizer):
    def __init__(self, inner, every=4, share=0.5):
        self.inner = inner
        self.fast = [p for group in inner.param_groups for p in group["params"]]
        super().__init__([p.detach().clone() for p in self.fast], {"every": every, "share": share})
        self.count = 0

    def zero_grad(self, set_to_none=True):
        self.inner.zero_grad(set_to_none)

    @torch.no_grad()
    def step(self):
        self.inner.step()
        self.count += 1
        for group in self.param_groups:
            if self.count % group["every"] == 0:
                for slow, fast in zip(group["params"], self.fast):
                    slow.lerp_(fast, group["share"])
                    fast.copy_(slow)


torch.manual_seed(14)
model = nn.Sequential(nn.Linear(6, 20), nn.ReLU(), nn.Linear(20, 3))
optimizer = Lookahead(torch.optim.Adam(model.parameters(), lr=0.01))
for _ in range(24):
    x = torch.randn(12, 6)
    loss = F.cross_entropy(model(x), x[:, :3].argmax(1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
