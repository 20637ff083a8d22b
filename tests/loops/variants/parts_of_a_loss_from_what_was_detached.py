# variant: a probe is trained on detached features beside the loss, and a detached output is only shown
import torch
from torch import nn

torch.manual_seed(0)
model, probe = nn.Sequential(nn.Linear(6, 16), nn.ReLU()), nn.Linear(16, 2)
head = nn.Linear(16, 3)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam([*model.parameters(), *head.parameters(), *probe.parameters()], lr=1e-2)
shown = 0.0
for _ in range(20):
    x, y, colour = torch.randn(16, 6), torch.randint(3, (16,)), torch.randint(2, (16,))
    features = model(x)
    kept = features.detach()
    logits = head(features)
    guess = logits.detach()
    loss = criterion(logits, y) + criterion(probe(kept), colour)
    shown = 0.9 * shown + 0.1 * criterion(guess, y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"{shown:.3f}")
