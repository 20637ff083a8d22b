"""Attempts at exercise 3.4, zeroing_traffic: what learners write, and what the check must say of it."""

import copy

import numpy as np
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from course_utils.authoring.attempts import raised, right, wrong
from course_utils.checks import effects
from course_utils.lessons.lesson3.zeroing_traffic import mistakes


@right
def computed(model, set_to_none):
    if set_to_none:
        return 0
    return 4 * sum(p.numel() * p.element_size() for p in model.parameters() if p.requires_grad)


@right
def with_nbytes(model, set_to_none):
    total = 0
    for _, p in model.named_parameters():
        if p.requires_grad and not set_to_none:
            zero_writes, add_reads, add_writes = p.nbytes, 2 * p.nbytes, p.nbytes
            total += zero_writes + add_reads + add_writes
    return total


@right
def in_numpy(model, set_to_none):
    sizes = [np.prod(p.shape) * p.element_size() for p in model.parameters() if p.requires_grad]
    return np.sum(sizes, dtype=np.int64) * 4 * (not set_to_none)


@right
def in_tensors(model, set_to_none):
    total = torch.tensor(0)
    for p in filter(lambda p: p.requires_grad, model.parameters()):
        total += 0 if set_to_none else 4 * len(p.detach().flatten()) * p.itemsize
    return total


@right
def as_a_float(model, set_to_none):
    return 0.0 if set_to_none else 4.0 * sum(p.nelement() * p.dtype.itemsize for p in model.parameters() if p.requires_grad)


class Counter(TorchDispatchMode):
    def __init__(self):
        super().__init__()
        self.bytes = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if func is torch.ops.aten.zero_.default:
            self.bytes += args[0].nbytes
        if func is torch.ops.aten.add_.Tensor:
            self.bytes += 2 * args[0].nbytes + args[1].nbytes
        return func(*args, **(kwargs or {}))


@right
def measured(model, set_to_none):
    model = copy.deepcopy(model)
    params = [p for p in model.parameters() if p.requires_grad]
    for step in range(2):
        with Counter() as counter:
            model.zero_grad(set_to_none=set_to_none)
            for p in params:
                p.backward(torch.ones_like(p))
    return counter.bytes


@right
def measured_on_free_tensors(model, set_to_none):
    total = 0
    for p in model.parameters():
        if p.requires_grad:
            leaf = p.detach().clone().requires_grad_()
            (leaf * leaf.detach()).sum().backward()
            with Counter() as counter:
                if set_to_none:
                    leaf.grad = None
                else:
                    leaf.grad.zero_()
                (leaf * leaf.detach()).sum().backward()
            total += counter.bytes
    return total


# ------------------------------------------------------------------ wrong


@wrong(mistakes.flag_ignored)
def always_four(model, set_to_none):
    return 4 * sum(p.numel() * p.element_size() for p in model.parameters() if p.requires_grad)


@wrong(mistakes.flag_the_other_way_round)
def turned_round(model, set_to_none):
    return 4 * sum(p.nbytes for p in model.parameters() if p.requires_grad) if set_to_none else 0


@wrong(mistakes.quarter_left_out)
def read_read_write(model, set_to_none):
    if set_to_none:
        return 0
    return 3 * sum(p.nbytes for p in model.parameters() if p.requires_grad)


@wrong(mistakes.half_left_out)
def writes_alone(model, set_to_none):
    size = sum(p.nbytes for p in model.parameters() if p.requires_grad)
    return 0 if set_to_none else size + size


@wrong(mistakes.three_quarters_left_out)
def zeros_alone(model, set_to_none):
    return 0 if set_to_none else sum(p.nbytes for p in model.parameters() if p.requires_grad)


@wrong(mistakes.five_for_four)
def zero_reads_too(model, set_to_none):
    size = sum(p.nbytes for p in model.parameters() if p.requires_grad)
    clearing, accumulating = 2 * size, 3 * size
    return 0 if set_to_none else clearing + accumulating


@wrong(mistakes.handed_over_counted)
def written_once(model, set_to_none):
    size = sum(p.nbytes for p in model.parameters() if p.requires_grad)
    return size if set_to_none else 4 * size


@wrong(mistakes.handed_over_counted)
def copied(model, set_to_none):
    size = sum(p.nbytes for p in model.parameters() if p.requires_grad)
    return (2 if set_to_none else 4) * size


