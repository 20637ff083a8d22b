# bug: B94
# id: divided-by-running-total
import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader

torch.manual_seed(0)
vocab, accum, pad = 13, 2, -100
sentences = [torch.randint(1, vocab, (int(n),)) for n in torch.randint(5, 10, (80,))]


def collate(batch):
    inputs = pad_sequence([s[:-1] for s in batch], batch_first=True)
    return inputs, pad_sequence([s[1:] for s in batch], batch_first=True, padding_value=pad)


model = nn.Sequential(nn.Embedding(vocab, 12), nn.Linear(12, 24), nn.GELU(), nn.Linear(24, vocab))
optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
loader = DataLoader(sentences, batch_size=4, shuffle=True, collate_fn=collate)
tokens = 0  # <-- bug
for i, (inputs, targets) in enumerate(loader):
    logits = model(inputs)
    loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=pad, reduction="sum")
    loss.backward()
    tokens += int((targets != pad).sum())
    if (i + 1) % accum == 0:
        for p in model.parameters():
            p.grad /= tokens  # <-- bug
        optimizer.step()
        optimizer.zero_grad()  # <-- bug
