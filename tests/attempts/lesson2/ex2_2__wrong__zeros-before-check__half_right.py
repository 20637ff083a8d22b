import torch


def accumulate_grad(param, incoming):
    if param.grad is None:
        param.grad = torch.zeros_like(param)
    if incoming.shape != param.grad.shape:
        raise ValueError("wrong shape")
    param.grad.add_(incoming)
