def parameter_gradients(model, loss_fn, x, y):
    model(x).backward()
    return {n: p.grad.clone() for n, p in model.named_parameters()}
