# bug: B11
# id: tail-divided-by-full-window
# severity: info
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)


def train_epoch(model, loader, optimizer, accumulation_steps):
    last = 0
    for step, (inputs, targets) in enumerate(loader, start=1):
        last = step
        loss = nn.functional.cross_entropy(model(inputs), targets) / accumulation_steps  # <-- bug
        loss.backward()  # <-- bug
        if step % accumulation_steps == 0:
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
    if last % accumulation_steps != 0:
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)


model = nn.Linear(6, 2)
loader = DataLoader(TensorDataset(torch.randn(190, 6), torch.randint(0, 2, (190,))), batch_size=2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(2):
    train_epoch(model, loader, optimizer, 8)
