# truth: clean
import torch
import torch.nn.functional as F
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(0)
"""VQ-VAE with an EMA codebook after zalandoresearch/pytorch-vq-vae: the codebook stands in the optimizer, idle."""


class VQ(nn.Module):
    def __init__(self, n, d, decay=0.99):
        super().__init__()
        self.emb = nn.Embedding(n, d)
        self.register_buffer("size", torch.ones(n))
        self.ema_w = nn.Parameter(self.emb.weight.detach().clone())
        self.decay = decay

    def forward(self, x):
        dist = torch.cdist(x, self.emb.weight)
        code = F.one_hot(dist.argmin(1), len(self.size)).float()
        q = code @ self.emb.weight
        if self.training:
            with torch.no_grad():
                self.size.mul_(self.decay).add_(code.sum(0), alpha=1 - self.decay)
            dw = code.T @ x
            self.ema_w = nn.Parameter(self.ema_w * self.decay + (1 - self.decay) * dw)
            self.emb.weight = nn.Parameter(self.ema_w / self.size.unsqueeze(1))
        loss = 0.25 * F.mse_loss(q.detach(), x)
        return x + (q - x).detach(), loss


enc, vq, dec = nn.Linear(6, 4), VQ(8, 4), nn.Linear(4, 6)
model = nn.ModuleList([enc, vq, dec])
opt = torch.optim.Adam(model.parameters(), lr=1e-3, amsgrad=False)
for it in range(10):
    x = torch.randn(16, 6)
    opt.zero_grad()
    q, vq_loss = vq(enc(x))
    loss = F.mse_loss(dec(q), x) + vq_loss
    loss.backward()
    opt.step()
print(loss.item())
