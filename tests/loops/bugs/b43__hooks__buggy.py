# bug: B43
# id: optimizer-in-backward-accumulates
# needs: window
# window: 4
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(10, 16), nn.Tanh(), nn.Linear(16, 2))
k = 4
batches = [(torch.randn(6, 10), torch.randn(6, 2)) for _ in range(24)]

# step inside backward, so that all gradients are never alive together
optimizers = {p: torch.optim.SGD([p], lr=0.1, momentum=0.9) for p in model.parameters()}


def optimizer_hook(parameter):
    optimizers[parameter].step()  # <-- bug
    optimizers[parameter].zero_grad()


for p in model.parameters():
    p.register_post_accumulate_grad_hook(optimizer_hook)  # <-- bug

for i, (x, y) in enumerate(batches):
    loss = F.mse_loss(model(x), y) / k
    loss.backward()
print(loss.item())
