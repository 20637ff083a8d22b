# id: graph-cut
"""The encoder runs under `no_grad` with the teacher: its optimizer steps, and never has a gradient."""

import copy

import torch
from torch import nn

torch.manual_seed(0)
teacher = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 4)).requires_grad_(False)
encoder = nn.Sequential(nn.Linear(6, 8), nn.Tanh())
head = nn.Linear(8, 4)
average = copy.deepcopy(head).requires_grad_(False)
encoder_optimizer = torch.optim.SGD(encoder.parameters(), lr=0.05, momentum=0.9)
head_optimizer = torch.optim.AdamW(head.parameters(), lr=1e-2)

for _ in range(8):
    inputs = torch.randn(8, 6)
    with torch.no_grad():  # <-- bug
        targets = teacher(inputs).softmax(-1)
        features = encoder(inputs)  # <-- bug
    encoder_optimizer.zero_grad()
    head_optimizer.zero_grad()
    loss = nn.functional.cross_entropy(head(features), targets)
    loss.backward()
    encoder_optimizer.step()  # <-- bug
    head_optimizer.step()
    with torch.no_grad():
        for kept, current in zip(average.parameters(), head.parameters(), strict=True):
            kept.lerp_(current, 0.1)
