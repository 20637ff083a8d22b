def accumulate_grad(param, incoming):
    if param.shape != incoming.shape:
        raise ValueError(f"expected {param.shape}, got {incoming.shape}")
    (param * incoming).sum().backward()
