# variant: weights and optimizer state resumed, the count of micro-batches starts anew: every window is whole
import copy

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
k = 4
dataset = TensorDataset(torch.randn(64, 6), torch.randint(0, 3, (64,)))
template = nn.Sequential(nn.Linear(6, 12), nn.Tanh(), nn.Linear(12, 3))
donor = copy.deepcopy(template)
donor_opt = torch.optim.SGD(donor.parameters(), lr=0.1, momentum=0.9)
for x, y in DataLoader(dataset, batch_size=16):
    (nn.functional.cross_entropy(donor(x), y) / 4).backward()
donor_opt.step()
checkpoint = {"model": donor.state_dict(), "optimizer": donor_opt.state_dict(), "micro_step": 6, "epoch": 0}

model = copy.deepcopy(template)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
model.load_state_dict(checkpoint["model"])
optimizer.load_state_dict(checkpoint["optimizer"])
print(f"killed in epoch {checkpoint['epoch']} after {checkpoint['micro_step']} micro-batches; the epoch is begun again")
for epoch in range(checkpoint["epoch"], 3):
    micro_step = 0
    for x, y in DataLoader(dataset, batch_size=4, shuffle=True):
        loss = nn.functional.cross_entropy(model(x), y) / k
        loss.backward()
        micro_step += 1
        if micro_step % k == 0:
            optimizer.step()
            optimizer.zero_grad()

print(f"{loss.item() * k:.4f}")
