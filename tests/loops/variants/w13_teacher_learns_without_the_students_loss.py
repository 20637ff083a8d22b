# variant: two nets of one model learn from each other on purpose, each from the other's detached answer
import torch
import torch.nn.functional as F
from torch import nn


class Mutual(nn.Module):
    def __init__(self):
        super().__init__()
        self.t_net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 3))
        self.s_net = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 3))

    def forward(self, x):
        return self.t_net(x), self.s_net(x)


torch.manual_seed(0)
model = Mutual()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for _ in range(14):
    x, y = torch.randn(8, 6), torch.randint(0, 3, (8,))
    t, s = model(x)
    of_labels = F.cross_entropy(t, y) + F.cross_entropy(s, y)
    to_student = F.kl_div(s.log_softmax(1), t.softmax(1).detach(), reduction="batchmean")
    to_teacher = F.kl_div(t.log_softmax(1), s.softmax(1).detach(), reduction="batchmean")
    loss = of_labels + to_student + to_teacher
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"{loss.item():.4f}")
