# bug: B29
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class VAETrainer:
    def __init__(self, loader):
        self.encoder = nn.Linear(6, 4)
        self.decoder = nn.Linear(2, 6)
        self.loader = loader
        self.optimizer = torch.optim.Adam([*self.encoder.parameters(), *self.decoder.parameters()], lr=1e-2)

    def forward(self, x):
        mu, logvar = self.encoder(x).chunk(2, dim=-1)
        z = mu + torch.randn_like(mu) * (0.5 * logvar).exp()
        kl = -0.5 * (1 + logvar - mu**2 - logvar.exp()).sum(-1).mean()
        return self.decoder(z), kl

    def train(self, epochs):
        for _ in range(epochs):
            for (x,) in self.loader:
                self.optimizer.zero_grad()
                recon, kl = self.forward(x)
                recon_loss = nn.functional.mse_loss(recon, x)
                elbo = recon_loss + 0.1 * kl
                elbo.backward()
                self.optimizer.step()
        return elbo.item()


torch.manual_seed(0)
loader = DataLoader(TensorDataset(torch.randn(24, 6)), batch_size=6, shuffle=True)
print(VAETrainer(loader).train(2))
