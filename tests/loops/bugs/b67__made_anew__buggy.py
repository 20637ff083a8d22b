# bug: B67
# id: average-every-micro-batch
import torch
import torch.nn.functional as F
from torch import nn


class EMA:
    def __init__(self, model, decay=0.9):
        self.model, self.decay = model, decay
        self.shadow = {name: param.data.clone() for name, param in model.named_parameters()}

    def update(self):
        for name, param in self.model.named_parameters():
            if name in self.shadow:
                new_average = self.decay * self.shadow[name] + (1.0 - self.decay) * param.data
                self.shadow[name] = new_average


torch.manual_seed(0)
accumulation_steps = 3
model = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 2))
optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
ema = EMA(model)
for epoch in range(3):
    for step in range(1, 13):
        text, label = torch.randn(4, 8), torch.randint(0, 2, (4,))
        loss = F.cross_entropy(model(text), label) / accumulation_steps
        loss.backward()
        if step % accumulation_steps == 0:
            optimizer.step()
            optimizer.zero_grad()
        ema.update()  # <-- bug
