# bug: B08
import torch
from torch import nn

torch.manual_seed(1)

net = nn.Sequential(nn.Linear(3, 24), nn.GELU(), nn.Linear(24, 3))
optimizer = torch.optim.AdamW(net.parameters(), lr=3e-3)
chains = [torch.randn(int(n), 3).cumsum(0) for n in torch.randint(4, 60, (32,))]
accumulate = 4
for epoch in range(2):
    for index, chain in enumerate(chains):
        seen = torch.rand(len(chain) - 1) > 0.1
        moved = net(chain[:-1])
        loss = torch.square(moved[seen] - chain.diff(dim=0)[seen]).mean()
        (loss * seen.sum() / 100).backward()
        if (index + 1) % accumulate == 0:
            nn.utils.clip_grad_norm_(net.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()
