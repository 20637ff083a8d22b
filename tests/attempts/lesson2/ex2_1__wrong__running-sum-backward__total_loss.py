def backward_n_times(param, loss_fn, n):
    param.grad = None
    total = 0
    snapshots = []
    for _ in range(n):
        total = total + loss_fn(param)
        total.backward(retain_graph=True)
        snapshots.append(param.grad.clone())
    return snapshots
