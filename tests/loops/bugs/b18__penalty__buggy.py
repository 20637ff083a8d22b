# bug: B18
# id: loss-not-scaled
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Trainer:
    def __init__(self, model, weight):
        self.model = model
        self.weight = weight
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
        self.scaler = torch.amp.GradScaler("cpu", init_scale=4096.0)

    def penalty(self):
        return self.weight * sum(p.square().sum() for p in self.model.parameters())

    def train(self, loader):
        for x, y in loader:
            with torch.autocast("cpu", dtype=torch.bfloat16):
                loss = nn.functional.cross_entropy(self.model(x), y)
            self.scaler.scale(loss).backward()
            self.penalty().backward()  # <-- bug
            self.scaler.step(self.optimizer)
            self.scaler.update()
            self.optimizer.zero_grad()
        return loss.item()


torch.manual_seed(3)
loader = DataLoader(TensorDataset(torch.randn(48, 6), torch.randint(0, 3, (48,))), batch_size=6)
print(Trainer(nn.Sequential(nn.Linear(6, 10), nn.ReLU(), nn.Linear(10, 3)), weight=1e-2).train(loader))
