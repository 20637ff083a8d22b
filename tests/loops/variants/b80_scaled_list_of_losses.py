# variant: scaler.scale of a list of losses, bound to names; each scaled loss backwarded with a plain backward()
import torch
from torch import nn


class MultiTask(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(6, 16), nn.ReLU())
        self.classify, self.regress = nn.Linear(16, 3), nn.Linear(16, 1)

    def forward(self, x):
        h = self.trunk(x)
        return self.classify(h), self.regress(h)


def training_step(model, optimizer, scaler, x, y, z):
    optimizer.zero_grad()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        logits, value = model(x)
        losses = [nn.functional.cross_entropy(logits, y), 0.5 * nn.functional.mse_loss(value, z)]
    first, second = scaler.scale(losses)
    first.backward(retain_graph=True)
    second.backward()
    scaler.unscale_(optimizer)
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    scaler.step(optimizer)
    scaler.update()
    return sum(losses).item()


torch.manual_seed(4)
model = MultiTask()
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
scaler = torch.amp.GradScaler("cpu", init_scale=512.0)
for _ in range(10):
    x = torch.randn(10, 6)
    value = training_step(model, optimizer, scaler, x, torch.randint(0, 3, (10,)), x.mean(1, keepdim=True))
print(f"{value:.4f}")
