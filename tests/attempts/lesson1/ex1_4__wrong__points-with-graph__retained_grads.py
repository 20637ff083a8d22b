"""retain_grad makes .grad of a non-leaf work, so the graph grows from round to round."""


def gradient_descent(f, x0, lr, steps):
    x = x0.clone().requires_grad_()
    points = [x0.clone()]
    for _ in range(steps):
        x.retain_grad()
        f(x).backward(retain_graph=True)
        x = x - lr * x.grad
        points.append(x)
    return points
