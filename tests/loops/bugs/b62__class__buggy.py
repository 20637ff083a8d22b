# bug: B62
# id: scaler-not-updated
# raises: RuntimeError
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Trainer:
    def __init__(self, model, accum):
        self.model, self.accum = model, accum
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
        self.scaler = torch.amp.GradScaler("cpu", init_scale=128.0)

    def optimizer_step(self):
        self.scaler.unscale_(self.optimizer)  # <-- bug
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.scaler.step(self.optimizer)  # <-- bug
        self.optimizer.zero_grad()

    def fit(self, loader):
        for step, (x, y) in enumerate(loader, 1):
            with torch.autocast("cpu", dtype=torch.bfloat16):
                loss = nn.functional.cross_entropy(self.model(x), y)
            self.scaler.scale(loss / self.accum).backward()
            if step % self.accum == 0:
                self.optimizer_step()


torch.manual_seed(0)
loader = DataLoader(TensorDataset(torch.randn(48, 5), torch.randint(0, 2, (48,))), batch_size=4)
Trainer(nn.Sequential(nn.Linear(5, 5), nn.ReLU(), nn.Linear(5, 2)), accum=2).fit(loader)
