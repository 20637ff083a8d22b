# variant: padded sequences: summed losses, tokens counted on the way, gradients divided once before the step
# window: 4
# reference: yes
import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence

torch.manual_seed(0)
model = nn.Sequential(nn.Embedding(17, 8, padding_idx=0), nn.Linear(8, 17)).double()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
sequences = [torch.randint(1, 17, (int(n),)) for n in torch.randint(3, 25, (48,))]
criterion = nn.CrossEntropyLoss(ignore_index=0, reduction="sum")
batches = [pad_sequence(sequences[i : i + 3], batch_first=True) for i in range(0, 48, 3)]
window: list[torch.Tensor] = []


def reference() -> dict[str, torch.Tensor]:
    named = dict(model.named_parameters())
    with torch.enable_grad():
        total = sum(criterion(model(b[:, :-1]).flatten(0, 1), b[:, 1:].flatten()) for b in window)
        loss = total / sum(int((b[:, 1:] != 0).sum()) for b in window)
    return dict(zip(named, torch.autograd.grad(loss, list(named.values()))))


num_tokens = 0
for i, batch in enumerate(batches):
    window.append(batch)
    labels = batch[:, 1:]
    num_tokens += int((labels != 0).sum())
    loss = criterion(model(batch[:, :-1]).flatten(0, 1), labels.flatten())
    loss.backward()
    if len(window) == 4:
        for p in model.parameters():
            if p.grad is not None:
                p.grad *= 1.0 / num_tokens
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1e6)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        num_tokens = 0
        window = []

print(f"{loss.item():.4f}")
