"""Attempts at exercise 2.6, scalar_backward: what learners write, and what the check must say of it."""

from collections import Counter, defaultdict, deque

from course_utils.authoring.attempts import raised, right, wrong
from course_utils.checks import effects
from course_utils.lessons.lesson2.scalar_backward import mistakes


@right
def micrograd(output):
    topo, visited = [], set()

    def build(v):
        if v not in visited:
            visited.add(v)
            for parent, _ in v.parents:
                build(parent)
            topo.append(v)

    build(output)
    output.grad = 1.0
    for v in reversed(topo):
        for parent, slope in v.parents:
            parent.grad += slope * v.grad


@right
def count_the_users(output):
    users = Counter()
    seen, stack = {output}, [output]
    while stack:
        v = stack.pop()
        for parent, _ in v.parents:
            users[parent] += 1
            if parent not in seen:
                seen.add(parent)
                stack.append(parent)
    output.grad += 1
    ready = deque([output])
    while ready:
        v = ready.popleft()
        for parent, slope in v.parents:
            parent.grad += slope * v.grad
            users[parent] -= 1
            if not users[parent]:
                ready.append(parent)


@right
def dict_of_arrivals(output):
    arrived = defaultdict(float)
    arrived[output] = 1.0
    order = []

    def visit(v):
        if v in order:
            return
        for parent, _ in v.parents:
            visit(parent)
        order.append(v)

    visit(output)
    for v in order[::-1]:
        v.grad = v.grad + arrived[v]
        for parent, slope in v.parents:
            arrived[parent] += slope * arrived[v]


@right
def memoised_from_the_inputs(output):
    users, seen = {}, []

    def note(v):
        if any(v is one for one in seen):
            return
        seen.append(v)
        for parent, slope in v.parents:
            users.setdefault(id(parent), []).append((v, slope))
            note(parent)

    note(output)
    known = {id(output): 1.0}

    def gradient(v):
        if id(v) not in known:
            known[id(v)] = sum(slope * gradient(user) for user, slope in users[id(v)])
        return known[id(v)]

    for v in seen:
        v.grad += gradient(v)


@right
def by_depth(output):
    depth = {output: 0}
    again = [output]
    while again:
        v = again.pop()
        for parent, _ in v.parents:
            if depth.get(parent, -1) < depth[v] + 1:
                depth[parent] = depth[v] + 1
                again.append(parent)
    output.grad = 1.0
    for v in sorted(depth, key=depth.get):
        for parent, slope in v.parents:
            parent.grad += v.grad * slope
    return output


@right
def with_a_seed_and_names(output):
    order = []
    stack = [(output, False)]
    done = set()
    while stack:
        value, finished = stack.pop()
        if finished:
            order.append(value)
        elif value not in done:
            done.add(value)
            stack.append((value, True))
            stack.extend((parent, False) for parent, _ in value.parents)
    output.grad = 1.0
    while order:
        value = order.pop()
        for parent, local in value.parents:
            contribution = local * value.grad
            parent.grad = parent.grad + contribution


@right
def whoever_is_ready(output):
    everything = [output]
    for v in everything:
        everything += [parent for parent, _ in v.parents if all(parent is not one for one in everything)]
    output.grad = 1.0
    waiting = set(everything)
    while waiting:
        for v in everything:
            used_later = any(parent is v for user in waiting for parent, _ in user.parents)
            if v in waiting and not used_later:
                waiting.remove(v)
                for parent, slope in v.parents:
                    parent.grad += slope * v.grad


@right
def in_tensors(output):
    import torch

    order, seen = [], set()

    def visit(v):
        if v in seen:
            return
        seen.add(v)
        for parent, _ in v.parents:
            visit(parent)
        order.append(v)

    visit(output)
    output.grad = torch.tensor(1.0, dtype=torch.float64)
    for v in order[::-1]:
        for parent, slope in v.parents:
            parent.grad = parent.grad + slope * v.grad


# ------------------------------------------------------------------ wrong


def _topological(output):
    topo, visited = [], set()

    def build(v):
        if v not in visited:
            visited.add(v)
            for parent, _ in v.parents:
                build(parent)
            topo.append(v)

    build(output)
    return topo[::-1]


@wrong(mistakes.overwrote_what_was_there)
def equals_sign(output):
    output.grad = 1.0
    for v in _topological(output):
        for parent, slope in v.parents:
            parent.grad = slope * v.grad


