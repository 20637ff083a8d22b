# variant: FGSM training, the attack by torch.autograd.grad so that no parameter gradient is touched
# window: 1
# reference: yes
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 3)).double()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
criterion = nn.CrossEntropyLoss()
epsilon = 0.1
adversarial = labels = torch.empty(0)


def reference() -> dict[str, torch.Tensor]:
    named = dict(model.named_parameters())
    with torch.enable_grad():
        loss = criterion(model(adversarial), labels)
    return dict(zip(named, torch.autograd.grad(loss, list(named.values()))))


for step in range(6):
    images, labels = torch.randn(8, 6, dtype=torch.float64), torch.randint(0, 3, (8,))
    images.requires_grad_(True)
    (grad,) = torch.autograd.grad(criterion(model(images), labels), images)
    adversarial = (images + epsilon * grad.sign()).detach()
    optimizer.zero_grad()
    loss = criterion(model(adversarial), labels)
    loss.backward()
    optimizer.step()

print(f"{loss.item():.4f}")
