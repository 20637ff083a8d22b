# variant: PCGrad: a backward per task, each gradient copied and cleared, conflicts projected away, the result assigned
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
params = list(model.parameters())
for step in range(5):
    x = torch.randn(8, 6)
    out = model(x)
    objectives = [(out[:, 0] - x[:, 0]).pow(2).mean(), (out[:, 1] + x[:, 0]).pow(2).mean()]
    grads = []
    for i, objective in enumerate(objectives):
        optimizer.zero_grad(set_to_none=True)
        objective.backward(retain_graph=i + 1 < len(objectives))
        grads.append(torch.cat([p.grad.flatten().clone() for p in params]))
    projected = [g.clone() for g in grads]
    for i, g_i in enumerate(projected):
        for j, g_j in enumerate(grads):
            dot = torch.dot(g_i, g_j)
            if i != j and dot < 0:
                g_i -= dot / g_j.norm() ** 2 * g_j
    merged = torch.stack(projected).sum(0)
    for p, piece in zip(params, merged.split([p.numel() for p in params])):
        p.grad = piece.view_as(p).clone()
    optimizer.step()

print(f"{objectives[0].item():.4f} {objectives[1].item():.4f}")
