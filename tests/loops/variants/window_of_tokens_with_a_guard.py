# variant: a window ends when its tokens reach a budget, below a guard for empty batches; a batch takes several calls
import torch
from torch import nn

torch.manual_seed(0)
encoder, head = nn.Linear(6, 12), nn.Linear(12, 6)
optimizer = torch.optim.AdamW([*encoder.parameters(), *head.parameters()], lr=1e-3)
BUDGET, tokens, lengths = 60, 0, torch.randint(8, 24, (200,)).tolist()
for length in lengths:
    x = torch.randn(length, 6)
    mask = torch.rand(length) < 0.95
    if not mask.any():
        continue
    will_step = tokens + length >= BUDGET
    context = torch.cat([encoder(part) for part in x.chunk(3)])
    loss_sum = (head(context) - x)[mask].square().sum()
    (loss_sum / (BUDGET * 6)).backward()
    tokens += length
    if will_step:
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        tokens = 0
