# bug: B291
import torch
from torch import nn


def train(freeze):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten(), nn.Linear(4 * 36, 2))
    if any(freeze):
        for k, v in model.named_parameters():
            if any(x in k for x in freeze):
                print("freezing", k)
                v.requires_grad = False

    biases, weights, others = [], [], []
    for k, v in model.named_parameters():
        if ".bias" in k:
            biases.append(v)
        elif v.dim() > 1:
            weights.append(v)
        else:
            others.append(v)
    optimizer = torch.optim.SGD(others, lr=0.01, momentum=0.9)
    optimizer.add_param_group({"params": weights, "weight_decay": 5e-4})
    optimizer.add_param_group({"params": biases})

    for _ in range(12):
        images = torch.rand(8, 1, 8, 8)
        loss = nn.functional.cross_entropy(model(images), (images.mean((1, 2, 3)) > 0.5).long())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


train(["0.", "1."])
