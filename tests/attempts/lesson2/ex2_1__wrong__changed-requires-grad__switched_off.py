def backward_n_times(param, loss_fn, n):
    param.grad = None
    snapshots = []
    for _ in range(n):
        param.requires_grad_(True)
        loss_fn(param).backward()
        snapshots.append(param.grad.clone())
    param.requires_grad_(False)
    return snapshots
