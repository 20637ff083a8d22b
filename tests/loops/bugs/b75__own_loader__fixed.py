# bug: B75
import torch
import torch.nn.functional as F
from torch import nn


class Utterances:
    def __init__(self, number):
        self.batches = [(torch.randn(4, 6), torch.randint(0, 3, (4,))) for _ in range(number)]

    def __iter__(self):
        return iter(self.batches)


class Trainer:
    def __init__(self, model, optimizer, accum_steps):
        self.model, self.optimizer, self.accum_steps = model, optimizer, accum_steps

    def epoch(self, loader):
        for step, (frames, words) in enumerate(loader):
            loss = F.cross_entropy(self.model(frames), words) / self.accum_steps
            loss.backward()
            if (step + 1) % self.accum_steps == 0 or step == 8:
                self.optimizer.step()
                self.optimizer.zero_grad()


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 3))
trainer = Trainer(model, torch.optim.AdamW(model.parameters(), lr=1e-2), accum_steps=4)
for _ in range(3):
    trainer.epoch(Utterances(9))
