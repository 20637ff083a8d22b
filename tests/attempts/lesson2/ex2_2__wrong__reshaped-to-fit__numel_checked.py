def accumulate_grad(param, incoming):
    if param.numel() != incoming.numel():
        raise ValueError("wrong size")
    incoming = incoming.reshape(param.shape)
    if param.grad is None:
        param.grad = incoming.clone()
    else:
        param.grad.add_(incoming)
