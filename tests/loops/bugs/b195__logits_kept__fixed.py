# bug: B195
import torch
from torch import nn

torch.manual_seed(0)
bag = nn.EmbeddingBag(50, 4)
optimizer = torch.optim.Adam(bag.parameters(), lr=0.02)
words, labels = torch.randint(50, (32, 7)), torch.randint(4, (32,))
for epoch in range(12):
    logits = bag(words)
    loss = nn.functional.cross_entropy(logits, labels)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    print(epoch, loss.item())
