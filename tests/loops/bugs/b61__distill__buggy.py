# bug: B61
# id: zeroed-another-object
import copy

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def distill(teacher, student, loader, epochs=2):
    optimizer = torch.optim.Adam(student.parameters(), lr=1e-3)
    teacher.eval()
    student.train()
    for _ in range(epochs):
        for (x,) in loader:
            with torch.no_grad():
                target = teacher(x).softmax(-1)
            teacher.zero_grad()  # <-- bug
            loss = F.kl_div(student(x).log_softmax(-1), target, reduction="batchmean")
            loss.backward()
            optimizer.step()
    return loss.item()


torch.manual_seed(9)
teacher = nn.Sequential(nn.Linear(8, 12), nn.Tanh(), nn.Linear(12, 4))
student = copy.deepcopy(teacher)
student[2].reset_parameters()
loader = DataLoader(TensorDataset(torch.randn(32, 8)), batch_size=8)
print(distill(teacher, student, loader))
