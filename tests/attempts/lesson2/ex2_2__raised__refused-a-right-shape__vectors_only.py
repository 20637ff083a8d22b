def accumulate_grad(param, incoming):
    if param.dim() == 0 or param.shape[0] != incoming.shape[0] or param.dim() != incoming.dim():
        raise ValueError("wrong shape")
    if param.grad is None:
        param.grad = incoming.clone()
    else:
        param.grad += incoming
