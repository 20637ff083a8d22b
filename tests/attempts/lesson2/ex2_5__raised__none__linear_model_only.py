def per_sample_gradients(model, loss_fn, x, y):
    residual = model(x) - y
    weight = 2 * residual[:, :, None] * x[:, None, :] / model.weight.shape[0]
    return {"weight": weight.detach(), "bias": (2 * residual / model.bias.shape[0]).detach()}
