# variant: adversarial training of text: the loss at the embeddings, and at the embeddings moved by its gradient
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
table, head = nn.Embedding(50, 8), nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
optimizer = torch.optim.Adam([*table.parameters(), *head.parameters()], lr=1e-2)
for _ in range(20):
    words = torch.randint(0, 50, (16, 7))
    labels = words.sum(1) % 3
    optimizer.zero_grad()
    embedded = table(words)
    embedded.retain_grad()
    F.cross_entropy(head(embedded.mean(1)), labels).backward(retain_graph=True)
    slope = embedded.grad
    moved = embedded + 0.5 * slope / (slope.norm(dim=(1, 2), keepdim=True) + 1e-12)
    F.cross_entropy(head(moved.mean(1)), labels).backward()
    optimizer.step()
