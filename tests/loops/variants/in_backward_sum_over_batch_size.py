# variant: optimizer in the backward, one batch of four a step: a summed loss divided by the four samples
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Trainer:
    batch_size = 4

    def __init__(self, model: nn.Module) -> None:
        self.model = model
        self.criterion = nn.CrossEntropyLoss(reduction="sum")
        for p in model.parameters():
            optimizer = torch.optim.SGD([p], lr=0.05, momentum=0.9)
            p.register_post_accumulate_grad_hook(lambda p, optimizer=optimizer: self.update(optimizer))

    def update(self, optimizer: torch.optim.Optimizer) -> None:
        optimizer.step()
        optimizer.zero_grad()

    def fit(self, dataset: TensorDataset) -> float:
        for x, y in DataLoader(dataset, batch_size=self.batch_size, shuffle=True):
            loss = self.criterion(self.model(x), y) / self.batch_size
            loss.backward()
        return loss.item()


torch.manual_seed(0)
trainer = Trainer(nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 3)))
print(f"{trainer.fit(TensorDataset(torch.randn(48, 6), torch.randint(0, 3, (48,)))):.4f}")
