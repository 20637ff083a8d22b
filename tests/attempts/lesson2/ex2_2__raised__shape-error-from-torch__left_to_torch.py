def accumulate_grad(param, incoming):
    if param.grad is None:
        param.grad = incoming.clone()
        return
    if param.grad.shape != incoming.shape:
        raise ValueError("wrong shape")
    param.grad += incoming
