# id: loss-not-divided
# needs: reference
"""Manual optimization divides by nothing, and neither does the module."""

import logging
import tempfile
import warnings

import torch
from lightning.pytorch import LightningModule, Trainer
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
warnings.simplefilter("ignore")
ACCUMULATION = 4
window: list[list[torch.Tensor]] = []


class Classifier(LightningModule):
    def __init__(self) -> None:
        super().__init__()
        self.automatic_optimization = False
        self.net = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 3))

    def training_step(self, batch: list[torch.Tensor], batch_idx: int) -> None:
        optimizer = self.optimizers()
        inputs, targets = batch
        window.append(batch)
        loss = nn.functional.cross_entropy(self.net(inputs), targets)
        self.manual_backward(loss)  # <-- bug
        if (batch_idx + 1) % ACCUMULATION == 0:
            optimizer.step()  # <-- bug
            self.lr_schedulers().step()
            optimizer.zero_grad()
            window.clear()

    def configure_optimizers(self) -> tuple[list[torch.optim.Optimizer], list[torch.optim.lr_scheduler.LRScheduler]]:
        optimizer = torch.optim.SGD(self.parameters(), lr=0.1, momentum=0.9)
        return [optimizer], [torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.9)]


model = Classifier()


def reference() -> dict[str, torch.Tensor]:
    """The mean gradient over all rows since the last step."""
    inputs, targets = (torch.cat(column) for column in zip(*window, strict=True))
    names, parameters = zip(*model.named_parameters(), strict=True)
    with torch.enable_grad():
        loss = nn.functional.cross_entropy(model.net(inputs), targets)
        return dict(zip(names, torch.autograd.grad(loss, parameters), strict=True))


if __name__ == "__main__":
    torch.manual_seed(0)
    dataset = TensorDataset(torch.randn(48, 8), torch.randint(0, 3, (48,)))
    with tempfile.TemporaryDirectory() as folder:
        trainer = Trainer(
            max_epochs=2,
            accelerator="cpu",
            default_root_dir=folder,
            logger=False,
            enable_checkpointing=False,
            enable_progress_bar=False,
            enable_model_summary=False,
        )
        trainer.fit(model, DataLoader(dataset, batch_size=4, shuffle=True))
