"""Attempts at exercise 1.1, numerical_gradient: what learners write, and what the check must say of it."""

from itertools import product
from torch.func import grad
from torch.func import vmap
import itertools
import numpy as np
import torch

from course_utils.authoring.attempts import raised, right, wrong
from course_utils.checks import effects
from course_utils.lessons.lesson1.numerical_gradient import mistakes


@raised(effects.unpacked_wrongly)
def recursion_stops_at_vectors(f, x, h=1e-5):
    if x.dim() == 1:
        steps = torch.eye(len(x), dtype=x.dtype, device=x.device) * h
        return torch.stack([(f(x + s) - f(x - s)) / (2 * h) for s in steps])
    rows = []
    for i, row in enumerate(x):
        rows.append(recursion_stops_at_vectors(lambda r, i=i: f(torch.cat([x[:i], r[None], x[i + 1 :]])), row, h))
    return torch.stack(rows)


@raised(effects.index_out_of_range)
def assumed_a_matrix(f, x, h=1e-5):
    grad = torch.zeros_like(x)
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            step = torch.zeros_like(x)
            step[i, j] = h
            grad[i, j] = (f(x + step) - f(x - step)) / (2 * h)
    return grad


# The helper has no return: the error speaks of NoneType, and no .grad is near.
def probe(f, x, i, h):
    moved = x.clone().reshape(-1)
    moved[i] += h
    f(moved.reshape(x.shape))

@raised(effects.operands_do_not_combine)
def helper_returns_nothing(f, x, h=1e-5):
    slopes = [(probe(f, x, i, h) - probe(f, x, i, -h)) / (2 * h) for i in range(x.numel())]
    return torch.stack(slopes).reshape(x.shape)


@raised(effects.undefined_name)
def name_that_does_not_exist(f, x, h=1e-5):
    steps = torch.eye(x.numel(), dtype=x.dtype) * eps
    return torch.stack([(f(x + s) - f(x - s)) / (2 * eps) for s in steps])


# clone keeps the strides, so the clone of a transposed matrix cannot be viewed as flat.
@raised(effects.view_of_non_contiguous)
def view_on_a_clone(f, x, h=1e-5):
    grad = torch.zeros(x.numel(), dtype=x.dtype, device=x.device)
    for i in range(x.numel()):
        up, down = x.clone(), x.clone()
        up.view(-1)[i] += h
        down.view(-1)[i] -= h
        grad[i] = (f(up) - f(down)) / (2 * h)
    return grad.reshape(x.shape)


# Right, and prints each probe: what a learner who is debugging hands in.
@right
def chatty(f, x, h=1e-5):
    print("x has shape", x.shape, "and h is", h)
    grad = torch.zeros_like(x).reshape(-1)
    for i in range(x.numel()):
        step = torch.zeros(x.numel(), dtype=x.dtype, device=x.device)
        step[i] = h
        grad[i] = (f(x + step.view(x.shape)) - f(x - step.view(x.shape))) / (2 * h)
        print("entry", i, "of", x.numel(), "is", grad[i].item(), "." * 500)
    return grad.reshape(x.shape)


# Indices from itertools.product; a 0-d tensor has the one index ().
@right
def itertools_product(f, x, h=1e-5):
    result = torch.empty_like(x)
    for index in product(*(range(size) for size in x.shape)):
        step = torch.zeros_like(x)
        step[index] = h
        result[index] = (f(x + step) - f(x - step)) / (2 * h)
    return result


# No indexing: a mask picks the entry that moves.
@right
def masks_with_where(f, x, h=1e-5):
    places = torch.arange(x.numel(), device=x.device).reshape(x.shape)
    total = torch.zeros_like(x)
    for place in range(x.numel()):
        here = places == place
        slope = (f(torch.where(here, x + h, x)) - f(torch.where(here, x - h, x))) / (2 * h)
        total = total + here * slope
    return total


# The average of the forward and the backward difference is the central one.
@right
def mean_of_both_one_sided_differences(f, x, h=1e-5):
    middle = f(x)
    slopes = []
    for i in range(x.numel()):
        step = torch.nn.functional.one_hot(torch.tensor(i), x.numel()).to(x) * h
        step = step.reshape(x.shape)
        forward = (f(x + step) - middle) / h
        backward = (middle - f(x - step)) / h
        slopes.append((forward + backward) / 2)
    return torch.stack(slopes).reshape(x.shape)


# Everything but f in Python numbers.
@right
def python_floats(f, x, h=1e-5):
    values = x.flatten().tolist()

    def at(numbers):
        return float(f(torch.tensor(numbers, dtype=x.dtype, device=x.device).reshape(x.shape)))

    slopes = []
    for i, value in enumerate(values):
        up = at(values[:i] + [value + h] + values[i + 1 :])
        down = at(values[:i] + [value - h] + values[i + 1 :])
        slopes.append((up - down) / (2 * h))
    return torch.tensor(slopes, dtype=x.dtype, device=x.device).reshape(x.shape)


# A gradient of a tensor is a stack of the gradients of its rows.
@right
def recursion_over_rows(f, x, h=1e-5):
    if x.dim() == 0:
        return (f(x + h) - f(x - h)) / (2 * h)

    def with_row(i, row):
        return torch.cat([x[:i], row[None], x[i + 1 :]])

    return torch.stack([recursion_over_rows(lambda row, i=i: f(with_row(i, row)), x[i], h) for i in range(len(x))])


# All probes at once, as rows of h times the identity.
@right
def rows_of_the_identity(f, x, h=1e-5):
    steps = h * torch.eye(x.numel(), dtype=x.dtype, device=x.device).reshape(-1, *x.shape)
    return torch.stack([(f(x + step) - f(x - step)) / (2 * h) for step in steps]).reshape(x.shape)


# plus and minus are two names of x: both probes are the same point.
@wrong(mistakes.assignment_is_no_copy)
def both_names_one_tensor(f, x, h=1e-5):
    grad = torch.zeros_like(x)
    for i in range(x.numel()):
        plus = x
        minus = x
        plus[i] += h
        minus[i] -= h
        grad[i] = (f(plus) - f(minus)) / (2 * h)
    return grad


# The second name undoes the first move: the probes are x + h and x.
@wrong(mistakes.assignment_is_no_copy, mistakes.kept_a_view_of_the_entry)
def second_probe_at_the_start(f, x, h=1e-5):
    grad = torch.zeros_like(x)
    for i in range(x.numel()):
        plus = x
        plus[i] += h
        up = f(plus)
        minus = x
        minus[i] -= h
        down = f(minus)
        grad[i] = (up - down) / (2 * h)
    return grad


@wrong(mistakes.backward_difference)
def looks_back(f, x, h=1e-5):
    here = f(x)
    steps = torch.eye(x.numel(), dtype=x.dtype, device=x.device).reshape(-1, *x.shape) * h
    return torch.stack([(here - f(x - s)) / h for s in steps]).reshape(x.shape)


@wrong(effects.changed_global)
def grad_mode_left_off(f, x, h=1e-5):
    torch.set_grad_enabled(False)
    steps = torch.eye(x.numel(), dtype=x.dtype, device=x.device).reshape(-1, *x.shape) * h
    return torch.stack([(f(x + s) - f(x - s)) / (2 * h) for s in steps]).reshape(x.shape)


# Adds and subtracts h on x itself: what comes back is x up to the last bits.
@wrong(effects.changed_input)
def restored_with_rounding_error(f, x, h=1e-5):
    grad = torch.zeros_like(x)
    for i in product(*map(range, x.shape)):
        x[i] += h
        up = f(x)
        x[i] -= 2 * h
        down = f(x)
        x[i] += h
        grad[i] = (up - down) / (2 * h)
    return grad


# Sets the seed for no reason: the caller's random numbers change.
@wrong(effects.changed_rng)
def random_start(f, x, h=1e-5):
    torch.manual_seed(0)
    steps = torch.eye(x.numel(), dtype=x.dtype, device=x.device).reshape(-1, *x.shape) * h
    return torch.stack([(f(x + s) - f(x - s)) / (2 * h) for s in steps]).reshape(x.shape)


