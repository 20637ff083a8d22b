# bug: B241
# id: gradients-nobody-uses
import torch
from torch import nn

torch.manual_seed(4)


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Sequential(nn.Linear(10, 32), nn.SiLU(), nn.Linear(32, 32), nn.SiLU())
        self.mean = nn.Linear(32, 3)
        self.logvar = nn.Linear(32, 3)

    def forward(self, x):
        hidden = self.backbone(x)
        return self.mean(hidden), self.logvar(hidden)


class Autoencoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = Encoder()
        self.decoder = nn.Sequential(nn.Linear(3, 32), nn.SiLU(), nn.Linear(32, 10))

    def forward(self, x):
        mean, logvar = self.encoder(x)
        code = mean + torch.randn_like(mean) * (0.5 * logvar).exp()
        return self.decoder(code), -0.5 * (1 + logvar - mean**2 - logvar.exp()).mean()


model = Autoencoder()
trained = list(model.encoder.backbone.parameters()) + list(model.decoder.parameters())  # <-- bug
optimizer = torch.optim.Adam(trained, lr=2e-3)
for step in range(20):
    x = torch.randn(32, 10)
    again, divergence = model(x)
    optimizer.zero_grad()
    (nn.functional.mse_loss(again, x) + 0.01 * divergence).backward()
    optimizer.step()
