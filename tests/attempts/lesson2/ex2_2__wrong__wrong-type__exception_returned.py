def accumulate_grad(param, incoming):
    if param.shape != incoming.shape:
        return ValueError("wrong shape")
    if param.grad is None:
        param.grad = incoming.clone()
    else:
        param.grad.add_(incoming)
