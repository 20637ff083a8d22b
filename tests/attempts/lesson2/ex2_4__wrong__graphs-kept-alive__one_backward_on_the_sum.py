def multi_loss_gradients(model, losses, weights):
    model.zero_grad()
    total = sum(weight * loss_fn(model) for loss_fn, weight in zip(losses, weights))
    total.backward()