@wrong(mistakes.overwrote_what_was_there)
def equals_sign_recursive(output):
    output.grad = 1.0

    def push(v):
        for parent, slope in v.parents:
            parent.grad = v.grad * slope

    for v in _topological(output):
        push(v)


@wrong(mistakes.earlier_gradients_lost)
def cleared_before(output):
    order = _topological(output)
    for v in order:
        v.grad = 0.0
    output.grad = 1.0
    for v in order:
        for parent, slope in v.parents:
            parent.grad += slope * v.grad


@wrong(mistakes.earlier_gradients_lost)
def dict_then_assigned(output):
    grads = defaultdict(float, {output: 1.0})
    for v in _topological(output):
        for parent, slope in v.parents:
            grads[parent] += slope * grads[v]
    for v, g in grads.items():
        v.grad = g


@wrong(mistakes.passed_on_too_early)
def breadth_first(output):
    output.grad = 1.0
    queue, seen = deque([output]), {output}
    while queue:
        v = queue.popleft()
        for parent, slope in v.parents:
            parent.grad += slope * v.grad
            if parent not in seen:
                seen.add(parent)
                queue.append(parent)


@wrong(mistakes.passed_on_too_early)
def depth_first(output):
    output.grad = 1.0
    seen = set()

    def go(v):
        if v in seen:
            return
        seen.add(v)
        for parent, slope in v.parents:
            parent.grad += slope * v.grad
            go(parent)

    go(output)


@wrong(mistakes.passed_on_more_than_once)
def recursion_without_memory(output):
    output.grad = 1.0

    def go(v):
        for parent, slope in v.parents:
            parent.grad += slope * v.grad
            go(parent)

    go(output)


@wrong(mistakes.passed_on_more_than_once)
def queue_without_memory(output):
    output.grad = 1.0
    queue = [output]
    while queue:
        v = queue.pop(0)
        for parent, slope in v.parents:
            parent.grad += slope * v.grad
            queue.append(parent)


@wrong(mistakes.walked_every_path)
def path_by_path(output):
    def go(v, arriving):
        v.grad += arriving
        for parent, slope in v.parents:
            go(parent, slope * arriving)

    go(output, 1.0)


@wrong(mistakes.nothing_arrived)
def no_seed(output):
    for v in _topological(output):
        for parent, slope in v.parents:
            parent.grad += slope * v.grad


@wrong(mistakes.nothing_arrived)
def returned_instead(output):
    grads = defaultdict(float, {output: 1.0})
    for v in _topological(output):
        for parent, slope in v.parents:
            grads[parent] += slope * grads[v]
    return grads


@wrong(mistakes.nothing_arrived)
def a_local_name(output):
    output.grad
    for v in _topological(output):
        for parent, slope in v.parents:
            g = parent.grad
            g += slope * v.grad


@wrong(mistakes.local_slopes_alone)
def without_the_chain(output):
    output.grad = 1.0
    for v in _topological(output):
        for parent, slope in v.parents:
            parent.grad += slope


@wrong(mistakes.only_the_last_step)
def one_level(output):
    output.grad = 1.0
    for parent, slope in output.parents:
        parent.grad += slope * output.grad


@wrong(mistakes.only_the_last_step)
def forwards(output):
    output.grad = 1.0
    for v in reversed(_topological(output)):
        for parent, slope in v.parents:
            parent.grad += slope * v.grad


@wrong(mistakes.same_operand_counted_once)
def as_a_dict(output):
    output.grad = 1.0
    for v in _topological(output):
        for parent, slope in dict(v.parents).items():
            parent.grad += slope * v.grad


@wrong(mistakes.same_operand_counted_once)
def as_a_set(output):
    output.grad = 1.0
    for v in _topological(output):
        for parent, slope in set(v.parents):
            parent.grad += slope * v.grad


@wrong(mistakes.inner_values_left_out)
def leaves_alone(output):
    grads = defaultdict(float, {output: 1.0})
    for v in _topological(output):
        for parent, slope in v.parents:
            grads[parent] += slope * grads[v]
        if not v.parents:
            v.grad += grads[v]


@wrong(mistakes.inner_values_left_out)
def set_back_where_there_are_operands(output):
    output.grad = 1.0
    for v in _topological(output):
        for parent, slope in v.parents:
            parent.grad += slope * v.grad
        if v.parents:
            v.grad = 0.0


