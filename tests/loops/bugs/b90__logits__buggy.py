# bug: B90
# id: summand-without-graph
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(8)
x, y = torch.randn(60, 7), torch.randint(0, 4, (60,))
teacher = nn.Linear(7, 4)
student = nn.Sequential(nn.Linear(7, 12), nn.ReLU(), nn.Linear(12, 4))
optimizer = torch.optim.Adam(student.parameters(), lr=1e-2)


def distilled(said, wanted, labels, share=0.7):
    soft = F.kl_div(F.log_softmax(said.detach(), dim=1), wanted, reduction="batchmean")  # <-- bug
    return share * soft + (1 - share) * F.cross_entropy(said, labels)


for rows in torch.randperm(60).split(15) * 3:
    with torch.no_grad():
        wanted = F.softmax(teacher(x[rows]), dim=1)
    optimizer.zero_grad()
    loss = distilled(student(x[rows]), wanted, y[rows])
    loss.backward()
    optimizer.step()
