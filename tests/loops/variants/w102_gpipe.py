# variant: pipeline by hand (GPipe): all forwards, then all backwards, joined with backward(gradient)
# window: 4
# reference: yes
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Sequential(nn.Linear(6, 16), nn.Tanh()), nn.Linear(16, 2)).double()
stage0, stage1 = model[0], model[1]
optimizers = [torch.optim.SGD(stage.parameters(), lr=0.1) for stage in (stage0, stage1)]
x, y = torch.randn(16, 6, dtype=torch.float64), torch.randn(16, 2, dtype=torch.float64)
target: dict[str, torch.Tensor] = {}


def reference() -> dict[str, torch.Tensor]:
    # Computed once per window: the second stage steps after the first has moved.
    if not target:
        named = dict(model.named_parameters())
        with torch.enable_grad():
            loss = nn.functional.mse_loss(model(x), y)
        target.update(zip(named, torch.autograd.grad(loss, list(named.values()))))
    return target


for step in range(4):
    target.clear()
    for opt in optimizers:
        opt.zero_grad()
    sent, received, losses = [], [], []
    for xb, yb in zip(x.chunk(4), y.chunk(4)):
        out = stage0(xb)
        border = out.detach().requires_grad_()
        sent.append(out)
        received.append(border)
        losses.append(nn.functional.mse_loss(stage1(border), yb) / 4)
    for out, border, loss in zip(reversed(sent), reversed(received), reversed(losses)):
        loss.backward()
        out.backward(border.grad)
    for opt in optimizers:
        opt.step()

print(f"{sum(loss.item() for loss in losses):.4f}")
