def backward_n_times(param, loss_fn, n):
    param.grad = None
    snapshots = []
    previous = 0
    for _ in range(n):
        loss_fn(param).backward()
        snapshots.append(param.grad - previous)
        previous = param.grad.clone()
    return snapshots
