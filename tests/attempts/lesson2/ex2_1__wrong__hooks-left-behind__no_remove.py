def backward_n_times(param, loss_fn, n):
    param.grad = None
    seen = []
    param.register_post_accumulate_grad_hook(lambda p: seen.append(p.grad.clone()))
    for _ in range(n):
        loss_fn(param).backward()
    return list(seen)