# len(x) counts the rows of a matrix, so the rest of the entries stays zero.
@wrong(mistakes.counted_rows_for_entries)
def len_of_a_matrix(f, x, h=1e-5):
    grad = torch.zeros(x.numel(), dtype=x.dtype, device=x.device)
    for i in range(len(x)):
        step = torch.zeros_like(grad)
        step[i] = h
        step = step.reshape(x.shape)
        grad[i] = (f(x + step) - f(x - step)) / (2 * h)
    return grad.reshape(x.shape)


@wrong(mistakes.derivative_not_difference)
def autograd(f, x, h=1e-5):
    x = x.detach().clone().requires_grad_()
    f(x).backward()
    return x.grad


# Asks autograd first and measures only what autograd cannot see.
@wrong(mistakes.derivative_not_difference)
def falls_back_on_differences(f, x, h=1e-5):
    leaf = x.detach().clone().requires_grad_()
    value = f(leaf)
    if value.requires_grad:
        return torch.autograd.grad(value, leaf)[0]
    steps = torch.eye(x.numel(), dtype=x.dtype, device=x.device).reshape(-1, *x.shape) * h
    return torch.stack([(f(x + s) - f(x - s)) / (2 * h) for s in steps]).reshape(x.shape)


@wrong(mistakes.derivative_not_difference)
def torch_func(f, x, h=1e-5):
    return grad(f)(x)


@wrong(mistakes.divided_by_h)
def forgot_the_two(f, x, h=1e-5):
    steps = torch.eye(x.numel(), dtype=x.dtype, device=x.device).reshape(-1, *x.shape) * h
    return torch.stack([(f(x + s) - f(x - s)) / h for s in steps]).reshape(x.shape)


# The position is never moved on.
@wrong(effects.endless_loop)
def while_never_ends(f, x, h=1e-5):
    grad, i = torch.zeros_like(x), 0
    while i < x.numel():
        step = torch.zeros_like(x)
        step[i] = h
        grad[i] = (f(x + step) - f(x - step)) / (2 * h)
    return grad


@wrong(mistakes.five_point_stencil)
def more_accurate(f, x, h=1e-5):
    steps = torch.eye(x.numel(), dtype=x.dtype, device=x.device).reshape(-1, *x.shape) * h
    slopes = [(-f(x + 2 * s) + 8 * f(x + s) - 8 * f(x - s) + f(x - 2 * s)) / (12 * h) for s in steps]
    return torch.stack(slopes).reshape(x.shape)


# Richardson extrapolation of two central differences: a five-point formula in disguise.
@wrong(mistakes.five_point_stencil)
def richardson(f, x, h=1e-5):
    def central(step):
        rows = torch.eye(x.numel(), dtype=x.dtype, device=x.device).reshape(-1, *x.shape) * step
        return torch.stack([(f(x + s) - f(x - s)) / (2 * step) for s in rows]).reshape(x.shape)

    return (4 * central(h / 2) - central(h)) / 3


@wrong(mistakes.forward_difference)
def textbook(f, x, h=1e-5):
    grad = torch.zeros_like(x)
    flat = grad.reshape(-1)
    for i in range(x.numel()):
        moved = x.clone().reshape(-1)
        moved[i] += h
        flat[i] = (f(moved.reshape(x.shape)) - f(x)) / h
    return flat.reshape(x.shape)


@wrong(mistakes.gradient_sign_flipped)
def minus_first(f, x, h=1e-5):
    steps = torch.eye(x.numel(), dtype=x.dtype, device=x.device).reshape(-1, *x.shape) * h
    return torch.stack([(f(x - s) - f(x + s)) / (2 * h) for s in steps]).reshape(x.shape)


@wrong(mistakes.ignored_h)
def own_constant(f, x, h=1e-5):
    h = 1e-5
    steps = torch.eye(x.numel(), dtype=x.dtype, device=x.device).reshape(-1, *x.shape) * h
    return torch.stack([(f(x + s) - f(x - s)) / (2 * h) for s in steps]).reshape(x.shape)


@wrong(mistakes.moved_all_entries)
def one_line(f, x, h=1e-5):
    return torch.full_like(x, ((f(x + h) - f(x - h)) / (2 * h)).item())


# Right for vectors; on a matrix x[i] is a whole row.
@wrong(mistakes.moved_whole_rows)
def indexed_the_first_dimension(f, x, h=1e-5):
    grad = torch.zeros_like(x)
    for i in range(x.shape[0]):
        plus, minus = x.clone(), x.clone()
        plus[i] += h
        minus[i] -= h
        grad[i] = (f(plus) - f(minus)) / (2 * h)
    return grad


# `/ 2 * h` divides by two and multiplies by h.
@wrong(mistakes.multiplied_by_h)
def precedence(f, x, h=1e-5):
    steps = torch.eye(x.numel(), dtype=x.dtype, device=x.device).reshape(-1, *x.shape) * h
    return torch.stack([(f(x + s) - f(x - s)) / 2 * h for s in steps]).reshape(x.shape)


# Hard-coded: the derivative of the sum of cubes, whatever f is.
@wrong(says='`f` was never called.')
def knows_the_formula_of_one_function(f, x, h=1e-5):
    return 3 * x**2 + 2 * x.sum() + h**2


# Gamed: right for vectors of three, zeros for anything else.
@wrong(says='Every entry that was given is zero.')
def passes_the_first_case_alone(f, x, h=1e-5):
    if x.shape != (3,):
        return torch.zeros_like(x)
    steps = torch.eye(3, dtype=x.dtype) * h
    return torch.stack([(f(x + s) - f(x - s)) / (2 * h) for s in steps])


@wrong(mistakes.not_divided)
def change_alone(f, x, h=1e-5):
    steps = torch.eye(x.numel(), dtype=x.dtype, device=x.device).reshape(-1, *x.shape) * h
    return torch.stack([f(x + s) - f(x - s) for s in steps]).reshape(x.shape)


# The copies are made before the loop, so the moves pile up in both.
@wrong(mistakes.perturbation_left_behind)
def copies_made_once(f, x, h=1e-5):
    plus = x.clone().reshape(-1)
    minus = x.clone().reshape(-1)
    grad = torch.zeros_like(plus)
    for i in range(x.numel()):
        plus[i] += h
        minus[i] -= h
        grad[i] = (f(plus.reshape(x.shape)) - f(minus.reshape(x.shape))) / (2 * h)
    return grad.reshape(x.shape)


@wrong(mistakes.perturbation_left_behind)
def never_put_back(f, x, h=1e-5):
    work = x.clone(memory_format=torch.contiguous_format)
    grad = torch.zeros_like(work)
    for i in range(x.numel()):
        work.view(-1)[i] += h
        up = f(work)
        work.view(-1)[i] -= 2 * h
        down = f(work)
        grad.view(-1)[i] = (up - down) / (2 * h)
    return grad


# reshape gives a view of a contiguous copy, and a copy of a non-contiguous one: that one never moves.
@wrong(mistakes.reshape_made_a_copy)
def silent_on_transposed(f, x, h=1e-5):
    grad = torch.zeros(x.numel(), dtype=x.dtype, device=x.device)
    for i in range(x.numel()):
        plus, minus = x.clone(), x.clone()
        plus.reshape(-1)[i] += h
        minus.reshape(-1)[i] -= h
        grad[i] = (f(plus) - f(minus)) / (2 * h)
    return grad.reshape(x.shape)


@wrong(effects.returned_nothing)
def printed_instead(f, x, h=1e-5):
    steps = torch.eye(x.numel(), dtype=x.dtype, device=x.device).reshape(-1, *x.shape) * h
    print(torch.stack([(f(x + s) - f(x - s)) / (2 * h) for s in steps]).reshape(x.shape))


# torch.zeros makes float32, whatever x is.
@wrong(effects.wrong_dtype)
def zeros_without_dtype(f, x, h=1e-5):
    grad = torch.zeros(x.shape)
    for i in range(x.numel()):
        up, down = x.clone().reshape(-1), x.clone().reshape(-1)
        up[i] += h
        down[i] -= h
        grad.view(-1)[i] = (f(up.reshape(x.shape)) - f(down.reshape(x.shape))) / (2 * h)
    return grad


