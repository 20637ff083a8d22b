# truth: zeroed-another-object
import torch
import torch.nn.functional as F
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(0)
"""Phase 2 makes a new optimizer and a new student; the closure still holds the phase-1 objects."""
net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1))
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
clear = opt.zero_grad


def fit(net, opt, clear, n):
    for _ in range(n):
        x = torch.randn(8, 6)
        clear()  # <-- bug
        F.mse_loss(net(x), x.sum(1, keepdim=True)).backward()
        opt.step()


fit(net, opt, clear, 6)
student = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 1))
student_opt = torch.optim.NAdam(student.parameters(), lr=1e-3)
fit(student, student_opt, clear, 10)
