from torch.func import grad


def gradient_descent(f, x0, lr, steps):
    slope, points = grad(f), [x0]
    while len(points) < steps + 1:
        points.append(points[-1] - lr * slope(points[-1]))
    return points
