# variant: log-probabilities are weighed by functions of the probabilities themselves, and by a learned weight
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 3))
hardness = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 1), nn.Sigmoid())
optimizer = torch.optim.Adam([*model.parameters(), *hardness.parameters()], lr=1e-2)
for _ in range(12):
    x, y = torch.randn(16, 6), torch.randint(3, (16,))
    logs = F.log_softmax(model(x), dim=-1)
    mine = logs.gather(1, y[:, None]).squeeze(1)
    focal = -((1 - mine.exp()) ** 2 * mine).mean()
    entropy = -(logs.exp() * logs).sum(-1).mean()
    share = hardness(x).squeeze(-1)
    weighed = -(share * mine).mean() - 0.1 * torch.log(share).mean()
    loss = focal - 0.01 * entropy + weighed
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
