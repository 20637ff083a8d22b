# bug: B13
# id: clipped-before-unscale
# window: 2
import torch
from torch import nn


class AmpTrainer:
    def __init__(self, model, accum=2):
        self.model = model
        self.accum = accum
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
        self.scaler = torch.amp.GradScaler("cpu", init_scale=2.0**12)

    def micro_step(self, x, y):
        with torch.autocast("cpu", dtype=torch.float16):
            out, _ = self.model(x)
            loss = (out[:, -1] - y).square().mean()
        self.scaler.scale(loss / self.accum).backward()

    def apply(self):
        nn.utils.clip_grad_value_(self.model.parameters(), 0.5)  # <-- bug
        self.scaler.step(self.optimizer)
        self.scaler.update()
        self.optimizer.zero_grad()

    def run(self, n_updates):
        for _ in range(n_updates):
            for _ in range(self.accum):
                self.micro_step(torch.randn(4, 5, 3), torch.randn(4, 6))
            self.apply()


torch.manual_seed(3)
AmpTrainer(nn.RNN(3, 6, batch_first=True)).run(6)
