# bug: B77
# id: graph-carried-over
# raises: RuntimeError
import torch
from torch import nn


class CharModel(nn.Module):
    def __init__(self, vocab=15, dim=10):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.lstm = nn.LSTM(dim, dim, batch_first=True)
        self.out = nn.Linear(dim, vocab)

    def forward(self, ids, state=None):
        h, state = self.lstm(self.embed(ids), state)
        return self.out(h), state


torch.manual_seed(0)
text = torch.randint(0, 15, (4, 61))
model = CharModel()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
criterion = nn.CrossEntropyLoss()

state = None
for start in range(0, 60, 6):
    x, y = text[:, start : start + 6], text[:, start + 1 : start + 7]
    optimizer.zero_grad()
    logits, state = model(x, state)  # <-- bug
    loss = criterion(logits.reshape(-1, 15), y.reshape(-1))
    loss.backward()  # <-- bug
    optimizer.step()
print(f"{loss.item():.4f}")
