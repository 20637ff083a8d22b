# variant: a pass after the step whose gradients a hook takes for curvature; what it leaves in .grad is cleared
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 12), nn.Tanh(), nn.Linear(12, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
curvature = {}


def gather(module, given, got):
    curvature[module] = 0.9 * curvature.get(module, 0) + 0.1 * got[0].pow(2).mean()


for layer in model:
    layer.register_full_backward_hook(gather)
for _ in range(12):
    x = torch.randn(16, 6)
    drawn = model(x).softmax(1).multinomial(1).flatten().detach()
    F.cross_entropy(model(x), drawn).backward()
    optimizer.zero_grad()
    F.cross_entropy(model(x), x[:, :3].argmax(1)).backward()
    optimizer.step()
