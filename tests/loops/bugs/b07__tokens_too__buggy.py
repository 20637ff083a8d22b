# bug: B07
# id: divided-twice
import torch
from torch import nn

PAD = 0
torch.manual_seed(11)
model = nn.Sequential(nn.Embedding(12, 16), nn.Linear(16, 12))
optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
criterion = nn.CrossEntropyLoss(ignore_index=PAD)
for step in range(16):
    tokens = torch.randint(1, 12, (6, 9))
    for row, length in enumerate(torch.randint(3, 9, (6,)).tolist()):
        tokens[row, length:] = PAD
    inputs, targets = tokens[:, :-1], tokens[:, 1:]
    loss = criterion(model(inputs).flatten(0, 1), targets.flatten())
    loss = loss / (targets != PAD).sum()
    optimizer.zero_grad()
    loss.backward()  # <-- bug
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
