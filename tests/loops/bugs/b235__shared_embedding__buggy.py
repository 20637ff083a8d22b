# bug: B235
# id: parameter-listed-twice
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(2)
emb = nn.Embedding(30, 16)
rnn = nn.GRU(16, 16, batch_first=True)
out = nn.Linear(16, 30, bias=False)
out.weight = emb.weight

params = [p for part in (emb, rnn, out) for p in part.parameters()]  # <-- bug
opt = torch.optim.Adam(params, lr=3e-3)
for step in range(12):
    words = torch.randint(0, 30, (8, 10))
    hidden, _ = rnn(emb(words[:, :-1]))
    loss = F.cross_entropy(out(hidden).flatten(0, 1), words[:, 1:].flatten())
    opt.zero_grad()
    loss.backward()
    opt.step()
