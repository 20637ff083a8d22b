# variant: neither loss is divided: the gradient is, once, before the step
import torch
from torch import nn

torch.manual_seed(0)
body, main_head, aux_head = nn.Linear(6, 12), nn.Linear(12, 3), nn.Linear(12, 2)
params = [*body.parameters(), *main_head.parameters(), *aux_head.parameters()]
optimizer = torch.optim.SGD(params, lr=0.1)
k = 4
for i in range(40):
    x, y, z = torch.randn(8, 6), torch.randint(0, 3, (8,)), torch.randn(8, 2)
    h = torch.relu(body(x))
    main = nn.functional.cross_entropy(main_head(h), y)
    aux = nn.functional.mse_loss(aux_head(h), z) / 2  # half the squared error
    (main + 0.3 * aux).backward()
    if (i + 1) % k == 0:
        for p in params:
            p.grad.div_(k)
        optimizer.step()
        optimizer.zero_grad()

print(f"{main.item():.4f} {aux.item():.4f}")
