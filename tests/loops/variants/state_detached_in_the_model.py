# variant: a stateful model that keeps its hidden state itself, detached in forward; the loop shows nothing of it
import torch
from torch import nn


class StatefulGRU(nn.Module):
    def __init__(self, vocab: int = 13, dim: int = 10) -> None:
        super().__init__()
        self.embed, self.gru, self.out = nn.Embedding(vocab, dim), nn.GRU(dim, dim), nn.Linear(dim, vocab)
        self.state: torch.Tensor | None = None

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        h, state = self.gru(self.embed(ids), self.state)
        self.state = state.detach()
        return self.out(h)


torch.manual_seed(0)
text = torch.randint(0, 13, (61, 4))
model = StatefulGRU()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for epoch in range(2):
    model.state = None
    for start in range(0, 60, 10):
        optimizer.zero_grad()
        logits = model(text[start : start + 10])
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), text[start + 1 : start + 11].flatten())
        loss.backward()
        optimizer.step()

print(f"{loss.item():.4f}")
