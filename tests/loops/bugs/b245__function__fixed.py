# bug: B245
import torch
from torch import nn


def fit(net, x, y, epochs, learning_rate, factor):
    optimizer = torch.optim.Adam(net.parameters(), lr=learning_rate)
    for epoch in range(epochs):
        if epoch > 1:
            learning_rate = learning_rate / factor
            for group in optimizer.param_groups:
                group["lr"] = learning_rate
        for rows in torch.randperm(len(x)).split(16):
            loss = nn.functional.huber_loss(net(x[rows]), y[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print("epoch {} loss {:.4f} rate {:.5f}".format(epoch, loss.item(), learning_rate))


torch.manual_seed(0)
x = torch.randn(64, 4)
fit(nn.Sequential(nn.Linear(4, 12), nn.ReLU(), nn.Linear(12, 1)), x, x.amax(1, keepdim=True), 5, 0.02, 1.5)