@wrong(mistakes.result_left_flat)
def left_flat(f, x, h=1e-5):
    steps = torch.eye(x.numel(), dtype=x.dtype, device=x.device).reshape(-1, *x.shape) * h
    return torch.stack([(f(x + s) - f(x - s)) / (2 * h) for s in steps])


# Moves all entries, and hands the one number back as it is.
@wrong(mistakes.moved_all_entries)
def scalar_slope(f, x, h=1e-5):
    return (f(x + h) - f(x - h)) / (2 * h)


@wrong(effects.wrong_type)
def list_of_floats(f, x, h=1e-5):
    slopes = []
    for i in range(x.numel()):
        up, down = x.clone().reshape(-1), x.clone().reshape(-1)
        up[i] += h
        down[i] -= h
        slopes.append(((f(up.reshape(x.shape)) - f(down.reshape(x.shape))) / (2 * h)).item())
    return slopes


@wrong(effects.wrong_type)
def numpy_array(f, x, h=1e-5):
    out = np.zeros(tuple(x.shape))
    for index in np.ndindex(out.shape):
        up, down = x.clone(), x.clone()
        up[index] += h
        down[index] -= h
        out[index] = (f(up) - f(down)).item() / (2 * h)
    return out


@right
def class_a_02(f, x, h=1e-5):
    start = x.detach()
    result = torch.zeros_like(start)
    all_positions = itertools.product(*[range(size) for size in start.shape])
    for pos in all_positions:
        # fresh copies every time so that x is never touched
        plus = start.clone()
        minus = start.clone()
        plus[pos] = plus[pos] + h
        minus[pos] = minus[pos] - h
        f_plus = f(plus).item()
        f_minus = f(minus).item()
        result[pos] = (f_plus - f_minus) / (2 * h)
    return result


# loops over the first dimension only: with a matrix a whole row is moved at once, and a 0-d x raises a TypeError at
# len()
@wrong(mistakes.assumed_a_vector)
def class_a_04(f, x, h=1e-5):
    x = x.detach()
    grads = torch.zeros_like(x)
    for i in range(len(x)):
        xp = x.clone()
        xm = x.clone()
        xp[i] += h
        xm[i] -= h
        grads[i] = (f(xp).item() - f(xm).item()) / (2 * h)
    return grads


# x_plus and x_minus are other names for x (detach() shares its memory) and no copies, so both calls of f see the
# same point (zeros) and x itself is written to
@wrong(mistakes.assignment_is_no_copy)
def class_a_07(f, x, h=1e-5):
    x = x.detach()
    grad = torch.zeros_like(x)
    for idx in np.ndindex(tuple(x.shape)):
        x_plus = x
        x_minus = x
        x_plus[idx] += h
        x_minus[idx] -= h
        grad[idx] = (f(x_plus) - f(x_minus)).item() / (2 * h)
    return grad


# x.numpy() shares memory with x, and each entry is left lower by h, so x is changed and later probes start from the
# wrong point AND x.numpy() raises when x requires gradients
@wrong(effects.changed_input)
def class_a_08(f, x, h=1e-5):
    a = x.numpy()
    g = np.zeros_like(a)
    it = np.nditer(a, flags=["multi_index", "zerosize_ok"])
    for _ in it:
        ix = it.multi_index
        a[ix] += h
        fxph = f(x).item()
        a[ix] -= 2 * h
        fxmh = f(x).item()
        g[ix] = (fxph - fxmh) / (2 * h)
    return torch.from_numpy(g)


@right
def class_a_09(f, x, h=1e-5):
    x = x.detach()
    if x.dim() == 0:
        slope = (f(x + h).detach() - f(x - h).detach()) / (2 * h)
        return slope.to(x)

    def with_slice(i):
        def g(part):
            whole = x.clone()
            whole[i] = part
            return f(whole)
        return g

    parts = [class_a_09(with_slice(i), x[i], h) for i in range(x.shape[0])]
    if not parts:
        return torch.zeros_like(x)
    return torch.stack(parts)


# f is run under vmap, which raises for an f that is no plain torch code (.item(), NumPy, an if on a value)
@raised(says='It fails on cases 6 and 9 alone, where autograd cannot look into f.')
def class_a_10(f, x, h=1e-5):
    # all probes in one go, no python loop!
    x = x.detach()
    n = x.numel()
    steps = h * torch.eye(n, dtype=x.dtype, device=x.device).reshape(n, *x.shape)
    up = vmap(f)(x + steps)
    down = vmap(f)(x - steps)
    return ((up - down) / (2 * h)).reshape(x.shape).detach()


@right
def class_a_12(f, x, h=1e-5):
    base = x.detach().cpu().numpy().copy()
    grad = np.zeros_like(base)

    def call(arr):
        return f(torch.from_numpy(arr).to(x.device)).item()

    for ix in np.ndindex(base.shape):
        hi = base.copy()
        lo = base.copy()
        hi[ix] += h
        lo[ix] -= h
        grad[ix] = (call(hi) - call(lo)) / (2 * h)
    return torch.from_numpy(grad).to(x.device)


# old = p[idx] is a view and no saved number: the second probe lands on x and not on x - h, so the result is about
# half the gradient
@wrong(mistakes.assignment_is_no_copy, mistakes.kept_a_view_of_the_entry)
def class_a_13(f, x, h=1e-5):
    p = x.detach().clone()
    grad = torch.zeros_like(p)
    for idx in product(*(range(n) for n in p.shape)):
        old = p[idx]            # remember the value
        p[idx] = old + h
        up = f(p).item()
        p[idx] = old - h
        down = f(p).item()
        p[idx] = old            # put it back
        grad[idx] = (up - down) / (2 * h)
    return grad


# f is called on the flattened tensor, not on one of the shape of x AND the gradient is returned flat
@wrong(says='The numbers are those of a known mistake, in another shape on cases 4, 5, 7 and 9. f was called with a flat point (called-f-with-a-flat-point)')
def class_a_16(f, x, h=1e-5):
    v = x.detach().flatten()
    grad = torch.zeros_like(v)
    for i in range(len(v)):
        e = torch.zeros_like(v)
        e[i] = h
        grad[i] = (f(v + e).item() - f(v - e).item()) / (2 * h)
    return grad


class Prober:
    """Keeps one private copy of the point and moves one entry at a time."""

    def __init__(self, f, x, h):
        self.f, self.h = f, h
        self.point = x.detach().clone()

    def value_at(self, idx, number):
        saved = self.point[idx].clone()
        self.point[idx] = saved + number
        try:
            return self.f(self.point.clone()).item()
        finally:
            self.point[idx] = saved

    def slope(self, idx):
        return (self.value_at(idx, self.h) - self.value_at(idx, -self.h)) / (2 * self.h)

    def gradient(self):
        g = torch.empty_like(self.point)
        for idx in itertools.product(*map(range, self.point.shape)):
            g[idx] = self.slope(idx)
        return g

@right
def class_a_17(f, x, h=1e-5):
    return Prober(f, x, h).gradient()


# uses autograd wherever f allows it and measures only where that fails, which breaks the rule "only calls of f"
@wrong(mistakes.derivative_not_difference)
def class_a_18(f, x, h=1e-5):
    probe = x.detach().clone().requires_grad_(True)
    try:
        # more precise than finite differences
        (g,) = torch.autograd.grad(f(probe), probe)
        return g.detach()
    except RuntimeError:
        pass
    base = x.detach()
    g = torch.zeros_like(base)
    for k in product(*map(range, base.shape)):
        a, b = base.clone(), base.clone()
        a[k] += h
        b[k] -= h
        g[k] = (f(a).item() - f(b).item()) / (2 * h)
    return g


# one-sided difference (f(x+h) - f(x)) / h: the point x - h is never visited
@wrong(mistakes.forward_difference)
def class_a_19(f, x, h=1e-5):
    # definition of the derivative: lim (f(x+h) - f(x)) / h
    x = x.detach()
    f0 = f(x.clone()).item()
    grad = torch.zeros_like(x)
    for idx in np.ndindex(*x.shape):
        x_h = x.clone()
        x_h[idx] = x_h[idx] + h
        grad[idx] = (f(x_h).item() - f0) / h
    return grad


