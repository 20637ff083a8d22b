# bug: B17
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class NativeScaler:
    """Backward, clip and step in one call, as image-classification repositories have it."""

    def __init__(self, optimizer):
        self.optimizer = optimizer
        self.scaler = torch.amp.GradScaler("cpu", init_scale=256.0)

    def __call__(self, loss, parameters, update_grad, clip_grad=1.0):
        self.scaler.scale(loss).backward()
        if update_grad:
            self.scaler.unscale_(self.optimizer)
            torch.nn.utils.clip_grad_norm_(parameters, clip_grad)
            self.scaler.step(self.optimizer)
            self.scaler.update()


torch.manual_seed(4)
accumulation = 2
model = nn.Sequential(nn.Flatten(), nn.Linear(16, 12), nn.GELU(), nn.Linear(12, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
loss_scaler = NativeScaler(optimizer)
loader = DataLoader(TensorDataset(torch.randn(48, 1, 4, 4), torch.randint(0, 3, (48,))), batch_size=4)

optimizer.zero_grad()
for idx, (images, labels) in enumerate(loader):
    update = (idx + 1) % accumulation == 0
    with torch.autocast("cpu", dtype=torch.bfloat16):
        loss = nn.functional.cross_entropy(model(images), labels)
    loss_scaler(loss / accumulation, model.parameters(), update_grad=update)
    if update:
        optimizer.zero_grad()
print(f"{loss.item():.4f}")
