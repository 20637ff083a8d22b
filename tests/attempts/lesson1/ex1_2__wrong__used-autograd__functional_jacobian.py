from torch.autograd.functional import jacobian


def linear_mse_gradient(w, x, y):
    return jacobian(lambda w: ((x @ w - y) ** 2).mean(), w)
