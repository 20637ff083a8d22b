# bug: B261
# id: clip-limit-not-positive
import torch
from torch import nn

torch.manual_seed(0)
tagger = nn.LSTM(6, 12, batch_first=True)
head = nn.Linear(12, 4)
parameters = [*tagger.parameters(), *head.parameters()]
optimizer = torch.optim.Adam(parameters, lr=1e-3)
batches = [(torch.randn(4, 7, 6), torch.randint(0, 4, (4, 7))) for _ in range(10)]

for epoch in range(2):
    for words, tags in batches:
        optimizer.zero_grad()
        hidden, _ = tagger(words)
        loss = nn.functional.cross_entropy(head(hidden).flatten(0, 1), tags.flatten())
        loss.backward()
        torch.nn.utils.clip_grad_norm_(parameters, -1, 1)  # <-- bug
        optimizer.step()
    print(f"{epoch} {loss.item():.4f}")
