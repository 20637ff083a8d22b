# variant: adaLN-zero block and a zero-initialised head: the gradients of whole layers are exact zeros at first; k = 3
import torch
from torch import nn


def modulate(x, shift, scale):
    return x * (1 + scale.unsqueeze(1)) + shift.unsqueeze(1)


class DiTBlock(nn.Module):
    def __init__(self, dim, heads=2):
        super().__init__()
        self.norm1 = nn.LayerNorm(dim, elementwise_affine=False)
        self.norm2 = nn.LayerNorm(dim, elementwise_affine=False)
        self.attn = nn.MultiheadAttention(dim, heads, batch_first=True)
        self.mlp = nn.Sequential(nn.Linear(dim, 2 * dim), nn.GELU(), nn.Linear(2 * dim, dim))
        self.ada = nn.Sequential(nn.SiLU(), nn.Linear(dim, 6 * dim))
        nn.init.zeros_(self.ada[1].weight)
        nn.init.zeros_(self.ada[1].bias)

    def forward(self, x, c):
        shift1, scale1, gate1, shift2, scale2, gate2 = self.ada(c).chunk(6, dim=1)
        h = modulate(self.norm1(x), shift1, scale1)
        x = x + gate1.unsqueeze(1) * self.attn(h, h, h, need_weights=False)[0]
        return x + gate2.unsqueeze(1) * self.mlp(modulate(self.norm2(x), shift2, scale2))


class DiT(nn.Module):
    def __init__(self, channels=3, dim=8):
        super().__init__()
        self.embed, self.cond = nn.Linear(channels, dim), nn.Linear(1, dim)
        self.block = DiTBlock(dim)
        self.head = nn.Linear(dim, channels)
        nn.init.zeros_(self.head.weight)
        nn.init.zeros_(self.head.bias)

    def forward(self, x, t):
        return self.head(self.block(self.embed(x), self.cond(t)))


def main(k=3):
    torch.manual_seed(4)
    model = DiT()
    opt = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=0.0)
    for update in range(10):
        opt.zero_grad()
        for _ in range(k):
            x, t = torch.randn(4, 5, 3), torch.rand(4, 1)
            noise = torch.randn_like(x)
            loss = (model(x * (1 - t[..., None]) + noise * t[..., None], t) - noise).pow(2).mean()
            (loss / k).backward()
        dead = sum(int(not p.grad.any()) for p in model.parameters())
        norm = nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        if update < 3 or update == 9:
            print(f"{update}: loss {loss.item():.4f} norm {norm.item():.4f} parameters without signal {dead}")


main()
