# bug: B288
# id: last-turn-alone
# severity: warning
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)

generator = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
discriminator = nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
optimizer_g = torch.optim.Adam(generator.parameters(), lr=1e-3)
optimizer_d = torch.optim.Adam(discriminator.parameters(), lr=1e-3)
criterion = nn.BCEWithLogitsLoss()
loader = DataLoader(TensorDataset(torch.randn(96, 2) + 2), batch_size=16, shuffle=True)

for epoch in range(6):
    for i, (images,) in enumerate(loader):
        real = images * 0.5
        ones = torch.ones(len(real), 1)
        zeros = torch.zeros(len(real), 1)

        optimizer_g.zero_grad()
        fake = generator(torch.randn(len(real), 4))
        loss_g = criterion(discriminator(fake), ones)
        loss_g.backward()
        optimizer_g.step()

    optimizer_d.zero_grad()
    loss_real = criterion(discriminator(real), ones)
    loss_fake = criterion(discriminator(fake.detach()), zeros)
    loss_d = (loss_real + loss_fake) / 2
    loss_d.backward()
    optimizer_d.step()  # <-- bug
    print(epoch, loss_g.item(), loss_d.item())