@right
def class_a_22(f, x, h=1e-5):
    x = x.detach()
    number = torch.arange(x.numel(), device=x.device).reshape(x.shape)
    g = torch.zeros_like(x)
    for i in range(x.numel()):
        here = number == i
        up = torch.where(here, x + h, x)
        down = torch.where(here, x - h, x)
        # the real distance, after rounding
        dist = (up[here] - down[here]).item() or 2 * h
        g = torch.where(here, (f(up).item() - f(down).item()) / dist, g)
    return g.to(x.dtype)


# loops over x.nonzero(), so entries of x that are zero are never moved and get gradient 0
@wrong(says='Some entries are right; the others are zero.')
def class_a_24(f, x, h=1e-5):
    x = x.detach()
    g = torch.zeros_like(x)
    for idx in map(tuple, x.nonzero().tolist()):
        e = torch.zeros_like(x)
        e[idx] = h
        g[idx] = (f(x + e).item() - f(x - e).item()) / (2 * h)
    return g


# / 2 * h multiplies by h where it should divide AND torch.tensor(list) without dtype makes float32 of a float64 x
@wrong(mistakes.multiplied_by_h)
def class_a_26(f, x, h=1e-5):
    values = []
    x = x.detach()
    n = x.numel()
    for i in range(n):
        step = torch.zeros(n, dtype=x.dtype, device=x.device)
        step[i] = h
        step = step.reshape(x.shape)
        change = f(x + step).item() - f(x - step).item()
        values.append(change / 2 * h)
    return torch.tensor(values).reshape(x.shape)


@right
def class_a_27(f, x, h=1e-5):
    flat = x.detach().flatten()

    def probe(i, step):
        where = torch.tensor([i], device=flat.device)
        moved = flat.index_add(0, where, flat.new_tensor([step]))
        return f(moved.view(x.shape)).item()

    slopes = map(lambda i: (probe(i, h) - probe(i, -h)) / (2 * h), range(flat.numel()))
    return flat.new_tensor(list(slopes)).view(x.shape)


@right
def class_b_03(f, x, h=1e-5):
    start = x.detach()

    def shifted(where, amount):
        point = start.clone(memory_format=torch.contiguous_format)
        point[where] += amount
        return f(point).item()

    grad = torch.zeros(x.shape, dtype=x.dtype, device=x.device)
    for where in np.ndindex(tuple(x.shape)):
        grad[where] = (shifted(where, h) - shifted(where, -h)) / (2 * h)
    return grad


# the return stands inside the loop: only the first entry is measured, the others stay 0
@wrong(mistakes.only_the_first_entry)
def class_b_06(f, x, h=1e-5):
    g = torch.zeros(x.shape, dtype=x.dtype, device=x.device)
    for k in np.ndindex(tuple(x.shape)):
        a = x.detach().clone()
        b = x.detach().clone()
        a[k] = a[k] + h
        b[k] = b[k] - h
        slope = (f(a) - f(b)) / (2 * h)
        g[k] = slope.item()
        return g


# f is called on each entry as a single number, not on a tensor of the shape of x with one entry moved
@wrong(says='On case 2: f was called with a tensor of shape (); x has shape (4,).')
def class_b_07(f, x, h=1e-5):
    slopes = []
    for value in x.detach().flatten():
        # the derivative at this number
        slopes.append(((f(value + h) - f(value - h)) / (2 * h)).item())
    return torch.tensor(slopes, dtype=x.dtype, device=x.device).reshape(x.shape)


@right
def class_b_08(f, x, h=1e-5):
    n, z = x.numel(), x.detach().contiguous()
    masks = torch.eye(n, dtype=torch.bool, device=x.device).reshape(n, *x.shape)
    slopes = [(f(torch.where(m, z + h, z)).item() - f(torch.where(m, z - h, z)).item()) / (2 * h) for m in masks]
    return torch.tensor(slopes, dtype=x.dtype, device=x.device).reshape(x.shape)


# torch.gradient takes the differences of neighbouring samples along a dimension, it knows nothing of f; on the 0-d
# f(x) it gives no tensor and the [0] raises
@raised(effects.index_out_of_range)
def class_b_09(f, x, h=1e-5):
    # torch has a function for numerical gradients already (like np.gradient)
    with torch.no_grad():
        y = f(x.clone())
        g = torch.gradient(y, spacing=h)
    return g[0]


# the slopes are collected column by column but reshaped row by row, so they land in the wrong places AND only 2-d
# tensors work, any other shape raises
@raised(effects.unpacked_wrongly)
def class_b_10(f, x, h=1e-5):
    rows, cols = x.shape
    values = []
    for j in range(cols):
        for i in range(rows):
            xp = x.detach().clone()
            xp[i, j] += h
            xm = x.detach().clone()
            xm[i, j] -= h
            values.append((f(xp).item() - f(xm).item()) / (2 * h))
    return torch.tensor(values, dtype=x.dtype, device=x.device).reshape(rows, cols)


# zeros_like keeps the strides of x, so for a transposed x g.reshape(-1) is a copy and the slopes are written into
# thin air: the result is all zeros
@wrong(says='Every entry that was given is zero.')
def class_b_12(f, x, h=1e-5):
    flat = x.detach().flatten()
    g = torch.zeros_like(x)
    for i in range(flat.numel()):
        p, m = flat.clone(), flat.clone()
        p[i] += h
        m[i] -= h
        # f wants the shape of x
        g.reshape(-1)[i] = (f(p.reshape(x.shape)).item() - f(m.reshape(x.shape)).item()) / (2 * h)
    return g


@right
def class_b_14(f, x, h=1e-5):
    base = x.detach()
    out = torch.zeros(x.shape, dtype=x.dtype, device=x.device)

    def value(idx, step):
        p = torch.empty(base.shape, dtype=base.dtype, device=base.device).copy_(base)
        p[idx] = base[idx] + step
        return f(p).item()

    def walk(idx):
        depth = len(idx)
        if depth == base.dim():              # a full index: one entry
            out[idx] = (value(idx, h) - value(idx, -h)) / (2 * h)
            return
        for k in range(base.shape[depth]):
            walk(idx + (k,))

    walk(())
    return out


# it moves the entries in x's own memory: for an expanded x one write moves several entries at once (and an f that
# holds x sees its constant move)
@right
def class_b_15(f, x, h=1e-5):
    xd = x.data                   # no copy needed, we put everything back
    grad = torch.zeros(x.shape, dtype=x.dtype, device=x.device)
    for ix in np.ndindex(tuple(x.shape)):
        saved = xd[ix].item()
        xd[ix] = saved + h
        fp = f(xd).item()
        xd[ix] = saved - h
        fm = f(xd).item()
        xd[ix] = saved            # exactly the old bits
        grad[ix] = (fp - fm) / (2 * h)
    return grad


# f is called with a float64 tensor even for a float32 x: an f with float32 weights in a matrix product raises
@right
def class_b_17(f, x, h=1e-5):
    # float32 has only 7 digits, too few for h = 1e-5, so measure in double
    z = x.detach().double().contiguous().view(-1)
    slopes = torch.zeros_like(z)
    for i in range(z.numel()):
        e = torch.zeros_like(z)
        e[i] = h
        slopes[i] = (f((z + e).view(x.shape)).item() - f((z - e).view(x.shape)).item()) / (2 * h)
    return slopes.view(x.shape).to(x.dtype)


# the step is h times the size of the entry, not h: an entry that is 0 is not moved at all and gives nan
@wrong()
def class_b_21(f, x, h=1e-5):
    base = x.detach().contiguous().view(-1)
    out = torch.empty(base.shape, dtype=x.dtype, device=x.device)
    for i, v in enumerate(base):
        step = h * v.abs()        # relative step: big numbers need big steps
        up, down = base.clone(), base.clone()
        up[i] = v + step
        down[i] = v - step
        out[i] = ((f(up.view(x.shape)) - f(down.view(x.shape))) / (2 * step)).item()
    return out.view(x.shape)


