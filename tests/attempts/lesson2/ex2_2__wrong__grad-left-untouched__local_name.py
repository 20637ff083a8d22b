def accumulate_grad(param, incoming):
    if param.shape != incoming.shape:
        raise ValueError("wrong shape")
    grad = param.grad
    if grad is None:
        grad = incoming.clone()
    else:
        grad = grad + incoming
