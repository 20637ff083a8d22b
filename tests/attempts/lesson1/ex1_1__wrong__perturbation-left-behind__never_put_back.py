import torch


def numerical_gradient(f, x, h=1e-5):
    work = x.clone(memory_format=torch.contiguous_format)
    grad = torch.zeros_like(work)
    for i in range(x.numel()):
        work.view(-1)[i] += h
        up = f(work)
        work.view(-1)[i] -= 2 * h
        down = f(work)
        grad.view(-1)[i] = (up - down) / (2 * h)
    return grad
