# variant: each task's loss backwarded on its own in a loop over tasks, the shared trunk's graph kept until the last
import torch
from torch import nn

torch.manual_seed(0)
trunk = nn.Sequential(nn.Linear(6, 16), nn.ReLU())
heads = nn.ModuleDict({"a": nn.Linear(16, 1), "b": nn.Linear(16, 3), "c": nn.Linear(16, 2)})
optimizer = torch.optim.Adam([*trunk.parameters(), *heads.parameters()], lr=1e-2)
weights = {"a": 1.0, "b": 0.5, "c": 0.1}
for step in range(6):
    x = torch.randn(8, 6)
    targets = {"a": torch.randn(8, 1), "b": torch.randn(8, 3), "c": torch.randn(8, 2)}
    features = trunk(x)
    optimizer.zero_grad()
    for i, (task, head) in enumerate(heads.items()):
        task_loss = weights[task] * nn.functional.mse_loss(head(features), targets[task])
        task_loss.backward(retain_graph=i < len(heads) - 1)
    optimizer.step()

print(f"{task_loss.item():.4f}")
