def multi_loss_gradients(model, losses, weights):
    model.zero_grad()
    total = 0.0
    for loss_fn, weight in zip(losses, weights):
        (weight * loss_fn(model)).backward()
        total += loss_fn(model).item()
    return total
