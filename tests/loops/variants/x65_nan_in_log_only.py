# variant: what is logged is nan or inf (an empty class, exp of a large loss); what goes backward is not
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Linear(12, 4))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(10):
    x, y = torch.randn(6, 6), torch.randint(0, 4, (6,))
    logits = model(x)
    loss = nn.functional.cross_entropy(logits, y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        hits = logits.argmax(1) == y
        recall = torch.stack([hits[y == c].float().mean() for c in range(4)])  # mean of nothing: nan
        perplexity = (100 * loss).exp()  # of a hundred such words in a row
    print(f"{step}: perplexity {perplexity.item():.3g}, recall {recall.mean().item():.3f}")
