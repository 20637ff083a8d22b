# bug: B23
# id: parameter-in-two-optimizers
import torch
from torch import nn

torch.manual_seed(8)
generator = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))


class Discriminator(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))

    def forward(self, x):
        return self.net(x)


discriminator = Discriminator()
params = list(generator.parameters()) + list(discriminator.parameters())
optimizer_g = torch.optim.Adam(params, lr=1e-3)  # <-- bug
optimizer_d = torch.optim.Adam(discriminator.parameters(), lr=2e-3)
criterion = nn.BCEWithLogitsLoss()
for step in range(16):
    real, fake = torch.randn(32, 2) + 2, generator(torch.randn(32, 4))
    loss_d = criterion(discriminator(real), torch.ones(32, 1)) + criterion(
        discriminator(fake.detach()), torch.zeros(32, 1)
    )
    optimizer_d.zero_grad()
    loss_d.backward()
    optimizer_d.step()

    loss_g = criterion(discriminator(fake), torch.ones(32, 1))
    optimizer_g.zero_grad()
    loss_g.backward()
    optimizer_g.step()
