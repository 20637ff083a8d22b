import torch


def accumulate_grad(param, incoming):
    if tuple(param.shape) != tuple(incoming.shape):
        raise ValueError("wrong shape")
    with torch.no_grad():
        if param.grad is not None:
            param.grad += incoming
        else:
            param.grad = incoming.detach().clone()
