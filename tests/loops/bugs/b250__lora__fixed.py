# bug: B250
import math

import torch
from torch import nn


class Adapted(nn.Module):
    """A linear layer with a low-rank update, which a grouped convolution spreads over its outputs."""

    def __init__(self, inner, outer, rank=2):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(outer, inner).uniform_(-0.3, 0.3), requires_grad=False)
        self.lora_A = nn.Parameter(torch.empty(rank, inner))
        self.lora_B = nn.Parameter(torch.zeros(outer, rank))
        nn.init.kaiming_uniform_(self.lora_A, a=math.sqrt(5))

    def forward(self, x):
        low = nn.functional.linear(x, self.lora_A).unsqueeze(-1)
        return nn.functional.linear(x, self.weight) + nn.functional.conv1d(low, self.lora_B.unsqueeze(-1)).squeeze(-1)


def mark_only_lora_as_trainable(model):
    for name, p in model.named_parameters():
        if "lora_" not in name:
            p.requires_grad = False


torch.manual_seed(0)
model = nn.Sequential(nn.Embedding(12, 16), Adapted(16, 16), nn.GELU(), nn.Linear(16, 12))
mark_only_lora_as_trainable(model)
optimizer = torch.optim.AdamW((p for p in model.parameters() if p.requires_grad), lr=1e-3)
for step in range(16):
    tokens = torch.randint(0, 12, (32,))
    loss = nn.functional.cross_entropy(model(tokens), (tokens + 1) % 12)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
adapter = {name: value for name, value in model.state_dict().items() if "lora_" in name}
print(len(adapter), loss.item())
