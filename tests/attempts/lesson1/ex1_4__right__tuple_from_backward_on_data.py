"""Old style, with .data and zero_; a tuple counts as a list."""


def gradient_descent(f, x0, lr, steps):
    x = x0.clone()
    x.requires_grad = True
    points = (x.data.clone(),)
    for _ in range(steps):
        if x.grad is not None:
            x.grad.zero_()
        f(x).backward()
        x.data = x.data - lr * x.grad.data
        points += (x.data.clone(),)
    return points
