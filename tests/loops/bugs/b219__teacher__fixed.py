# bug: B219
import torch
from torch import nn

torch.manual_seed(0)
teacher = nn.Sequential(nn.Linear(12, 40), nn.Tanh(), nn.Linear(40, 5)).eval()
for p in teacher.parameters():
    p.requires_grad_(False)
student = nn.Sequential(nn.Linear(12, 10), nn.Tanh(), nn.Linear(10, 5))

opt = torch.optim.AdamW(student.parameters(), lr=2e-3)
for epoch in range(3):
    for _ in range(6):
        x = torch.randn(24, 12)
        with torch.no_grad():
            soft = (teacher(x) / 2).softmax(1)
        loss = nn.functional.kl_div((student(x) / 2).log_softmax(1), soft, reduction="batchmean")
        opt.zero_grad()
        loss.backward()
        opt.step()
