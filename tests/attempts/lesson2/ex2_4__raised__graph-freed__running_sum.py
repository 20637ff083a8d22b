def multi_loss_gradients(model, losses, weights):
    model.zero_grad()
    total = 0
    for loss_fn, weight in zip(losses, weights):
        total = total + weight * loss_fn(model)
        total.backward()