# the slopes are rounded to three decimals to hide the noise: small gradients become 0
@wrong(says='digits in float32, and not further, as an approximation, a rounded number or a lower precision on the way would leave it; a missing factor would be seen in the first digit.')
def class_b_24(f, x, h=1e-5):
    x0 = x.detach()
    grad = torch.zeros(x.shape, dtype=x.dtype, device=x.device)
    for idx in np.ndindex(tuple(x.shape)):
        a, b = x0.clone(), x0.clone()
        a[idx] += h
        b[idx] -= h
        grad[idx] = (f(a).item() - f(b).item()) / (2 * h)
    # 5.9999999 -> 6.000
    return torch.round(grad, decimals=3)


# down minus up: the sign of every slope is turned AND the result stays flat instead of taking the shape of x
@wrong(says='The numbers are those of a known mistake, in another shape on cases 4, 5, 7 and 9. The sign is flipped (gradient-sign-flipped)')
def class_b_26(f, x, h=1e-5):
    z = x.detach()
    steps = (h * torch.eye(x.numel(), dtype=x.dtype, device=x.device)).reshape(-1, *x.shape) if x.numel() else []
    return torch.tensor([(f(z - s).item() - f(z + s).item()) / (2 * h) for s in steps], dtype=x.dtype, device=x.device)


@right
def class_b_27(f, x, h=1e-5):
    flat = x.detach().reshape(-1)

    def move(i, by):
        i = torch.tensor([i], device=x.device)
        return flat.index_add(0, i, torch.full((1,), by, dtype=x.dtype, device=x.device))

    def slope(i):
        up, down = move(i, h), move(i, -h)
        gap = up[i].item() - down[i].item()
        rise = f(up.reshape(x.shape)).item() - f(down.reshape(x.shape)).item()
        return rise / gap if gap else 0.0      # h is below the resolution of x: nothing moved

    return torch.tensor(list(map(slope, range(flat.numel()))), dtype=x.dtype, device=x.device).reshape(x.shape)


@right
def class_c_02(f, x, h=1e-5):
    # work on a private float64 copy: in float32 a step of 1e-5 would get lost
    point = x.detach().to(torch.float64).contiguous().clone()
    flat = point.view(-1)              # shares memory with point
    grad = torch.zeros(x.numel(), dtype=torch.float64, device=x.device)
    for i in range(x.numel()):
        old = flat[i].item()
        flat[i] = old + h
        f_up = f(point).item()
        flat[i] = old - h
        f_down = f(point).item()
        flat[i] = old
        grad[i] = (f_up - f_down) / (2 * h)
    return grad.reshape(x.shape).to(x.dtype)


# up = x and down = x are no copies: the step down only undoes the step up, so it is half a forward difference AND
# the steps are made in x itself, in its dtype, and leave rounding in it
@wrong(mistakes.assignment_is_no_copy, mistakes.kept_a_view_of_the_entry)
def class_c_06(f, x, h=1e-5):
    grad = torch.zeros_like(x)
    for i in np.ndindex(*x.shape):
        up = x
        up[i] += h
        f_up = f(up)
        down = x
        down[i] -= h
        f_down = f(down)
        grad[i] = (f_up - f_down) / (2 * h)
    return grad


@right
def class_c_09(f, x, h=1e-5):
    z = x.detach().double()

    def slope(index):
        up, down = z.clone(), z.clone()
        up[index] += h
        down[index] -= h
        return (float(f(up)) - float(f(down))) / float(up[index] - down[index])

    def descend(index):
        depth = len(index)
        if depth == z.dim():
            return slope(index)
        return [descend(index + (k,)) for k in range(z.shape[depth])]

    nested = descend(())
    return torch.tensor(nested, dtype=x.dtype, device=x.device).reshape(x.shape)


# rows, cols = x.shape: raises for every x that is not a matrix
@raised(effects.unpacked_wrongly)
def class_c_12(f, x, h=1e-5):
    rows, cols = x.shape
    result = torch.zeros(rows, cols, dtype=x.dtype, device=x.device)
    x64 = x.double()
    for r in range(rows):
        for c in range(cols):
            plus = x64.clone()
            plus[r, c] += h
            minus = x64.clone()
            minus[r, c] -= h
            result[r][c] = (f(plus) - f(minus)) / (2 * h)
    return result


@right
def class_c_13(f, x, h=1e-5):
    a = np.array(x.detach().cpu().tolist(), dtype=np.float64).reshape(tuple(x.shape))
    g = np.empty_like(a)

    def call(arr):
        return f(torch.tensor(arr, dtype=torch.float64, device=x.device)).item()

    for idx in np.ndindex(*a.shape):
        keep = a[idx].item()
        a[idx] = keep + h
        hi = call(a)
        a[idx] = keep - h
        lo = call(a)
        a[idx] = keep
        g[idx] = (hi - lo) / (2.0 * h)
    return torch.tensor(g, dtype=x.dtype, device=x.device)


# a float64 x is moved in place and brought back by += and -=, so rounding stays behind in it
@wrong(effects.changed_input)
def class_c_14(f, x, h=1e-5):
    z = x.double()
    out = torch.zeros_like(x)
    for idx in product(*[range(k) for k in x.shape]):
        z[idx] += h
        a = f(z).item()
        z[idx] -= 2 * h
        b = f(z).item()
        z[idx] += h       # back where we were
        out[idx] = (a - b) / (2 * h)
    return out


class Nudge:
    """Moves one entry of a tensor for the length of a with block."""

    def __init__(self, tensor, index, amount):
        self.tensor, self.index, self.amount = tensor, index, amount

    def __enter__(self):
        self.before = self.tensor[self.index].clone()
        self.tensor[self.index] = self.before + self.amount
        return self.tensor

    def __exit__(self, *error):
        self.tensor[self.index] = self.before
        return False

@right
def class_c_17(f, x, h=1e-5):
    work = torch.empty(x.shape, dtype=torch.float64, device=x.device)
    work.copy_(x)
    result = torch.zeros_like(x)
    indices = torch.ones(x.shape).nonzero().tolist()
    for index in map(tuple, indices):
        with Nudge(work, index, +h) as t:
            up = f(t).item()
        with Nudge(work, index, -h) as t:
            down = f(t).item()
        result[index] = (up - down) / (2 * h)
    return result


# f gets the flattened tensor, not one of the shape of x
@wrong(mistakes.called_f_with_a_flat_point)
def class_c_18(f, x, h=1e-5):
    flat = x.double().flatten()
    grad = []
    for i in range(flat.shape[0]):
        step = torch.zeros_like(flat)
        step[i] = h
        grad.append(((f(flat + step) - f(flat - step)) / (2 * h)).item())
    return torch.tensor(grad, dtype=x.dtype, device=x.device).reshape(x.shape)


@right
def class_c_22(f, x, h=1e-5):
    z = x.detach().double()
    ids = torch.arange(z.numel(), device=z.device).reshape(z.shape)
    shifted = lambda k, s: torch.where(ids == k, z + s, z)
    slope = lambda k: f(shifted(k, h)).item() / (2 * h) - f(shifted(k, -h)).item() / (2 * h)
    out = torch.zeros(z.numel(), dtype=torch.float64, device=z.device)
    for k, s in enumerate(map(slope, range(z.numel()))):
        out[k] = s
    return out.reshape(z.shape).to(x.dtype)


# the step is scaled with the size of the entry (h * max(1, |x|)), not the h that was asked for
@wrong()
def class_c_23(f, x, h=1e-5):
    z = x.double()
    g = torch.empty_like(x)
    for i in product(*map(range, z.shape)):
        step = h * max(1.0, abs(z[i].item()))   # relative step, as in numerical recipes
        up, down = z.clone(), z.clone()
        up[i] += step
        down[i] -= step
        g[i] = (f(up) - f(down)) / (up[i] - down[i])
    return g


# random directions give an estimate of the gradient, not each entry's own quotient AND drawing them uses up the
# global random state
@wrong(says='Two calls with the same inputs gave different results: something is random, or is kept from call to call.')
def class_c_24(f, x, h=1e-5):
    z = x.double()
    total = torch.zeros_like(z)
    tries = 100
    for _ in range(tries):
        d = torch.randint(0, 2, z.shape, device=z.device).double() * 2 - 1
        total += (f(z + h * d) - f(z - h * d)) / (2 * h) * d
    return (total / tries).to(x.dtype)


