import torch


def gradient_descent(f, x0, lr, steps):
    x = torch.nn.Parameter(x0.clone())
    optimizer = torch.optim.Adam([x], lr=lr)
    points = [x0.clone()]
    for _ in range(steps):
        optimizer.zero_grad()
        f(x).backward()
        optimizer.step()
        points.append(x.detach().clone())
    return points
