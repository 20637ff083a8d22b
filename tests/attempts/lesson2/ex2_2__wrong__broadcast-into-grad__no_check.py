import torch


def accumulate_grad(param, incoming):
    if param.grad is None:
        param.grad = torch.zeros_like(param)
    param.grad += incoming