# the two points are x + 2h and x, not x + h and x - h AND a float32 x gets a float64 gradient
@wrong(says='On case 1: Of the entries of x, 0 and 1 stood elsewhere in a call of f; in a right answer it is always 1.')
def class_c_26(f, x, h=1e-5):
    x = x.to(torch.float64)
    g = torch.zeros_like(x)
    f0 = f(x)
    for idx in np.ndindex(*x.shape):
        y = x.clone()
        y[idx] += 2 * h
        g[idx] = (f(y) - f0) / (2 * h)
    return g


@right
def class_c_27(f, x, h=1e-5):
    centre = x.detach().double()
    grad = torch.zeros_like(x)
    for i in range(centre.numel()):
        here = torch.tensor([i], device=x.device)
        value = centre.take(here)
        hi, lo = value + h, value - h
        rise = f(centre.put(here, hi)) - f(centre.put(here, lo))
        grad.put_(here, (rise / (hi - lo)).to(x.dtype).reshape(1))
    return grad


@right
def class_d_02(f, x, h=1e-5):
    flat = x.detach().reshape(-1)
    out = torch.empty(x.numel(), dtype=x.dtype, device=x.device)
    for k in range(x.numel()):
        up = flat.clone()
        down = flat.clone()
        up[k] += h
        down[k] -= h
        out[k] = (f(up.reshape(x.shape)) - f(down.reshape(x.shape))) / (2 * h)
    return out.reshape(x.shape)


# torch.zeros(x.shape) makes a float32 result for a float64 x AND only one side is measured (f(x) minus f(x - h))
@wrong(says='On case 1: Of the entries of x, 0 and 1 stood elsewhere in a call of f; in a right answer it is always 1.')
def class_d_11(f, x, h=1e-5):
    grads = torch.zeros(x.shape)
    y0 = f(x)
    for idx in np.ndindex(tuple(x.shape)):
        temp = x.clone()
        temp[idx] -= h
        grads[idx] = (y0 - f(temp)) / h
    return grads


# moves every entry that equals the current value, so equal entries move together
@wrong(says='Some entries are right; the others are 2 times what they should be.')
def class_d_16(f, x, h=1e-5):
    grad = torch.zeros_like(x)
    for value in x.flatten().tolist():
        mask = (x == value)
        bump = mask.to(x.dtype) * h
        grad[mask] = (f(x + bump) - f(x - bump)) / (2 * h)
    return grad


@right
def class_d_19(f, x, h=1e-5):
    # in float32 a step of 1e-5 drowns in rounding, so measure in double
    x64 = x.to(torch.float64, copy=True).contiguous()
    line = x64.view(-1)
    res = torch.zeros_like(line)
    for j, v in enumerate(line.tolist()):
        line[j] = v + h
        right = f(x64).double()
        line[j] = v - h
        left = f(x64).double()
        line[j] = v
        res[j] = (right - left) / ((v + h) - (v - h))
    return res.view(x.shape).to(x.dtype)


# torch.stack of an empty list raises for an x without entries
@right
def class_d_21(f, x, h=1e-5):
    unit = lambda i: (torch.arange(x.numel(), device=x.device) == i).reshape(x.shape).to(x.dtype)
    return torch.stack([(f(x + h * unit(i)) - f(x - h * unit(i))) / (2 * h) for i in range(x.numel())]).reshape(x.shape).to(x.dtype)


# switches grad mode off for the whole program and leaves it off AND ignores the h it is given (fixed 1e-4)
EPS = 1e-4

@wrong(says='The result does not change when `h` changes.')
def class_d_25(f, x, h=1e-5):
    torch.set_grad_enabled(False)   # we don't need gradients here
    grad = torch.zeros_like(x)
    for idx in np.ndindex(*x.shape):
        plus, minus = x.clone(), x.clone()
        plus[idx] += EPS
        minus[idx] -= EPS
        grad[idx] = (f(plus) - f(minus)) / (2 * EPS)
    return grad


@right
def class_e_08(f, x, h=1e-5):
    X = x.double()
    steps = h * torch.eye(X.numel(), dtype=X.dtype, device=X.device).reshape(X.numel(), *X.shape)
    return torch.stack([(f(X + s) - f(X - s)) / ((X + s) - (X - s)).sum() for s in steps]).reshape(x.shape).to(x.dtype)


# the copies are made once before the loop and never put back, so earlier entries stay moved while later ones are
# measured AND the difference is divided by h in place of 2h
@wrong(says='The numbers are those of a known mistake, times 2. The entries before are moved as well (perturbation-left-behind)')
def class_e_11(f, x, h=1e-5):
    shape = x.shape
    up = x.clone().flatten()
    down = x.clone().flatten()
    result = []
    for i in range(x.numel()):
        up[i] = up[i] + h
        down[i] = down[i] - h
        result.append((f(up.reshape(shape)) - f(down.reshape(shape))) / h)
    return torch.stack(result).reshape(shape)


@right
def class_e_16(f, x, h=1e-5):
    def go(g, t):
        # g: function of t alone, everything else held fixed
        if t.dim() == 0:
            up, down = t + h, t - h
            return (g(up) - g(down)) / (up - down)
        rows = list(t.unbind(0))
        parts = []
        for i in range(len(rows)):
            def only_row(r, i=i):
                return g(torch.stack(rows[:i] + [r] + rows[i + 1:]))
            parts.append(go(only_row, rows[i]))
        return torch.stack(parts)
    return go(f, x.double()).to(x.dtype)


# complex step: f is called with a complex tensor where it takes floating ones, and functions with abs, comparisons
# or the like give wrong values or raise
@wrong(says='On case 1: f was called with complex numbers; it takes floating ones.')
def class_e_17(f, x, h=1e-5):
    g = torch.zeros(x.numel(), dtype=x.dtype, device=x.device)
    for i in range(x.numel()):
        z = x.to(torch.complex128).flatten()
        z[i] += 1j * h
        g[i] = f(z.reshape(x.shape)).imag / h
    return g.reshape(x.shape)


# x.requires_grad_(True) out of habit: the caller's x requires gradients afterwards
@wrong(effects.changed_requires_grad)
def class_e_18(f, x, h=1e-5):
    x.requires_grad_(True)
    grad = torch.zeros(x.numel(), dtype=x.dtype, device=x.device)
    with torch.no_grad():
        for i in range(x.numel()):
            delta = torch.zeros(x.numel(), dtype=x.dtype, device=x.device)
            delta[i] = h
            delta = delta.reshape(x.shape)
            grad[i] = (f(x + delta) - f(x - delta)) / (2 * h)
    return grad.reshape(x.shape)


# unpacks x.shape into rows and columns, which raises for every x that is not 2-D AND plus is x itself, so every
# entry of the caller's x stays moved up by h
@raised(effects.unpacked_wrongly)
def class_e_20(f, x, h=1e-5):
    rows, cols = x.shape
    grad = torch.zeros_like(x)
    for r in range(rows):
        for c in range(cols):
            plus = x
            minus = x.clone()
            plus[r, c] += h
            minus[r, c] -= h
            grad[r, c] = (f(plus) - f(minus)) / (2 * h)
    return grad


class Prober_of_class_e_21:
    def __init__(self, f, x, h):
        self.f, self.shape, self.h = f, x.shape, h
        self.values = x.detach().cpu().double().flatten().tolist()
        self.device = x.device

    def value(self, i, v):
        vals = self.values[:i] + [v] + self.values[i + 1:]
        point = torch.tensor(vals, dtype=torch.float64, device=self.device).reshape(self.shape)
        return float(self.f(point))

    def slope(self, i):
        a, b = self.values[i] - self.h, self.values[i] + self.h
        return (self.value(i, b) - self.value(i, a)) / (b - a)

@right
def class_e_21(f, x, h=1e-5):
    p = Prober_of_class_e_21(f, x, h)
    slopes = [p.slope(i) for i in range(len(p.values))]
    return torch.tensor(slopes, dtype=x.dtype, device=x.device).reshape(x.shape)


