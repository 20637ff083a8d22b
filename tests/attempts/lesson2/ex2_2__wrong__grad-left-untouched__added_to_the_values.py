import torch


def accumulate_grad(param, incoming):
    if param.shape != incoming.shape:
        raise ValueError("wrong shape")
    with torch.no_grad():
        param += incoming
