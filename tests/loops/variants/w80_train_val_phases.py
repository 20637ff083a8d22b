# variant: the transfer-learning tutorial's phases: zero_grad in both, backward and step only in training
import copy

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
dataloaders = {
    phase: DataLoader(TensorDataset(torch.randn(n, 6), torch.randint(0, 2, (n,))), batch_size=8, shuffle=True)
    for phase, n in (("train", 24), ("val", 8))
}


def train_model(model, criterion, optimizer, scheduler, num_epochs: int = 3) -> tuple[nn.Module, float]:
    best_weights, best_acc = copy.deepcopy(model.state_dict()), -1.0
    for epoch in range(num_epochs):
        for phase in ["train", "val"]:
            model.train(phase == "train")
            corrects = 0
            for inputs, labels in dataloaders[phase]:
                optimizer.zero_grad()
                with torch.set_grad_enabled(phase == "train"):
                    outputs = model(inputs)
                    _, preds = torch.max(outputs, 1)
                    loss = criterion(outputs, labels)
                    if phase == "train":
                        loss.backward()
                        optimizer.step()
                corrects += int((preds == labels).sum())
            if phase == "train":
                scheduler.step()
            elif corrects / 8 > best_acc:
                best_acc, best_weights = corrects / 8, copy.deepcopy(model.state_dict())
    model.load_state_dict(best_weights)
    return model, best_acc


net = nn.Sequential(nn.Linear(6, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 2))
sgd = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
net, best = train_model(net, nn.CrossEntropyLoss(), sgd, torch.optim.lr_scheduler.StepLR(sgd, 2))
print(f"best {best:.3f}")
