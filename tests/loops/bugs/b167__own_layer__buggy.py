# bug: B167
# id: adapter-beside-trained-weight
import math

import torch
import torch.nn as nn
import torch.nn.functional as F


class LoRALinear(nn.Linear):
    """The weight of a Linear, and a product that is added to it."""

    def __init__(self, n_in, n_out, r=2, alpha=4):
        super().__init__(n_in, n_out)
        self.lora_A = nn.Parameter(torch.empty(r, n_in))
        self.lora_B = nn.Parameter(torch.zeros(n_out, r))
        nn.init.kaiming_uniform_(self.lora_A, a=math.sqrt(5))
        self.scaling = alpha / r

    def forward(self, x):
        return F.linear(x, self.weight + (self.lora_B @ self.lora_A) * self.scaling, self.bias)


class Block(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.ln, self.qkv, self.proj = nn.LayerNorm(d), LoRALinear(d, 3 * d), LoRALinear(d, d)

    def forward(self, x):
        q, k, v = self.qkv(self.ln(x)).chunk(3, -1)
        return x + self.proj(F.scaled_dot_product_attention(q, k, v, is_causal=True))


def mark_only_lora_as_trainable(model):
    for name, p in model.named_parameters():
        p.requires_grad = "lora_" in name


torch.manual_seed(1)
pretrained = nn.Sequential(nn.Embedding(13, 8), Block(8), Block(8), nn.Linear(8, 13)).state_dict()
model = nn.Sequential(nn.Embedding(13, 8), Block(8), Block(8), nn.Linear(8, 13))  # <-- bug
model.load_state_dict(pretrained)
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)  # <-- bug
for step in range(20):
    tokens = torch.randint(0, 13, (6, 9))
    loss = F.cross_entropy(model(tokens[:, :-1]).transpose(1, 2), tokens[:, 1:])
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
print(f"{loss.item():.4f}")
