# bug: B258
# id: rest-without-backward
import torch
import torch.nn.functional as F
from torch import nn


class VAE(nn.Module):
    def __init__(self, size=10, code=3):
        super().__init__()
        self.encoder = nn.Linear(size, 2 * code)
        self.decoder = nn.Linear(code, size)

    def forward(self, x):
        mean, logvar = self.encoder(x).chunk(2, dim=-1)
        code = mean + torch.randn_like(mean) * (0.5 * logvar).exp()
        return self.decoder(code), mean, logvar


class Trainer:
    def __init__(self):
        self.model = VAE()
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=2e-3)

    def losses(self, x):
        made, mean, logvar = self.model(x)
        self.recon = F.mse_loss(made, x)
        self.kl = -0.5 * (1 + logvar - mean**2 - logvar.exp()).mean()
        self.loss = self.recon + 0.1 * self.kl

    def step(self, x):
        self.losses(x)
        self.optimizer.zero_grad()
        self.recon.backward()  # <-- bug
        self.optimizer.step()
        return self.loss.item()


torch.manual_seed(0)
trainer = Trainer()
data = torch.randn(48, 10)
for epoch in range(5):
    print(sum(trainer.step(x) for x in data.split(12)))
