import torch


def accumulate_grad(param, incoming):
    if list(param.size()) != list(incoming.size()):
        raise ValueError("shapes differ")
    if param.grad is None:
        param.grad = torch.zeros_like(param)
    torch.add(param.grad, incoming, out=param.grad)
