import torch


def linear_mse_gradient(w, x, y):
    leaf = w.detach().clone().requires_grad_(True)
    torch.autograd.backward([((x @ leaf - y) ** 2).mean()])
    return leaf.grad
