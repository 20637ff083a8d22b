# truth: clean
import torch
import torch.nn.functional as F
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(0)
"""Windows are filled until they hold enough tokens; most need four sequences, some five or three."""
emb = nn.Embedding(30, 8)
head = nn.Linear(8, 30)
opt = torch.optim.AdamW([*emb.parameters(), *head.parameters()], lr=1e-2)
lengths = [10, 10, 10, 10, 12, 12, 8, 8, 4, 10, 10, 10, 6, 14, 14, 14, 10, 10, 10, 10, 11, 11, 9, 9, 10, 10, 10, 10]
seqs = [torch.randint(0, 30, (n + 1,)) for n in lengths]
BUDGET = 40


def windows():
    buf, count = [], 0
    for s in seqs * 2:
        buf.append(s)
        count += len(s) - 1
        if count >= BUDGET:
            yield buf, count
            buf, count = [], 0
    if buf:
        yield buf, count


for buf, count in windows():
    for s in buf:
        loss = F.cross_entropy(head(emb(s[:-1])), s[1:], reduction="sum") / count
        loss.backward()
    opt.step()
    opt.zero_grad(set_to_none=True)
print(loss.item())
