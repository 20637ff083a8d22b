# variant: learning rates that rise from almost nothing, end at zero, and decay with every batch
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
loader = DataLoader(TensorDataset(torch.randn(60, 6), torch.randint(3, (60,))), batch_size=10, shuffle=True)
lrs = torch.optim.lr_scheduler
steps = 5 * len(loader)
for made in (
    lambda o: lrs.LambdaLR(o, lambda n: 1 - n / (steps - 1)),
    lambda o: lrs.ExponentialLR(o, 0.7),
    lambda o: lrs.LambdaLR(o, lambda n: 10.0 ** (n / 5 - 5)),  # which rate is the best?
    lambda o: lrs.StepLR(o, 7, 0.5),
    lambda o: lrs.MultiStepLR(o, [26, 28], 1e-3),
):
    model = nn.Linear(6, 3)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scheduler = made(optimizer)
    for _ in range(5):
        for x, y in loader:
            optimizer.zero_grad()
            F.cross_entropy(model(x), y).backward()
            optimizer.step()
            scheduler.step()
