# variant: entries of one state_dict() are replaced and it is loaded; another gets an entry more and is only saved
import copy
import io

import torch
from torch import nn


def average_into(ema_model, model, decay):
    averaged = ema_model.state_dict()
    current = model.state_dict()
    for key in averaged:
        averaged[key] = decay * averaged[key] + (1 - decay) * current[key]
    ema_model.load_state_dict(averaged)


def save_checkpoint(model, optimizer, epoch):
    state = model.state_dict()
    state["epoch"] = torch.tensor(epoch)
    state["scale"] = state["0.weight"].norm()
    buffer = io.BytesIO()
    torch.save({"model": state, "optimizer": optimizer.state_dict()}, buffer)
    return buffer.getbuffer().nbytes


torch.manual_seed(6)
model = nn.Sequential(nn.Linear(5, 16), nn.LayerNorm(16), nn.GELU(), nn.Linear(16, 1))
ema_model = copy.deepcopy(model).requires_grad_(False)
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for epoch in range(4):
    for _ in range(5):
        x = torch.randn(16, 5)
        loss = nn.functional.mse_loss(model(x), x.square().sum(1, keepdim=True))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        average_into(ema_model, model, 0.9)
    print(epoch, loss.item(), save_checkpoint(model, optimizer, epoch))
