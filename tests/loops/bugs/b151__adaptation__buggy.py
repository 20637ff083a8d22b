# bug: B151
# id: backward-reaches-another-model
import torch
import torch.nn.functional as F
from torch import nn


class FCDiscriminator(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.conv, self.classifier = nn.Linear(classes, 16), nn.Linear(16, 1)

    def forward(self, x):
        return self.classifier(F.leaky_relu(self.conv(x), 0.2))


def bce(out, label):
    return F.binary_cross_entropy_with_logits(out, torch.full_like(out, label))


def main(iter_size=4, lambda_adv=0.1, source=0.0, target=1.0):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 4))
    model_d = FCDiscriminator(4)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    optimizer_d = torch.optim.Adam(model_d.parameters(), lr=1e-3)
    for step in range(16):
        optimizer.zero_grad()
        optimizer_d.zero_grad()
        for sub in range(iter_size):
            images, labels = torch.randn(8, 6), torch.randint(4, (8,))
            pred = model(images)
            second = model(images + 0.1)
            loss = F.cross_entropy(pred, labels) + 0.1 * F.cross_entropy(second, labels)
            loss = loss / iter_size
            loss.backward()

            pred_target = model(1 + torch.randn(8, 6))
            loss = lambda_adv * bce(model_d(F.softmax(pred_target, dim=1)), source)
            loss = loss / iter_size
            loss.backward()  # <-- bug

            pred, pred_target = pred.detach(), pred_target.detach()
            loss = bce(model_d(F.softmax(pred, dim=1)), source) / iter_size / 2
            loss.backward()
            loss = bce(model_d(F.softmax(pred_target, dim=1)), target) / iter_size / 2
            loss.backward()
        optimizer.step()
        optimizer_d.step()
    print(f"{loss.item():.4f}")


main()
