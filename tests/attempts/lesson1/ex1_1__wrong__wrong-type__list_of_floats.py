def numerical_gradient(f, x, h=1e-5):
    slopes = []
    for i in range(x.numel()):
        up, down = x.clone().reshape(-1), x.clone().reshape(-1)
        up[i] += h
        down[i] -= h
        slopes.append(((f(up.reshape(x.shape)) - f(down.reshape(x.shape))) / (2 * h)).item())
    return slopes
