# bug: B83
# id: scaler-step-missing
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class AutoencoderGAN:
    def __init__(self, dim=6):
        self.auto = nn.Sequential(nn.Linear(dim, 8), nn.ReLU(), nn.Linear(8, dim))
        self.disc = nn.Sequential(nn.Linear(dim, 8), nn.LeakyReLU(0.2), nn.Linear(8, 1))
        self.opt_auto = torch.optim.Adam(self.auto.parameters(), lr=1e-3)
        self.opt_disc = torch.optim.Adam(self.disc.parameters(), lr=1e-3)
        self.scaler = torch.amp.GradScaler("cpu", init_scale=512.0)
        self.bce = nn.BCEWithLogitsLoss()

    def train_batch(self, x):
        ones, zeros = torch.ones(len(x), 1), torch.zeros(len(x), 1)
        self.opt_auto.zero_grad()
        with torch.autocast("cpu", dtype=torch.bfloat16):
            recon = self.auto(x)
            loss = nn.functional.l1_loss(recon, x) + 0.1 * self.bce(self.disc(recon), ones)
        self.scaler.scale(loss).backward()  # <-- bug

        self.opt_disc.zero_grad()
        with torch.autocast("cpu", dtype=torch.bfloat16):
            d_loss = self.bce(self.disc(x), ones) + self.bce(self.disc(recon.detach()), zeros)
        self.scaler.scale(d_loss).backward()
        self.scaler.step(self.opt_disc)
        self.scaler.update()  # <-- bug
        return loss.item(), d_loss.item()


torch.manual_seed(2)
loader = DataLoader(TensorDataset(torch.randn(40, 6)), batch_size=8)
gan = AutoencoderGAN()
for epoch in range(2):
    for (x,) in loader:
        losses = gan.train_batch(x)
    print(epoch, [round(v, 4) for v in losses])
