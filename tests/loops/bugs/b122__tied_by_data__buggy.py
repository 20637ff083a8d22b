# bug: B122
# id: parameters-share-memory
import torch
import torch.nn.functional as F
from torch import nn


class LanguageModel(nn.Module):
    def __init__(self, words=20, width=16):
        super().__init__()
        self.embedding = nn.Embedding(words, width)
        self.body = nn.Linear(width, width)
        self.head = nn.Linear(width, words, bias=False)
        self.head.weight.data = self.embedding.weight.data  # <-- bug

    def forward(self, tokens):
        return self.head(torch.tanh(self.body(self.embedding(tokens))))


torch.manual_seed(0)
model = LanguageModel()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
for _ in range(12):
    tokens = torch.randint(20, (8, 6))
    loss = F.cross_entropy(model(tokens[:, :-1]).flatten(0, 1), tokens[:, 1:].flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"{loss.item():.4f}")
