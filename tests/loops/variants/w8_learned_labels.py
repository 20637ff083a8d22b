# variant: soft labels that are learned beside the model, from the noisy ones
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
x, noisy = torch.randn(32, 6), torch.randint(0, 3, (32,))
model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 3))
doubt = nn.Parameter(4.0 * F.one_hot(noisy, 3).float())
optimizer = torch.optim.SGD([{"params": model.parameters()}, {"params": [doubt], "lr": 2.0}], lr=0.1)
for _ in range(20):
    said, soft_labels = F.log_softmax(model(x), 1), F.softmax(doubt, 1)
    loss = F.kl_div(soft_labels.log(), said, reduction="batchmean", log_target=True) + F.cross_entropy(doubt, noisy)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"{loss.item():.4f}")