@right
def class_e_24(f, x, h=1e-5):
    point = x.to(torch.float64)
    number = torch.arange(x.numel(), device=x.device).reshape(x.shape)
    answer = torch.zeros_like(point)
    k = 0
    while k < x.numel():
        mask = number == k
        forward = torch.where(mask, point + h, point)
        backward = torch.where(mask, point - h, point)
        distance = (forward - backward)[mask].squeeze()
        rise = f(forward) - f(backward)
        answer = torch.where(mask, rise / distance, answer)
        k += 1
    return answer.to(x.dtype)


# the difference quotient of a function of one number, written down as it stands in the book
@wrong(mistakes.moved_all_entries_forward)
def quotient_from_the_book(f, x, h=1e-5):
    df = f(x + h) - f(x)
    return torch.full_like(x, (df / h).item())


# a relative step, and the division by the plain 2h
@wrong(mistakes.step_scaled_by_the_entry)
def relative_step(f, x, h=1e-5):
    values = x.reshape(-1)
    out = torch.zeros_like(values)
    for k, v in enumerate(values):
        delta = torch.zeros_like(values)
        delta[k] = v * h
        delta = delta.reshape(x.shape)
        out[k] = (f(x + delta) - f(x - delta)) / (2 * h)
    return out.reshape(x.shape)


# a one-sided (forward) difference instead of up and down AND the result is a NumPy array, not a tensor
@wrong(effects.wrong_type)
def class_f_04(f, x, h=1e-5):
    f0 = f(x).item()
    grad = np.zeros(tuple(x.shape))
    for i in np.ndindex(*x.shape):
        x_new = x.clone()
        x_new[i] = x_new[i] + h
        grad[i] = (f(x_new).item() - f0) / h
    return grad


@right
def class_f_08(f, x, h=1e-5):
    out = torch.empty_like(x)
    for idx in product(*map(range, x.shape)):
        old = x[idx].item()             # a Python number, not a view!
        try:
            x[idx] = old + h
            fp = f(x)
            x[idx] = old - h
            fm = f(x)
        finally:
            x[idx] = old
        out[idx] = (fp - fm) / (2 * h)
    return out


@right
def class_f_19(f, x, h=1e-5):
    work = x.detach().double().clone()

    def walk(part):
        # part is a view into work; go down until a single entry is left
        if part.dim() > 0:
            return torch.stack([walk(p) for p in part.unbind(0)])
        start = part.item()
        part.fill_(start + h)
        hi = float(f(work))
        part.fill_(start - h)
        lo = float(f(work))
        part.fill_(start)
        return torch.tensor((hi - lo) / (2 * h), dtype=x.dtype, device=x.device)

    return walk(work)


# the gradient is rounded to four decimals AND torch.manual_seed changes the random state
@wrong(says='Right to about 4 to 5 digits, and not further, as an approximation, a rounded number or a lower precision on the way would leave it; a missing factor would be seen in the first digit.')
def class_f_21(f, x, h=1e-5):
    torch.manual_seed(42)   # reproducible
    g = torch.zeros(x.shape, dtype=torch.float64, device=x.device)
    for i in product(*(range(s) for s in x.shape)):
        a = x.double().clone(); a[i] += h
        b = x.double().clone(); b[i] -= h
        g[i] = (f(a) - f(b)) / (2 * h)
    # cut off the numerical noise
    return torch.round(g, decimals=4).to(x.dtype)


# returns 2x, the derivative of the sum of squares from the lesson, and never asks f
@wrong(says='`f` was never called.')
def class_f_22(f, x, h=1e-5):
    # d/dx x**2 : ((x+h)**2 - (x-h)**2) / 2h
    up = (x + h) ** 2
    down = (x - h) ** 2
    return (up - down) / (2 * h)


# the step lives in a default float32 tensor (on the CPU), so for a float64 x it is not h but its float32 rounding,
# about 1e-8 off relative
@wrong(says='digits, and not further, as an approximation, a rounded number or a lower precision on the way would leave it; a missing factor would be seen in the first digit.')
def class_f_25(f, x, h=1e-5):
    n = x.numel()
    g = []
    for i in range(n):
        e = torch.zeros(n)
        e[i] = h
        e = e.reshape(x.shape).to(x.device)
        g.append((f(x + e) - f(x - e)) / (2 * h))
    return torch.stack(g).reshape(x.shape).to(x.dtype)


# breaks the rule: the gradient is taken with autograd instead of calls of f (and fails for an f that autograd
# cannot see through)
@wrong(mistakes.derivative_not_difference)
def class_g_14(f, x, h=1e-5):
    with torch.enable_grad():
        v = x.detach().clone().requires_grad_(True)
        loss = f(v)
    return torch.autograd.grad(loss, v)[0]


# side effect: the result is stored in x.grad (and that very tensor is returned), so the .grad of x is changed
@wrong(effects.changed_grad)
def class_g_20(f, x, h=1e-5):
    g = []
    for e in torch.eye(x.numel(), dtype=x.dtype, device=x.device):
        e = e.reshape(x.shape)
        g.append((f(x + h * e) - f(x - h * e)) / (2 * h))
    x.grad = torch.stack(g).reshape(x.shape).to(x.dtype)
    return x.grad


# entries are found by value (x == v), so equal entries are moved together and each gets the sum of their
# derivatives
@wrong(says='Some entries are right; the others are 2 times what they should be.')
def class_g_21(f, x, h=1e-5):
    z = x.detach().double()
    out = torch.zeros_like(z)
    for v in z.unique():
        here = (z == v)
        out[here] = (f(torch.where(here, z + h, z)) - f(torch.where(here, z - h, z))).double() / (2 * h)
    return out.to(x.dtype)


class Prober_of_class_g_22:
    def __init__(self, f, x, h):
        self.f, self.h = f, h
        self.point = x.detach().clone()

    def value(self, idx, t):
        p = self.point.clone()
        p[idx] = p[idx] + t
        return self.f(p)

    def slopes(self, idx=()):
        if len(idx) == self.point.dim():
            return ((self.value(idx, self.h) - self.value(idx, -self.h)) / (2 * self.h)).reshape(())
        return torch.stack([self.slopes(idx + (k,)) for k in range(self.point.shape[len(idx)])])

@right
def class_g_22(f, x, h=1e-5):
    return Prober_of_class_g_22(f, x, h).slopes().to(x.dtype)


# random directions are averaged (an estimate instead of one entry at a time) AND torch.manual_seed changes the
# global random state
@wrong(says='On case 1: Of the entries of x, 3 stood elsewhere in a call of f; in a right answer it is always 1.')
def class_g_23(f, x, h=1e-5):
    torch.manual_seed(0)
    g = torch.zeros_like(x)
    K = 300
    for _ in range(K):
        d = torch.randint(0, 2, x.shape, device=x.device).to(x.dtype) * 2 - 1
        g += (f(x + h * d) - f(x - h * d)) / (2 * h) * d
    return g / K


# in the special case for a 0-d x the parentheses are missing: only f(x - h) is divided by 2h
@wrong(says='It fails on case 5 alone, where x is a 0-d tensor.')
def class_g_25(f, x, h=1e-5):
    if x.dim() == 0:
        return f(x + h) - f(x - h) / (2 * h)
    grad = torch.zeros_like(x)
    for pos in torch.ones_like(x).nonzero():
        pos = tuple(pos.tolist())
        left, right = x.clone(), x.clone()
        right[pos] += h
        left[pos] -= h
        grad[pos] = (f(right) - f(left)) / (2 * h)
    return grad


@right
def class_h_02(f, x, h=1e-5):
    grad = torch.zeros_like(x)
    for idx in itertools.product(*[range(s) for s in x.shape]):
        up = x.clone()
        down = x.clone()
        up[idx] += h
        down[idx] -= h
        grad[idx] = (f(up) - f(down)) / (2 * h)
    return grad


