# id: divided-twice
# needs: reference
"""The training step divides by four, and so does `accumulate_grad_batches`."""

import logging
import tempfile
import warnings

import torch
from lightning.pytorch import LightningModule, Trainer
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
warnings.simplefilter("ignore")
window: list[list[torch.Tensor]] = []


class Classifier(LightningModule):
    def __init__(self) -> None:
        super().__init__()
        self.net = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 3))

    def on_train_batch_start(self, batch: list[torch.Tensor], batch_idx: int) -> None:
        if batch_idx % 4 == 0:
            window.clear()
        window.append(batch)

    def training_step(self, batch: list[torch.Tensor], batch_idx: int) -> torch.Tensor:
        inputs, targets = batch
        return nn.functional.cross_entropy(self.net(inputs), targets) / 4  # <-- bug

    def configure_optimizers(self) -> torch.optim.Optimizer:
        return torch.optim.SGD(self.parameters(), lr=0.1, momentum=0.9)


model = Classifier()


def reference() -> dict[str, torch.Tensor]:
    """The mean gradient over all rows of the window, the micro-batch now at work among them."""
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
            accumulate_grad_batches=4,
            default_root_dir=folder,
            logger=False,
            enable_checkpointing=False,
            enable_progress_bar=False,
            enable_model_summary=False,
        )
        trainer.fit(model, DataLoader(dataset, batch_size=4, shuffle=True))  # <-- bug
