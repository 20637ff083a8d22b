# bug: B228
# id: weights-drawn-back
import torch
import torch.nn.functional as F
from torch import nn


def create_model(ema=False):
    model = nn.Sequential(nn.Linear(10, 24), nn.ReLU(), nn.Dropout(0.2), nn.Linear(24, 4))
    if ema:
        for param in model.parameters():
            param.detach_()
    return model


def update_ema_variables(ema_model, model, alpha, global_step):
    # Use the true average until the exponential average is more correct
    alpha = min(1 - 1 / (global_step + 1), alpha)
    for ema_param, param in zip(ema_model.parameters(), model.parameters()):
        ema_param.data.mul_(alpha).add_(param.data, alpha=1 - alpha)


def train(labeled, targets, unlabeled, epochs=4, ema_decay=0.99):
    model, ema_model = create_model(), create_model(ema=True)
    ema_model.load_state_dict(model.state_dict())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, nesterov=True)
    global_step = 0
    for epoch in range(epochs):
        for x, y, u in zip(labeled.split(16), targets.split(16), unlabeled.split(16)):
            with torch.no_grad():
                ema_probs = ema_model(u + 0.1 * torch.randn_like(u)).softmax(1)
            class_loss = F.cross_entropy(model(x), y)
            consistency_loss = F.mse_loss(model(u).softmax(1), ema_probs)
            loss = class_loss + 2.0 * min(1.0, epoch / 3) * consistency_loss
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            global_step += 1
            update_ema_variables(model, ema_model, ema_decay, global_step)  # <-- bug
    return ema_model


torch.manual_seed(5)
inputs = torch.randn(96, 10)
train(inputs, inputs[:, :4].argmax(1), torch.randn(96, 10))