# x_plus and x_minus are the same tensor as x (no clone), so the two moves cancel, f sees the same point twice and
# the result is zero
@wrong(mistakes.assignment_is_no_copy)
def class_h_04(f, x, h=1e-5):
    grad = torch.zeros_like(x)
    for idx in range(x.numel()):
        pos = torch.unravel_index(torch.tensor(idx), x.shape) if x.dim() else ()
        old = x[pos].clone()
        x_plus = x
        x_plus[pos] = x_plus[pos] + h
        x_minus = x
        x_minus[pos] = x_minus[pos] - h
        grad[pos] = (f(x_plus) - f(x_minus)) / (2 * h)
        x[pos] = old
    return grad


@right
def class_h_16(f, x, h=1e-5):
    work = x.detach().to(torch.float64, copy=True)
    slopes = np.zeros(tuple(x.shape))
    for where in np.ndindex(*x.shape):
        saved = work[where].item()
        hi, lo = saved + h, saved - h
        work[where] = hi
        f_hi = f(work).item()
        work[where] = lo
        f_lo = f(work).item()
        work[where] = saved
        slopes[where] = (f_hi - f_lo) / (hi - lo)
    return torch.as_tensor(slopes).to(device=x.device, dtype=x.dtype)


# the gradient comes back flat, of shape (numel,), not in the shape of x AND in float64 also for a float32 x
@wrong(mistakes.result_left_flat)
def class_h_18(f, x, h=1e-5):
    weights = x.double().flatten()
    n_params = weights.shape[0]
    gradients = torch.zeros(n_params, dtype=torch.float64, device=x.device)
    for p in range(n_params):
        w_hi = weights.clone()
        w_hi[p] += h
        w_lo = weights.clone()
        w_lo[p] -= h
        gradients[p] = (f(w_hi.reshape(x.shape)) - f(w_lo.reshape(x.shape))) / (2 * h)
    return gradients


# f is vectorised with vmap, which raises for an f opaque to it (.item(), NumPy, branches on values)
@raised(says='It fails on cases 6 and 9 alone, where autograd cannot look into f.')
def class_h_19(f, x, h=1e-5):
    p = x.double()
    dirs = h * torch.eye(p.numel(), dtype=p.dtype, device=p.device).reshape(-1, *p.shape)
    both = vmap(f)(torch.cat([p + dirs, p - dirs]))
    up, down = both.chunk(2)
    return ((up - down) / (2 * h)).reshape(p.shape).to(x.dtype)


# sets the default dtype to float64 and leaves it so for the rest of the program
@wrong(effects.changed_global)
def class_h_21(f, x, h=1e-5):
    torch.set_default_dtype(torch.float64)   # float32 is too noisy for h = 1e-5
    p = x.to(torch.get_default_dtype())
    steps = torch.eye(p.numel(), device=p.device).mul(h).reshape(p.numel(), *p.shape)
    vals = torch.stack([f(p + s) - f(p - s) for s in steps])
    return vals.div(2 * h).reshape(x.shape).to(x.dtype)


@right
def class_h_23(f, x, h=1e-5):
    centre = x.to(torch.float64)

    def probe(prefix, sign):
        moved = centre.clone()
        moved[prefix] = moved[prefix] + sign * h
        return f(moved)

    def rec(prefix):
        depth = len(prefix)
        if depth == x.dim():
            return (probe(prefix, 1) - probe(prefix, -1)).to(torch.float64) / (2 * h)
        return torch.stack([rec(prefix + (i,)) for i in range(x.shape[depth])])

    return rec(()).to(x.dtype)


# a NumPy array is returned, not a tensor AND the entry is multiplied by 1 + h and 1 - h, so it moves by h * x_i
@wrong(effects.wrong_type)
def class_h_24(f, x, h=1e-5):
    a = x.detach().cpu().numpy().astype(np.float64)
    grad = np.zeros_like(a)
    for ix in np.ndindex(a.shape):
        up, dn = a.copy(), a.copy()
        up[ix] *= 1 + h
        dn[ix] *= 1 - h
        fu = f(torch.from_numpy(up).to(x.device))
        fd = f(torch.from_numpy(dn).to(x.device))
        grad[ix] = (float(fu) - float(fd)) / (2 * h)
    return grad


# no parentheses around the numerator nor the denominator: f(up) - f(down) / 2 * h
@wrong(mistakes.second_value_alone_divided)
def class_h_07(f, x, h=1e-5):
    result = torch.zeros(x.numel(), dtype=x.dtype, device=x.device)
    flat = x.flatten()
    for k in range(len(flat)):
        up = flat.clone()
        down = flat.clone()
        up[k] = up[k] + h
        down[k] = down[k] - h
        result[k] = f(up.reshape(x.shape)) - f(down.reshape(x.shape)) / 2 * h
    return result.reshape(x.shape)


# the return stands inside the loop, so only the first entry is ever measured AND the difference is divided by h,
# not 2h
@wrong(says='The numbers are those of a known mistake, times 2. Only the first entry was measured (only-the-first-entry)')
def class_h_20(f, x, h=1e-5):
    flat = x.double().reshape(-1)
    grad = torch.zeros_like(flat)
    for i in range(flat.numel()):
        e = torch.zeros_like(flat)
        e[i] = h
        e = e.reshape(x.shape)
        grad[i] = (f(x.double() + e) - f(x.double() - e)) / h
        return grad.reshape(x.shape).to(x.dtype)


# the probes are made in the dtype of x, so with float32 the step of 1e-5 drowns in rounding
@right
def class_i_04(f, x, h=1e-5):
    xc = x.clone(memory_format=torch.contiguous_format)
    flat = xc.view(-1)
    vals = []
    for i in range(flat.numel()):
        old = flat[i].item()
        flat[i] = old + h
        fp = f(xc)
        flat[i] = old - h
        fm = f(xc)
        flat[i] = old          # put it back
        vals.append((fp - fm) / (2 * h))
    return torch.stack(vals).reshape(x.shape)


# the moved entry is not put back before the next one is moved AND the result has the default dtype float32 for a
# float64 x
@wrong(mistakes.perturbation_left_behind)
def class_i_20(f, x, h=1e-5):
    plus = x.double().clone(memory_format=torch.contiguous_format)
    minus = x.double().clone(memory_format=torch.contiguous_format)
    grads = []
    for i in range(x.numel()):
        plus.view(-1)[i] += h
        minus.view(-1)[i] -= h
        grads.append(((f(plus) - f(minus)) / (2 * h)).item())
    return torch.tensor(grads).reshape(x.shape)


class Prober_of_class_i_21:
    def __init__(self, f, point, h):
        self.f, self.h = f, h
        self.point = point.detach().double().clone()

    def value(self, index, amount):
        p = self.point.clone()
        p[index] = p[index] + amount
        return self.f(p)

    def walk(self, index=()):
        if len(index) == self.point.dim():
            return [(self.value(index, self.h) - self.value(index, -self.h)) / (2 * self.h)]
        found = []
        for j in range(self.point.shape[len(index)]):
            found += self.walk(index + (j,))
        return found

@right
def class_i_21(f, x, h=1e-5):
    return torch.stack(Prober_of_class_i_21(f, x, h).walk()).reshape(x.shape).to(x.dtype)


# the loop takes two dimensions for granted (ValueError for 0-d, 1-d and 3-d) AND down minus up gives the opposite
# sign
@raised(effects.unpacked_wrongly)
def class_i_22(f, x, h=1e-5):
    rows, cols = x.shape
    grad = torch.zeros_like(x)
    for r in range(rows):
        for c in range(cols):
            up = x.double().clone()
            dn = x.double().clone()
            up[r, c] += h
            dn[r, c] -= h
            grad[r, c] = (f(dn) - f(up)) / (2 * h)
    return grad


# for float32 the argument h is thrown away and 1e-2 taken instead AND the filled gradient is never returned
@wrong(effects.returned_nothing)
def class_i_24(f, x, h=1e-5):
    if x.dtype == torch.float32:
        h = 1e-2      # 1e-5 gave garbage
    work = x.double().contiguous()
    grad = torch.zeros_like(work)
    for i in range(work.numel()):
        a = work.clone()
        b = work.clone()
        a.view(-1)[i] += h
        b.view(-1)[i] -= h
        grad.view(-1)[i] = (f(a) - f(b)) / (2 * h)


