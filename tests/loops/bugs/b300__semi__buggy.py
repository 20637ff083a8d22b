# bug: B300
# id: summand-without-graph
import torch
from torch import nn


def dice_loss(prob, target):
    one_hot = nn.functional.one_hot(target, prob.shape[1]).movedim(-1, 1).float()
    inter = (prob * one_hot).sum((0, 2))
    return 1 - (2 * inter / (prob.sum((0, 2)) + one_hot.sum((0, 2)) + 1e-5)).mean()


torch.manual_seed(0)
model = nn.Sequential(nn.Conv1d(1, 8, 3, padding=1), nn.ReLU(), nn.Conv1d(8, 3, 3, padding=1))
ce_loss = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
scaler = torch.amp.GradScaler("cpu")
labelled = 4
for iteration in range(24):
    volume, label = torch.randn(8, 1, 16), torch.randint(3, (8, 16))
    optimizer.zero_grad()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        outputs = model(volume)
        outputs_soft = torch.softmax(outputs, dim=1).detach()  # <-- bug
        supervised = ce_loss(outputs[:labelled], label[:labelled])
        loss = 0.5 * (supervised + dice_loss(outputs_soft[:labelled], label[:labelled]))
        confidence, pseudo = outputs_soft[labelled:].max(dim=1)
        pseudo[confidence < 0.4] = -100
        if iteration > 4 and (pseudo >= 0).any():
            loss = loss + 0.1 * ce_loss(outputs[labelled:], pseudo)
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
