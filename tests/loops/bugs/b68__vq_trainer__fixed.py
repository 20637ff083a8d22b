# bug: B68
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class VQVAE(nn.Module):
    def __init__(self, dim=8, code=4, codes=16):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(dim, 12), nn.ReLU(), nn.Linear(12, code))
        self.decoder = nn.Sequential(nn.Linear(code, 12), nn.ReLU(), nn.Linear(12, dim))
        self.codebook = nn.Embedding(codes, code)

    def forward(self, x):
        z = self.encoder(x)
        q = self.codebook(torch.cdist(z.detach(), self.codebook.weight.detach()).argmin(-1))
        vq = F.mse_loss(q, z.detach()) + 0.25 * F.mse_loss(z, q.detach())
        return self.decoder(z + (q - z).detach()), vq


class Trainer:
    def __init__(self, model, accum):
        self.model, self.accum = model, accum
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.05)

    def micro_batch(self, x):
        recon, vq = self.model(x)
        recon_loss = F.mse_loss(recon, x)
        (recon_loss / self.accum).backward(retain_graph=True)
        (vq / self.accum).backward()
        return recon_loss.item(), vq.item()

    def fit(self, loader):
        for step, (x,) in enumerate(loader, start=1):
            recon, vq = self.micro_batch(x)
            if step % self.accum:
                continue
            self.optimizer.step()
            self.optimizer.zero_grad()
            print(f"{step // self.accum}: reconstruction {recon:.4f}, codes {vq:.4f}")


torch.manual_seed(4)
Trainer(VQVAE(), accum=3).fit(DataLoader(TensorDataset(torch.randn(108, 8)), batch_size=4))
