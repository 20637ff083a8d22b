def multi_loss_gradients(model, losses, weights):
    model.zero_grad()
    a, b = losses
    (weights[0] * a(model)).backward()
    (weights[1] * b(model)).backward()
