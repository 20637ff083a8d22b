# variant: the main loss is a sum over the window's tokens divided by their number, the auxiliary mean by k
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
embed, gate = nn.Embedding(20, 8), nn.Linear(8, 2)
experts, head = nn.ModuleList(nn.Linear(8, 8) for _ in range(2)), nn.Linear(8, 20)
modules = nn.ModuleList([embed, gate, experts, head])
optimizer = torch.optim.AdamW(modules.parameters(), lr=1e-2)
for step in range(9):
    window = [torch.randint(0, 20, (2, int(length))) for length in torch.randint(4, 12, (4,))]
    n_tokens = sum(tokens[:, 1:].numel() for tokens in window)
    optimizer.zero_grad()
    for tokens in window:
        h = embed(tokens[:, :-1])
        probs = gate(h).softmax(-1)
        h = sum(probs[..., j : j + 1] * expert(h) for j, expert in enumerate(experts))
        main = F.cross_entropy(head(h).flatten(0, 1), tokens[:, 1:].flatten(), reduction="sum")
        balance = probs.mean((0, 1)).pow(2).sum()
        (main / n_tokens + 0.02 * balance / len(window)).backward()
    optimizer.step()

print(f"{main.item() / tokens[:, 1:].numel():.4f}")