@wrong(mistakes.quarter_left_out)
def three_and_one(model, set_to_none):
    size = sum(p.nbytes for p in model.parameters() if p.requires_grad)
    return (1 if set_to_none else 3) * size


@wrong(mistakes.entries_counted)
def entries(model, set_to_none):
    return 0 if set_to_none else 4 * sum(p.numel() for p in model.parameters() if p.requires_grad)


@wrong(mistakes.four_bytes_an_entry)
def four_bytes(model, set_to_none):
    return 0 if set_to_none else 4 * 4 * sum(p.numel() for p in model.parameters() if p.requires_grad)


@wrong(mistakes.eight_bytes_an_entry)
def eight_bytes(model, set_to_none):
    return 0 if set_to_none else 4 * 8 * sum(p.numel() for p in model.parameters() if p.requires_grad)


@wrong(mistakes.one_width_for_all)
def width_of_the_first(model, set_to_none):
    params = [p for p in model.parameters() if p.requires_grad]
    if set_to_none or not params:
        return 0
    return 4 * params[0].element_size() * sum(p.numel() for p in params)


@wrong(mistakes.frozen_counted)
def every_parameter(model, set_to_none):
    return 0 if set_to_none else 4 * sum(p.numel() * p.element_size() for p in model.parameters())


@wrong(mistakes.tied_counted_twice)
def duplicates_kept(model, set_to_none):
    if set_to_none:
        return 0
    return 4 * sum(p.nbytes for _, p in model.named_parameters(remove_duplicate=False) if p.requires_grad)


@wrong(mistakes.state_dict_counted)
def state_dict(model, set_to_none):
    return 0 if set_to_none else 4 * sum(t.nbytes for t in model.state_dict().values())


@wrong(mistakes.buffers_counted)
def with_buffers(model, set_to_none):
    tensors = [*(p for p in model.parameters() if p.requires_grad), *model.buffers()]
    return 0 if set_to_none else 4 * sum(t.numel() * t.element_size() for t in tensors)


@wrong(mistakes.those_held_now)
def where_there_is_one(model, set_to_none):
    return 0 if set_to_none else 4 * sum(p.grad.nbytes for p in model.parameters() if p.grad is not None)


@wrong(says="2 times what it should be")
def two_steps(model, set_to_none):
    return 0 if set_to_none else 8 * sum(p.nbytes for p in model.parameters() if p.requires_grad)


@wrong(effects.changed_grad)
def measured_on_the_model(model, set_to_none):
    params = [p for p in model.parameters() if p.requires_grad]
    for step in range(2):
        with Counter() as counter:
            for p in params:
                if set_to_none:
                    p.grad = None
                elif p.grad is not None:
                    p.grad.zero_()
            for p in params:
                (p * p.detach()).sum().backward()
    return counter.bytes


@wrong(effects.returned_nothing)
def printed(model, set_to_none):
    print(0 if set_to_none else 4 * sum(p.nbytes for p in model.parameters() if p.requires_grad))


@wrong(effects.wrong_type)
def by_name(model, set_to_none):
    return {name: 0 if set_to_none else 4 * p.nbytes for name, p in model.named_parameters()}


@raised(effects.grad_is_none)
def bytes_of_grad(model, set_to_none):
    return 0 if set_to_none else 4 * sum(p.grad.numel() * p.grad.element_size() for p in model.parameters())


@wrong(mistakes.flag_ignored)
def four_bytes_for_either(model, set_to_none):
    return 4 * 4 * sum(p.numel() for p in model.parameters() if p.requires_grad)


@wrong(effects.wrong_type)
def with_its_unit(model, set_to_none):
    total = 0 if set_to_none else 4 * sum(p.nbytes for p in model.parameters() if p.requires_grad)
    return f"{total} bytes"


@wrong(effects.wrong_type)
def read_and_written_apart(model, set_to_none):
    size = sum(p.nbytes for p in model.parameters() if p.requires_grad)
    return (0, 0) if set_to_none else (2 * size, 2 * size)


@wrong(says="The number of bytes is 8 times what it should be")
def in_bits(model, set_to_none):
    return 0 if set_to_none else 32 * sum(p.nbytes for p in model.parameters() if p.requires_grad)


@wrong(mistakes.handed_over_counted)
def frozen_and_handed_over(model, set_to_none):
    return (1 if set_to_none else 4) * sum(p.nbytes for p in model.parameters())