@wrong(mistakes.output_left_out)
def table_written_without_output(output):
    table = defaultdict(float, {output: 1.0})
    for v in _topological(output):
        for parent, slope in v.parents:
            table[parent] += slope * table[v]
    del table[output]
    for v, g in table.items():
        v.grad = g


@wrong(mistakes.output_left_out)
def output_as_a_local(output):
    grads = defaultdict(float, {output: 1.0})
    for v in _topological(output):
        for parent, slope in v.parents:
            grads[parent] += slope * grads[v]
    del grads[output]
    for v, g in grads.items():
        v.grad += g


@wrong(mistakes.output_left_out)
def cleared_as_it_goes(output):
    output.grad = 1.0
    for v in _topological(output):
        for parent, slope in v.parents:
            parent.grad += slope * v.grad
    output.grad = 0.0


@wrong(mistakes.own_value_for_slope)
def operand_for_slope(output):
    output.grad = 1.0
    for v in _topological(output):
        for parent, slope in v.parents:
            parent.grad += parent.data * v.grad


@raised(effects.no_such_attribute)
def wrong_attribute(output):
    output.grad = 1.0
    for v in _topological(output):
        for parent, slope in v.inputs:
            parent.grad += slope * v.grad


@raised(effects.unpacked_wrongly)
def four_of_two(output):
    output.grad = 1.0
    for v in _topological(output):
        a, b = v.parents
        a[0].grad += a[1] * v.grad
        b[0].grad += b[1] * v.grad


@wrong(mistakes.parents_emptied)
def freed_as_torch_does(output):
    output.grad = 1.0
    for v in _topological(output):
        for parent, slope in v.parents:
            parent.grad += slope * v.grad
        v.parents = ()


@wrong(mistakes.passed_on_too_early)
def sorted_by_the_first_level(output):
    level, queue = {output: 0}, deque([output])
    while queue:
        v = queue.popleft()
        for parent, _ in v.parents:
            if parent not in level:
                level[parent] = level[v] + 1
                queue.append(parent)
    output.grad = 1.0
    for v in sorted(level, key=level.get):
        for parent, slope in v.parents:
            parent.grad += slope * v.grad


@wrong(mistakes.told_apart_by_their_numbers)
def numbers_seen(output):
    order, seen = [], {output.data}
    stack = [(output, iter(output.parents))]
    while stack:
        value, rest = stack[-1]
        for parent, _ in rest:
            if parent.data not in seen:
                seen.add(parent.data)
                stack.append((parent, iter(parent.parents)))
                break
        else:
            order.append(value)
            stack.pop()
    output.grad = 1.0
    for value in reversed(order):
        for parent, slope in value.parents:
            parent.grad += slope * value.grad


# known by its number, not by itself: passes as long as no two values hold the same one
@wrong(mistakes.told_apart_by_their_numbers)
def met_by_number(output):
    order, met = [], set()

    def go(value):
        if value.data in met:
            return
        met.add(value.data)
        for parent, _ in value.parents:
            go(parent)
        order.append(value)

    go(output)
    output.grad = 1.0
    for value in reversed(order):
        for parent, slope in value.parents:
            parent.grad += slope * value.grad


@wrong(mistakes.marks_left_behind)
def marks_stay(output):
    order, stack = [], [(output, False)]
    while stack:
        value, done = stack.pop()
        if done:
            order.append(value)
        elif not getattr(value, "visited", False):
            value.visited = True
            stack.append((value, True))
            stack += [(parent, False) for parent, _ in value.parents]
    output.grad = 1.0
    for value in reversed(order):
        for parent, slope in value.parents:
            parent.grad += slope * value.grad


@right
def marks_taken_away(output):
    order, stack = [], [(output, False)]
    while stack:
        value, done = stack.pop()
        if done:
            order.append(value)
        elif not hasattr(value, "visited"):
            value.visited = True
            stack.append((value, True))
            stack += [(parent, False) for parent, _ in value.parents]
    output.grad = 1.0
    for value in reversed(order):
        del value.visited
        for parent, slope in value.parents:
            parent.grad += slope * value.grad


@wrong(mistakes.told_apart_by_their_numbers)
def met_by_number_last_operand_first(output):
    order, met = [], []

    def go(value):
        if value.data not in met:
            met.append(value.data)
            for parent, _ in reversed(value.parents):
                go(parent)
            order.insert(0, value)

    go(output)
    output.grad += 1
    for value in order:
        for parent, slope in value.parents:
            parent.grad = parent.grad + slope * value.grad
