import torch


def gradient_descent(f, x0, lr, steps):
    x = torch.nn.Parameter(x0.detach().clone())
    optimizer = torch.optim.SGD([x], lr=lr)
    path = [x.detach().clone()]
    for _ in range(steps):
        optimizer.zero_grad()
        f(x).backward()
        optimizer.step()
        path.append(x.detach().clone())
    return path
