# variant: features computed under no_grad, only the head in the optimizer
import torch
from torch import nn

torch.manual_seed(0)
backbone = nn.Sequential(nn.Linear(6, 16), nn.ReLU())
head = nn.Linear(16, 3)
optimizer = torch.optim.AdamW(head.parameters(), lr=1e-2)
backbone.eval()
for step in range(6):
    images, labels = torch.randn(8, 6), torch.randint(0, 3, (8,))
    with torch.no_grad():
        feats = backbone(images)
    loss = nn.functional.cross_entropy(head(feats), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

print(f"{loss.item():.4f}")
