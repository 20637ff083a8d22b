# bug: B151
"""An encoder whose codes are to hide which of two sources they come from."""

import torch
from torch import nn


class Trainer:
    def __init__(self):
        self.encoder = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 4))
        self.decoder, self.adversary = nn.Linear(4, 6), nn.Linear(4, 2)
        coder = [*self.encoder.parameters(), *self.decoder.parameters()]
        self.main = torch.optim.AdamW(coder, lr=1e-3)
        self.other = torch.optim.AdamW(self.adversary.parameters(), lr=1e-3)
        self.rebuilt, self.told = nn.MSELoss(), nn.CrossEntropyLoss()

    def step(self, x, source):
        self.main.zero_grad()
        code = self.encoder(x)
        loss = self.rebuilt(self.decoder(code), x) - 0.1 * self.told(self.adversary(code), source)
        loss.backward()
        self.main.step()
        found = self.told(self.adversary(code.detach()), source)
        self.other.zero_grad()
        found.backward()
        self.other.step()
        return loss.item(), found.item()


torch.manual_seed(0)
trainer = Trainer()
for step in range(15):
    source = torch.randint(2, (24,))
    lost, found = trainer.step(torch.randn(24, 6) + source[:, None], source)
print(f"{lost:.3f} {found:.3f}")
