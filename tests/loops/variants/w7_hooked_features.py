# variant: a backbone is called for what hooks keep of inner layers; nobody uses its answer: its head has no gradient
import torch
from torch import nn


class Backbone(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(1, 8, 3, padding=1), nn.ReLU())
        self.stage = nn.Sequential(nn.Conv2d(8, 16, 3, stride=2, padding=1), nn.ReLU())
        self.head = nn.Linear(16, 10)

    def forward(self, x):
        return self.head(self.stage(self.stem(x)).mean((2, 3)))


class FeatureExtractor(nn.Module):
    def __init__(self, net, layers):
        super().__init__()
        self.net = net
        self._features = {}
        for name in layers:
            net.get_submodule(name).register_forward_hook(self._keep(name))

    def _keep(self, name):
        def hook(module, args, output):
            self._features[name] = output

        return hook

    def forward(self, x):
        _ = self.net(x)
        return self._features


class Detector(nn.Module):
    def __init__(self):
        super().__init__()
        self.extractor = FeatureExtractor(Backbone(), ["stem", "stage"])
        self.low, self.high = nn.Conv2d(8, 4, 1), nn.Conv2d(16, 4, 1)
        self.classify, self.locate = nn.Conv2d(4, 2, 1), nn.Conv2d(4, 4, 1)

    def forward(self, images):
        features = self.extractor(images)
        up = nn.functional.interpolate(self.high(features["stage"]), scale_factor=2.0)
        joined = torch.relu(self.low(features["stem"]) + up)
        return self.classify(joined), self.locate(joined)


torch.manual_seed(1)
detector = Detector()
optimizer = torch.optim.SGD(detector.parameters(), lr=0.02, momentum=0.9)
for _ in range(10):
    images = torch.randn(4, 1, 8, 8)
    scores, boxes = detector(images)
    loss = nn.functional.cross_entropy(scores, (images[:, 0] > 0).long()) + boxes.abs().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
