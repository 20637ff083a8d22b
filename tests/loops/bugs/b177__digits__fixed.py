# bug: B177
import torch
import torch.nn.functional as F
from torch import nn


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden, self.out = nn.Linear(12, 32), nn.Linear(32, 5)

    def forward(self, x):
        return self.out(F.relu(self.hidden(x)))


torch.manual_seed(0)
x = torch.randn(96, 12)
y = x[:, :5].argmax(1)
model = Classifier()
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
for epoch in range(4):
    for at in range(0, 96, 16):
        optimizer.zero_grad()
        loss = criterion(model(x[at : at + 16]), y[at : at + 16])
        loss.backward()
        optimizer.step()
