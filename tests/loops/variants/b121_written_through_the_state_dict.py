# variant: the state_dict is changed in place, which changes the weights, and loading it does no harm
import torch
from torch import nn

torch.manual_seed(1)
model, others = nn.Linear(4, 2), [nn.Linear(4, 2) for _ in range(3)]
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
state = model.state_dict()
for _ in range(4):
    for _ in range(3):
        x = torch.randn(8, 4)
        loss = nn.functional.cross_entropy(model(x), x[:, :2].argmax(dim=1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    for name, value in state.items():
        value.copy_(torch.stack([value, *(other.state_dict()[name] for other in others)]).mean(dim=0))
    model.load_state_dict(state)
print(f"{loss.item():.4f}")
