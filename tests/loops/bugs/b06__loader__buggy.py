# bug: B06
# id: loss-not-divided
# needs: reference
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(1)
ACCUMULATION = 2
dataset = TensorDataset(torch.randn(32, 1, 6, 6), torch.randint(0, 5, (32,)))
train_dl = DataLoader(dataset, batch_size=4, shuffle=True)
model = nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(64, 5))
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, foreach=True)
current = []


def reference() -> dict[str, torch.Tensor]:
    """The gradient of the mean loss over all images since the last update."""
    images, labels = (torch.cat(part) for part in zip(*current))
    named = dict(model.named_parameters())
    grads = torch.autograd.grad(criterion(model(images), labels), list(named.values()))
    return dict(zip(named, grads))


optimizer.zero_grad()
for epoch in range(2):
    for idx, (images, labels) in enumerate(train_dl):
        current.append((images, labels))
        loss = criterion(model(images), labels)
        loss.backward()  # <-- bug
        if (idx + 1) % ACCUMULATION == 0:
            optimizer.step()
            optimizer.zero_grad()
            current = []
    print(f"epoch {epoch} loss {loss.item():.4f}")
