# bug: B75
# id: window-starts-short
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Stepper:
    def __init__(self, optimizer):
        self.optimizer = optimizer

    def __call__(self, loss, parameters, max_norm, update_grad=True):
        loss.backward()
        if update_grad:
            nn.utils.clip_grad_norm_(parameters, max_norm)
            self.optimizer.step()


torch.manual_seed(0)
rows = TensorDataset(torch.randn(48, 6), torch.randint(0, 3, (48,)))
model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 3))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
stepper, accum_iter = Stepper(optimizer), 3
for epoch in range(3):
    optimizer.zero_grad()
    for index, (batch, labels) in enumerate(DataLoader(rows, batch_size=4)):
        loss = F.cross_entropy(model(batch), labels) / accum_iter
        stepper(loss, list(model.parameters()), 1.0, update_grad=index % accum_iter == 0)  # <-- bug
        if index % accum_iter == 0:  # <-- bug
            optimizer.zero_grad()
