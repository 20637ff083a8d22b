"""Lightning's manual optimization with two optimizers: the discriminator learns from detached fakes."""

import logging
import tempfile
import warnings

import torch
from lightning.pytorch import LightningModule, Trainer
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
warnings.simplefilter("ignore")


class GAN(LightningModule):
    def __init__(self) -> None:
        super().__init__()
        self.automatic_optimization = False
        self.generator = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 8))
        self.discriminator = nn.Sequential(nn.Linear(8, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))

    def training_step(self, batch: list[torch.Tensor], batch_idx: int) -> None:
        (real,) = batch
        rows = len(real)
        optimizer_g, optimizer_d = self.optimizers()
        optimizer_g.zero_grad()
        optimizer_d.zero_grad()

        fake = self.generator(torch.randn(rows, 4)).detach()
        loss_real = nn.functional.binary_cross_entropy_with_logits(self.discriminator(real), torch.ones(rows, 1))
        loss_fake = nn.functional.binary_cross_entropy_with_logits(self.discriminator(fake), torch.zeros(rows, 1))
        self.manual_backward((loss_real + loss_fake) / 2)
        optimizer_d.step()

        fake = self.generator(torch.randn(rows, 4))
        loss_g = nn.functional.binary_cross_entropy_with_logits(self.discriminator(fake), torch.ones(rows, 1))
        self.manual_backward(loss_g)
        optimizer_g.step()
        self.log_dict({"real": loss_real, "fake": loss_fake, "generator": loss_g})

    def configure_optimizers(self) -> tuple[list[torch.optim.Optimizer], list[None]]:
        optimizer_g = torch.optim.Adam(self.generator.parameters(), lr=2e-3, betas=(0.5, 0.999))
        optimizer_d = torch.optim.Adam(self.discriminator.parameters(), lr=2e-3, betas=(0.5, 0.999))
        return [optimizer_g, optimizer_d], []


if __name__ == "__main__":
    torch.manual_seed(0)
    loader = DataLoader(TensorDataset(torch.randn(64, 8) + 2), batch_size=8, shuffle=True)
    with tempfile.TemporaryDirectory() as folder:
        trainer = Trainer(
            max_epochs=1,
            accelerator="cpu",
            default_root_dir=folder,
            logger=False,
            enable_checkpointing=False,
            enable_progress_bar=False,
            enable_model_summary=False,
        )
        trainer.fit(GAN(), loader)
