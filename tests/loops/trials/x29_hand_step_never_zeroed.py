# truth: never-zeroed
import torch
import torch.nn.functional as F
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(0)
"""Update written by hand with signs and decay; nobody clears."""
w1, w2 = (torch.randn(6, 8) * 0.3).requires_grad_(), (torch.randn(8, 1) * 0.3).requires_grad_()
for it in range(10):
    x = torch.randn(8, 6)
    loss = F.mse_loss(torch.tanh(x @ w1) @ w2, x.sum(1, keepdim=True))
    loss.backward()  # <-- bug
    for w in (w1, w2):
        w.data -= 0.01 * w.grad.sign() + 1e-4 * w.data
