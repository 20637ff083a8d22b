def parameter_gradients(model, loss_fn, x, y):
    loss = loss_fn(model(x), y)
    loss.backward()
    return {name: p.grad.clone() for name, p in model.named_parameters() if p.grad is not None}
