# bug: B158
# id: loss-not-divided
import torch
from torch import nn


class Views(nn.Module):
    def forward(self, student, teacher, views):
        total, terms = 0.0, 0
        for i, fixed in enumerate(teacher.detach().softmax(-1).chunk(2)):
            for j, one in enumerate(student.log_softmax(-1).chunk(views)):
                if i != j:
                    total += -(fixed * one).sum(-1).mean()
                    terms += 1
        total /= terms
        return total


torch.manual_seed(0)
accumulation_steps, views = 4, 4
net = nn.Sequential(nn.Linear(6, 16), nn.GELU(), nn.Linear(16, 5))
criterion, optimizer = Views(), torch.optim.AdamW(net.parameters(), lr=1e-3)
batches = [torch.randn(views, 4, 6) for _ in range(12)]
for epoch in range(2):
    for i, batch in enumerate(batches):
        outputs = net(batch.flatten(0, 1))
        loss = criterion(outputs, outputs[:8], views)
        loss.backward()  # <-- bug
        if (i + 1) % accumulation_steps == 0:
            optimizer.step()
            optimizer.zero_grad()
    print(epoch, f"{loss.item():.4f}")
