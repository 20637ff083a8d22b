# bug: B72
# id: outside-buffer-overwritten
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class GradientBuffer:
    """Float32 gradients by name, apart from the parameters, as a sharded optimizer wants them."""

    def __init__(self, model):
        self.model = model
        self.grads = {}
        self.micro_batches = 0

    def collect(self):
        for name, p in self.model.named_parameters():
            if p.grad is None:
                continue
            self.grads[name] = p.grad.detach().to(torch.float32, copy=True)  # <-- bug
            p.grad = None
        self.micro_batches += 1

    def release(self):
        for name, p in self.model.named_parameters():
            p.grad = self.grads[name]  # <-- bug

    def clear(self):
        self.grads = {}
        self.micro_batches = 0


def train(model, loader, epochs, accumulate):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    criterion = nn.CrossEntropyLoss()
    buffer = GradientBuffer(model)
    for _ in range(epochs):
        for images, labels in loader:
            loss = criterion(model(images), labels)
            (loss / accumulate).backward()
            buffer.collect()
            if buffer.micro_batches == accumulate:
                buffer.release()
                torch.nn.utils.clip_grad_norm_(model.parameters(), 5.0)
                optimizer.step()
                optimizer.zero_grad(set_to_none=True)
                buffer.clear()
    return loss.item()


torch.manual_seed(6)
data = TensorDataset(torch.randn(48, 1, 6, 6), torch.randint(0, 5, (48,)))
cnn = nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.AvgPool2d(2), nn.Flatten(), nn.Linear(16, 5))
print(f"{train(cnn, DataLoader(data, batch_size=4, shuffle=True), epochs=3, accumulate=4):.4f}")
