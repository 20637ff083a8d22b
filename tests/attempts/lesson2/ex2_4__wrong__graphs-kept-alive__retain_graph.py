def multi_loss_gradients(model, losses, weights):
    model.zero_grad()
    for loss_fn, weight in zip(losses, weights):
        loss = weight * loss_fn(model)
        loss.backward(retain_graph=True)
