# variant: FGSM training, the attack by loss.backward(), everything it left cleared before the training backward
# reference: yes
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 3)).double()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
criterion = nn.CrossEntropyLoss()
perturbed = target = torch.empty(0)


def fgsm_attack(image: torch.Tensor, epsilon: float, data_grad: torch.Tensor) -> torch.Tensor:
    return image + epsilon * data_grad.sign()


def reference() -> dict[str, torch.Tensor]:
    named = dict(model.named_parameters())
    with torch.enable_grad():
        loss = criterion(model(perturbed), target)
    return dict(zip(named, torch.autograd.grad(loss, list(named.values()))))


for step in range(6):
    data, target = torch.randn(8, 6, dtype=torch.float64), torch.randint(0, 3, (8,))
    data.requires_grad = True
    loss = criterion(model(data), target)
    model.zero_grad()
    loss.backward()
    perturbed = fgsm_attack(data, 0.1, data.grad.data).detach()

    optimizer.zero_grad()
    adv_loss = criterion(model(perturbed), target)
    adv_loss.backward()
    optimizer.step()

print(f"{loss.item():.4f} {adv_loss.item():.4f}")
