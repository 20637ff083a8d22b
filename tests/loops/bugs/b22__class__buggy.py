# bug: B22
# id: one-of-two-optimizers-zeroed
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class FineTuner:
    def __init__(self, backbone, head, loader):
        self.backbone, self.head, self.loader = backbone, head, loader
        self.backbone_opt = torch.optim.SGD(backbone.parameters(), lr=1e-2, momentum=0.9)
        self.head_opt = torch.optim.AdamW(head.parameters(), lr=1e-2)

    def train(self):
        criterion = nn.CrossEntropyLoss()
        for images, labels in self.loader:
            loss = criterion(self.head(self.backbone(images)), labels)
            loss.backward()  # <-- bug
            self.backbone_opt.step()  # <-- bug
            self.head_opt.step()
            self.head.zero_grad()  # <-- bug
        return loss.item()


torch.manual_seed(12)
ds = TensorDataset(torch.randn(32, 1, 6, 6), torch.randint(0, 3, (32,)))
backbone = nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(2), nn.Flatten())
print(FineTuner(backbone, nn.Linear(16, 3), DataLoader(ds, batch_size=4)).train())
