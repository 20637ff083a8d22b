def accumulate_grad(param, incoming):
    if incoming.shape != param.shape:
        raise ValueError(f"gradient of shape {tuple(incoming.shape)} for a parameter of shape {tuple(param.shape)}")
    if param.grad is None:
        param.grad = incoming.clone()
    else:
        param.grad.add_(incoming)
