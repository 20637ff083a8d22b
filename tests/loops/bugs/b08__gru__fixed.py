# bug: B08
# needs: reference
import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils.rnn import pad_sequence

PAD = -100


class CharLM(nn.Module):
    def __init__(self, vocab=12, dim=8):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.gru = nn.GRU(dim, dim, batch_first=True)
        self.head = nn.Linear(dim, vocab)

    def forward(self, x):
        return self.head(self.gru(self.embed(x))[0])


def collate(sequences):
    x = pad_sequence([s[:-1] for s in sequences], batch_first=True)
    y = pad_sequence([s[1:] for s in sequences], batch_first=True, padding_value=PAD)
    return x, y


def token_loss(model, batch, reduction="mean"):
    x, y = batch
    return F.cross_entropy(model(x).flatten(0, 1), y.flatten(), ignore_index=PAD, reduction=reduction)


torch.manual_seed(0)
model = CharLM()
optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
k = 4
lengths = torch.randint(2, 14, (24,)).tolist()
batches = [collate([torch.randint(0, 12, (n,))]) for n in lengths]
windows = [batches[i : i + k] for i in range(0, len(batches), k)]


def n_tokens(window):
    return sum((y != PAD).sum() for _, y in window)


def reference() -> dict[str, torch.Tensor]:
    total = sum(token_loss(model, b, "sum") for b in window) / n_tokens(window)
    names, params = zip(*model.named_parameters())
    return dict(zip(names, torch.autograd.grad(total, params)))


for window in windows:
    for batch in window:
        loss = token_loss(model, batch, "sum") / n_tokens(window)
        loss.backward()
    optimizer.step()
    optimizer.zero_grad()
print(f"{loss.item():.4f}")
