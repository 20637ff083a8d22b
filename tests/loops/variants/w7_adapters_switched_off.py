# variant: the reference is the model itself with its adapters switched off, a second name for it all the same
import contextlib

import torch
from torch import nn


class Adapted(nn.Module):
    def __init__(self, base, rank=2):
        super().__init__()
        self.base = base.requires_grad_(False)
        self.down = nn.Linear(base.in_features, rank, bias=False)
        self.up = nn.Linear(rank, base.out_features, bias=False)
        nn.init.zeros_(self.up.weight)
        self.on = True

    @contextlib.contextmanager
    def disable_adapter(self):
        self.on = False
        yield
        self.on = True

    def forward(self, x):
        return self.base(x) + (self.up(self.down(x)) if self.on else 0.0)


torch.manual_seed(0)
policy = Adapted(nn.Linear(8, 5))
ref_model = policy
optimizer = torch.optim.Adam([p for p in policy.parameters() if p.requires_grad], lr=1e-2)
for _ in range(12):
    x = torch.randn(16, 8)
    said = policy(x).log_softmax(-1)
    with torch.no_grad(), policy.disable_adapter():
        known = ref_model(x).log_softmax(-1)
    reward = x[:, :5].argmax(1, keepdim=True)
    loss = -said.gather(1, reward).mean() + 0.1 * (said.exp() * (said - known)).sum(-1).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
