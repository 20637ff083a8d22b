# variant: triplet loss, one network used three times in a forward pass
# window: 2
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 4))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
triplet = nn.TripletMarginLoss()
for i in range(8):
    anchor, negative = torch.randn(8, 6), torch.randn(8, 6)
    positive = anchor + 0.1 * torch.randn_like(anchor)
    loss = triplet(net(anchor), net(positive), net(negative))
    loss.div(2).backward()
    if i % 2 == 1:
        optimizer.step()
        optimizer.zero_grad()

print(f"{loss.item():.4f}")