@wrong(mistakes.nothing_counted)
def measured_in_the_first_step(model, set_to_none):
    model = copy.deepcopy(model)
    with Counter() as counter:
        model.zero_grad(set_to_none=set_to_none)
        for p in model.parameters():
            if p.requires_grad:
                (p * p.detach()).sum().backward()
    return counter.bytes


@wrong(mistakes.direct_parameters_alone)
def without_the_parts(model, set_to_none):
    held = [p for p in model._parameters.values() if p is not None and p.requires_grad]
    return 0 if set_to_none else 4 * sum(p.nbytes for p in held)


@wrong(mistakes.linear_layers_alone)
def linear_layers(model, set_to_none):
    total = 0
    for part in model.modules():
        if isinstance(part, torch.nn.Linear):
            total += 4 * sum(p.nbytes for p in (part.weight, part.bias) if p.requires_grad)
    return 0 if set_to_none else total


@wrong(mistakes.five_for_four)
def the_optimizer_reads_too(model, set_to_none):
    total = 0
    for p in model.parameters():
        if p.requires_grad and not set_to_none:
            zero, add, step = p.nbytes, 3 * p.nbytes, p.nbytes
            total += zero + add + step
    return total


@wrong(mistakes.memory_counted)
def of_the_storages(model, set_to_none):
    if set_to_none:
        return 0
    return 4 * sum(p.untyped_storage().nbytes() for p in model.parameters() if p.requires_grad)


@wrong(mistakes.memory_counted)
def of_each_storage_once(model, set_to_none):
    storages = {}
    for p in model.parameters():
        if p.requires_grad:
            storages[p.untyped_storage().data_ptr()] = p.untyped_storage().size()
    return 0 if set_to_none else 4 * sum(storages.values())


@wrong(mistakes.alike_counted_once)
def a_set_of_sizes(model, set_to_none):
    if set_to_none:
        return 0
    return 4 * sum({p.numel() * p.element_size() for p in model.parameters() if p.requires_grad})


@wrong(mistakes.alike_counted_once)
def one_of_each_shape(model, set_to_none):
    seen, total = set(), 0
    for p in model.parameters():
        if p.requires_grad and p.shape not in seen:
            seen.add(p.shape)
            total += 0 if set_to_none else 4 * p.nbytes
    return total


@right
def a_set_of_parameters(model, set_to_none):
    return 0 if set_to_none else 4 * sum(p.nbytes for p in set(model.parameters()) if p.requires_grad)


@wrong(mistakes.zeros_for_those_held_now)
def zeros_where_there_is_a_gradient(model, set_to_none):
    total = 0
    for p in model.parameters():
        if p.requires_grad and not set_to_none:
            total += 3 * p.nbytes
            if p.grad is not None:
                total += p.nbytes
    return total


@wrong(mistakes.those_held_now_miscounted)
def five_passes_over_what_is_there(model, set_to_none):
    if set_to_none:
        return 0
    zeroing, adding = 2, 3
    return sum((zeroing + adding) * p.grad.nbytes for p in model.parameters() if p.grad is not None)


@wrong(mistakes.those_held_now_miscounted)
def the_zeros_alone_of_what_is_there(model, set_to_none):
    total = 0
    for p in model.parameters():
        if p.grad is not None and not set_to_none:
            total += p.grad.numel() * p.grad.element_size()
    return total


@right
def measured_on_a_copy_that_holds_zeros(model, set_to_none):
    twin = copy.deepcopy(model)
    total = 0
    for p in twin.parameters():
        p.grad = torch.zeros_like(p) if p.requires_grad and not set_to_none else None
        total += 0 if p.grad is None else (1 + 3) * p.grad.nbytes
    return total


@wrong(mistakes.weights_alone)
def of_the_weights(model, set_to_none):
    weights = [p for n, p in model.named_parameters() if p.requires_grad and n.split(".")[-1] == "weight"]
    return 0 if set_to_none else 4 * sum(p.nbytes for p in weights)


@wrong(mistakes.weights_and_biases_alone)
def of_weights_and_biases(model, set_to_none):
    total, seen = 0, set()
    for part in model.modules():
        for name in ("weight", "bias"):
            p = part._parameters.get(name)
            if p is not None and p.requires_grad and p not in seen and not set_to_none:
                seen.add(p)
                total += 4 * p.nbytes
    return total
