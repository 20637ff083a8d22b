"""Attempts at exercise 5.6, train_swapped_layer: what learners write, and what the check must say of it."""

import copy

import torch
from torch import nn

from course_utils.authoring.attempts import raised, right, wrong
from course_utils.checks import effects
from course_utils.lessons.lesson5.train_swapped_layer import mistakes


@right
def optimizer_after_the_swap(model, new_head, make_optimizer, loss_fn, batches, epochs):
    model.head = new_head
    optimizer = make_optimizer(model.parameters())
    for _ in range(epochs):
        for x, y in batches:
            optimizer.zero_grad()
            loss_fn(model(x), y).backward()
            optimizer.step()


@right
def cleared_at_the_end(model, new_head, make_optimizer, loss_fn, batches, epochs):
    model.head = new_head
    optimizer = make_optimizer(model.parameters())
    for _ in range(epochs):
        for x, y in batches:
            loss_fn(model(x), y).backward()
            optimizer.step()
            optimizer.zero_grad()


@right
def group_added(model, new_head, make_optimizer, loss_fn, batches, epochs):
    optimizer = make_optimizer(model.parameters())
    model.head = new_head
    optimizer.add_param_group({"params": new_head.parameters()})
    for _ in range(epochs):
        for x, y in batches:
            optimizer.zero_grad()
            loss_fn(model(x), y).backward()
            optimizer.step()


@right
def group_added_before_the_swap(model, new_head, make_optimizer, loss_fn, batches, epochs):
    optimizer = make_optimizer(model.parameters())
    optimizer.add_param_group({"params": list(new_head.parameters())})
    model.head = new_head
    for _ in range(epochs):
        for x, y in batches:
            optimizer.zero_grad()
            loss_fn(model(x), y).backward()
            optimizer.step()


@right
def both_by_name(model, new_head, make_optimizer, loss_fn, batches, epochs):
    rest = [p for n, p in model.named_parameters() if not n.startswith("head.")]
    optimizer = make_optimizer([*rest, *new_head.parameters()])
    model.head = new_head
    for _ in range(epochs):
        for x, y in batches:
            optimizer.zero_grad()
            loss_fn(model(x), y).backward()
            optimizer.step()


@right
def two_groups(model, new_head, make_optimizer, loss_fn, batches, epochs):
    model.head = new_head
    rest = [p for n, p in model.named_parameters() if not n.startswith("head.")]
    optimizer = make_optimizer([{"params": rest}, {"params": new_head.parameters()}])
    for _ in range(epochs):
        for x, y in batches:
            optimizer.zero_grad()
            loss_fn(model(x), y).backward()
            optimizer.step()


@right
def list_replaced(model, new_head, make_optimizer, loss_fn, batches, epochs):
    optimizer = make_optimizer(model.parameters())
    model.head = new_head
    optimizer.param_groups[0]["params"] = list(model.parameters())
    for _ in range(epochs):
        for x, y in batches:
            optimizer.zero_grad()
            loss_fn(model(x), y).backward()
            optimizer.step()


@right
def list_extended(model, new_head, make_optimizer, loss_fn, batches, epochs):
    optimizer = make_optimizer(model.parameters())
    model.head = new_head
    optimizer.param_groups[0]["params"].extend(new_head.parameters())
    for _ in range(epochs):
        for x, y in batches:
            optimizer.zero_grad()
            loss_fn(model(x), y).backward()
            optimizer.step()


@right
def two_optimizers_both_cleared(model, new_head, make_optimizer, loss_fn, batches, epochs):
    model.head = new_head
    of_trunk = make_optimizer([p for n, p in model.named_parameters() if not n.startswith("head.")])
    of_head = make_optimizer(new_head.parameters())
    for _ in range(epochs):
        for x, y in batches:
            of_trunk.zero_grad()
            of_head.zero_grad()
            loss_fn(model(x), y).backward()
            of_trunk.step()
            of_head.step()


@right
def the_old_one_for_the_trunk(model, new_head, make_optimizer, loss_fn, batches, epochs):
    optimizer = make_optimizer(model.parameters())
    model.head = new_head
    of_head = make_optimizer(new_head.parameters())
    for _ in range(epochs):
        for x, y in batches:
            model.zero_grad()
            loss_fn(model(x), y).backward()
            optimizer.step()
            of_head.step()


@right
def made_twice(model, new_head, make_optimizer, loss_fn, batches, epochs):
    optimizer = make_optimizer(model.parameters())
    model.head = new_head
    optimizer = make_optimizer(model.parameters())
    for _ in range(epochs):
        for x, y in batches:
            optimizer.zero_grad()
            loss_fn(model(x), y).backward()
            optimizer.step()


@right
def with_setattr(model, new_head, make_optimizer, loss_fn, batches, epochs):
    setattr(model, "head", new_head)
    optimizer = make_optimizer(model.parameters())
    for _ in range(epochs):
        for x, y in batches:
            optimizer.zero_grad()
            loss_fn(model(x), y).backward()
            optimizer.step()


@right
def add_module(model, new_head, make_optimizer, loss_fn, batches, epochs):
    model.add_module("head", new_head)
    optimizer = make_optimizer(model.parameters())
    for _ in range(epochs):
        for x, y in batches:
            optimizer.zero_grad()
            loss_fn(model(x), y).backward()
            optimizer.step()


@right
def trainable_alone(model, new_head, make_optimizer, loss_fn, batches, epochs):
    model.head = new_head
    optimizer = make_optimizer([p for p in model.parameters() if p.requires_grad])
    for _ in range(epochs):
        for x, y in batches:
            optimizer.zero_grad()
            loss_fn(model(x), y).backward()
            optimizer.step()


@right
def made_at_the_first_batch(model, new_head, make_optimizer, loss_fn, batches, epochs):
    model.head = new_head
    optimizer = None
    for _ in range(epochs):
        for x, y in batches:
            if optimizer is None:
                optimizer = make_optimizer(model.parameters())
            optimizer.zero_grad()
            loss_fn(model(x), y).backward()
            optimizer.step()


@right
def handed_back(model, new_head, make_optimizer, loss_fn, batches, epochs):
    model.head = new_head
    optimizer = make_optimizer(model.parameters())
    params = [p for p in model.parameters() if p.requires_grad]
    for _ in range(epochs):
        for x, y in batches:
            for p, g in zip(params, torch.autograd.grad(loss_fn(model(x), y), params)):
                p.grad = g
            optimizer.step()


@right
def with_a_closure(model, new_head, make_optimizer, loss_fn, batches, epochs):
    model.head = new_head
    optimizer = make_optimizer(model.parameters())
    for _ in range(epochs):
        for x, y in batches:

            def closure():
                optimizer.zero_grad()
                loss = loss_fn(model(x), y)
                loss.backward()
                return loss

            optimizer.step(closure)


@right
def row_by_row(model, new_head, make_optimizer, loss_fn, batches, epochs):
    model.head = new_head
    optimizer = make_optimizer(model.parameters())
    for _ in range(epochs):
        for x, y in batches:
            optimizer.zero_grad()
            for row, wanted in zip(x.split(1), y.split(1)):
                (loss_fn(model(row), wanted) / len(x)).backward()
            optimizer.step()


@right
def old_head_deleted(model, new_head, make_optimizer, loss_fn, batches, epochs):
    del model.head
    model.head = new_head
    optimizer = make_optimizer(model.parameters())
    for _ in range(epochs):
        for x, y in batches:
            optimizer.zero_grad()
            loss_fn(model(x), y).backward()
            optimizer.step()


@right
def dict_of_parameters(model, new_head, make_optimizer, loss_fn, batches, epochs):
    model.head = new_head
    optimizer = make_optimizer(list(dict(model.named_parameters()).values()))
    for _ in range(epochs):
        for x, y in batches:
            optimizer.zero_grad()
            loss_fn(model(x), y).backward()
            optimizer.step()


@wrong(mistakes.the_new_head_did_not_move)
def as_it_was(model, new_head, make_optimizer, loss_fn, batches, epochs):
    optimizer = make_optimizer(model.parameters())
    model.head = new_head
    for _ in range(epochs):
        for x, y in batches:
            optimizer.zero_grad()
            loss_fn(model(x), y).backward()
            optimizer.step()


@wrong(mistakes.the_new_head_did_not_move)
def list_made_early(model, new_head, make_optimizer, loss_fn, batches, epochs):
    params = list(model.parameters())
    model.head = new_head
    optimizer = make_optimizer(params)
    for _ in range(epochs):
        for x, y in batches:
            optimizer.zero_grad()
            loss_fn(model(x), y).backward()
            optimizer.step()


@wrong(mistakes.the_new_head_did_not_move)
def trunk_alone(model, new_head, make_optimizer, loss_fn, batches, epochs):
    model.head = new_head
    optimizer = make_optimizer([p for n, p in model.named_parameters() if not n.startswith("head.")])
    for _ in range(epochs):
        for x, y in batches:
            optimizer.zero_grad()
            loss_fn(model(x), y).backward()
            optimizer.step()


@wrong(mistakes.the_head_alone_was_trained)
def new_head_alone(model, new_head, make_optimizer, loss_fn, batches, epochs):
    model.head = new_head
    optimizer = make_optimizer(new_head.parameters())
    for _ in range(epochs):
        for x, y in batches:
            optimizer.zero_grad()
            loss_fn(model(x), y).backward()
            optimizer.step()


@wrong(mistakes.the_head_alone_was_trained)
def optimizer_overwritten(model, new_head, make_optimizer, loss_fn, batches, epochs):
    optimizer = make_optimizer(model.parameters())
    model.head = new_head
    optimizer = make_optimizer(model.head.parameters())
    for _ in range(epochs):
        for x, y in batches:
            model.zero_grad()
            loss_fn(model(x), y).backward()
            optimizer.step()


@wrong(mistakes.the_trunk_was_frozen)
def trunk_frozen(model, new_head, make_optimizer, loss_fn, batches, epochs):
    model.requires_grad_(False)
    model.head = new_head
    optimizer = make_optimizer(model.parameters())
    for _ in range(epochs):
        for x, y in batches:
            optimizer.zero_grad()
            loss_fn(model(x), y).backward()
            optimizer.step()


@wrong(mistakes.the_heads_gradients_were_not_cleared)
def second_optimizer_never_clears(model, new_head, make_optimizer, loss_fn, batches, epochs):
    optimizer = make_optimizer(model.parameters())
    model.head = new_head
    of_head = make_optimizer(new_head.parameters())
    for _ in range(epochs):
        for x, y in batches:
            optimizer.zero_grad()
            loss_fn(model(x), y).backward()
            optimizer.step()
            of_head.step()


@wrong(mistakes.the_trunks_gradients_were_not_cleared)
def first_optimizer_never_clears(model, new_head, make_optimizer, loss_fn, batches, epochs):
    optimizer = make_optimizer(model.parameters())
    model.head = new_head
    of_head = make_optimizer(new_head.parameters())
    for _ in range(epochs):
        for x, y in batches:
            of_head.zero_grad()
            loss_fn(model(x), y).backward()
            optimizer.step()
            of_head.step()


@wrong(mistakes.the_trunk_was_stepped_twice)
def both_optimizers_step(model, new_head, make_optimizer, loss_fn, batches, epochs):
    optimizer = make_optimizer(model.parameters())
    model.head = new_head
    second = make_optimizer(model.parameters())
    for _ in range(epochs):
        for x, y in batches:
            optimizer.zero_grad()
            second.zero_grad()
            loss_fn(model(x), y).backward()
            optimizer.step()
            second.step()


@wrong(mistakes.a_parameter_of_the_models_own_was_left_out)
def layer_by_layer(model, new_head, make_optimizer, loss_fn, batches, epochs):
    model.head = new_head
    params = [p for layer in model.children() for p in layer.parameters()]
    optimizer = make_optimizer(params)
    for _ in range(epochs):
        for x, y in batches:
            optimizer.zero_grad()
            loss_fn(model(x), y).backward()
            optimizer.step()


@wrong(mistakes.a_copy_was_trained)
def deep_copy(model, new_head, make_optimizer, loss_fn, batches, epochs):
    model.head = copy.deepcopy(new_head)
    optimizer = make_optimizer(model.parameters())
    for _ in range(epochs):
        for x, y in batches:
            optimizer.zero_grad()
            loss_fn(model(x), y).backward()
            optimizer.step()


@wrong(mistakes.a_copy_was_trained)
def state_loaded_into_the_old_head(model, new_head, make_optimizer, loss_fn, batches, epochs):
    model.head.load_state_dict(new_head.state_dict())
    optimizer = make_optimizer(model.parameters())
    for _ in range(epochs):
        for x, y in batches:
            optimizer.zero_grad()
            loss_fn(model(x), y).backward()
            optimizer.step()


@wrong(mistakes.replaced_after_the_training)
def swapped_at_the_end(model, new_head, make_optimizer, loss_fn, batches, epochs):
    optimizer = make_optimizer(model.parameters())
    for _ in range(epochs):
        for x, y in batches:
            optimizer.zero_grad()
            loss_fn(model(x), y).backward()
            optimizer.step()
    model.head = new_head


@wrong(mistakes.the_old_head_was_trained)
def swap_forgotten(model, new_head, make_optimizer, loss_fn, batches, epochs):
    optimizer = make_optimizer(model.parameters())
    for _ in range(epochs):
        for x, y in batches:
            optimizer.zero_grad()
            loss_fn(model(x), y).backward()
            optimizer.step()


@wrong(mistakes.the_old_head_was_trained)
def assigned_the_other_way(model, new_head, make_optimizer, loss_fn, batches, epochs):
    new_head = model.head
    optimizer = make_optimizer(model.parameters())
    for _ in range(epochs):
        for x, y in batches:
            optimizer.zero_grad()
            loss_fn(model(x), y).backward()
            optimizer.step()


@wrong(mistakes.the_old_head_was_trained)
def another_name(model, new_head, make_optimizer, loss_fn, batches, epochs):
    model.last = new_head
    optimizer = make_optimizer(model.parameters())
    for _ in range(epochs):
        for x, y in batches:
            optimizer.zero_grad()
            loss_fn(model(x), y).backward()
            optimizer.step()


@wrong(mistakes.never_cleared)
def nothing_cleared(model, new_head, make_optimizer, loss_fn, batches, epochs):
    model.head = new_head
    optimizer = make_optimizer(model.parameters())
    for _ in range(epochs):
        for x, y in batches:
            loss_fn(model(x), y).backward()
            optimizer.step()


@wrong(mistakes.never_cleared)
def the_old_optimizer_clears(model, new_head, make_optimizer, loss_fn, batches, epochs):
    model.head = new_head
    optimizer = make_optimizer(model.parameters())
    optimizer, old = make_optimizer(model.parameters()), make_optimizer([torch.zeros(1)])
    for _ in range(epochs):
        for x, y in batches:
            old.zero_grad()
            loss_fn(model(x), y).backward()
            optimizer.step()


@wrong(mistakes.cleared_before_the_step)
def cleared_too_late(model, new_head, make_optimizer, loss_fn, batches, epochs):
    model.head = new_head
    optimizer = make_optimizer(model.parameters())
    for _ in range(epochs):
        for x, y in batches:
            loss_fn(model(x), y).backward()
            optimizer.zero_grad()
            optimizer.step()


@wrong(mistakes.cleared_once_an_epoch)
def cleared_in_the_outer_loop(model, new_head, make_optimizer, loss_fn, batches, epochs):
    model.head = new_head
    optimizer = make_optimizer(model.parameters())
    for _ in range(epochs):
        optimizer.zero_grad()
        for x, y in batches:
            loss_fn(model(x), y).backward()
            optimizer.step()


@wrong(mistakes.memory_lost)
def a_new_optimizer_each_epoch(model, new_head, make_optimizer, loss_fn, batches, epochs):
    model.head = new_head
    for _ in range(epochs):
        optimizer = make_optimizer(model.parameters())
        for x, y in batches:
            optimizer.zero_grad()
            loss_fn(model(x), y).backward()
            optimizer.step()


@wrong(mistakes.memory_lost)
def a_new_optimizer_each_batch(model, new_head, make_optimizer, loss_fn, batches, epochs):
    model.head = new_head
    for _ in range(epochs):
        for x, y in batches:
            optimizer = make_optimizer(model.parameters())
            optimizer.zero_grad()
            loss_fn(model(x), y).backward()
            optimizer.step()


@wrong(mistakes.never_stepped)
def step_forgotten(model, new_head, make_optimizer, loss_fn, batches, epochs):
    model.head = new_head
    optimizer = make_optimizer(model.parameters())
    for _ in range(epochs):
        for x, y in batches:
            optimizer.zero_grad()
            loss_fn(model(x), y).backward()


@wrong(mistakes.stopped_after_the_first_epoch)
def return_in_the_epoch(model, new_head, make_optimizer, loss_fn, batches, epochs):
    model.head = new_head
    optimizer = make_optimizer(model.parameters())
    for _ in range(epochs):
        for x, y in batches:
            optimizer.zero_grad()
            loss_fn(model(x), y).backward()
            optimizer.step()
        return model


@wrong(mistakes.hooks_left_behind)
def hook_stays(model, new_head, make_optimizer, loss_fn, batches, epochs):
    model.head = new_head
    optimizer = make_optimizer(model.parameters())
    new_head.register_forward_hook(lambda module, args, out: None)
    for _ in range(epochs):
        for x, y in batches:
            optimizer.zero_grad()
            loss_fn(model(x), y).backward()
            optimizer.step()


@wrong(mistakes.the_new_head_did_not_move)
def head_cleared_before_the_step(model, new_head, make_optimizer, loss_fn, batches, epochs):
    model.head = new_head
    optimizer = make_optimizer(model.parameters())
    for _ in range(epochs):
        for x, y in batches:
            loss_fn(model(x), y).backward()
            new_head.zero_grad()
            optimizer.step()
            optimizer.zero_grad()


@wrong(mistakes.stepped_once_an_epoch)
def step_once_an_epoch(model, new_head, make_optimizer, loss_fn, batches, epochs):
    model.head = new_head
    optimizer = make_optimizer(model.parameters())
    for _ in range(epochs):
        optimizer.zero_grad()
        for x, y in batches:
            loss_fn(model(x), y).backward()
        optimizer.step()


@wrong(mistakes.stepped_twice_a_batch)
def steps_twice(model, new_head, make_optimizer, loss_fn, batches, epochs):
    model.head = new_head
    optimizer = make_optimizer(model.parameters())
    for _ in range(epochs):
        for x, y in batches:
            optimizer.zero_grad()
            loss_fn(model(x), y).backward()
            optimizer.step()
            optimizer.step()


@wrong(says="On case 1")
def own_optimizer(model, new_head, make_optimizer, loss_fn, batches, epochs):
    model.head = new_head
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for _ in range(epochs):
        for x, y in batches:
            optimizer.zero_grad()
            loss_fn(model(x), y).backward()
            optimizer.step()


@wrong(says="another one; it should be: new_head")
def wrapped(model, new_head, make_optimizer, loss_fn, batches, epochs):
    model.head = nn.Sequential(new_head)
    optimizer = make_optimizer(model.parameters())
    for _ in range(epochs):
        for x, y in batches:
            optimizer.zero_grad()
            loss_fn(model(x), y).backward()
            optimizer.step()


@wrong(says="the old head; it should be: new_head")
def forward_borrowed(model, new_head, make_optimizer, loss_fn, batches, epochs):
    optimizer = make_optimizer(model.parameters())
    model.head.forward = new_head.forward
    optimizer.add_param_group({"params": new_head.parameters()})
    for _ in range(epochs):
        for x, y in batches:
            optimizer.zero_grad()
            loss_fn(model(x), y).backward()
            optimizer.step()


@wrong(mistakes.a_frozen_parameter_moved)
def everything_thawed(model, new_head, make_optimizer, loss_fn, batches, epochs):
    model.head = new_head
    model.requires_grad_(True)
    optimizer = make_optimizer(model.parameters())
    for _ in range(epochs):
        for x, y in batches:
            optimizer.zero_grad()
            loss_fn(model(x), y).backward()
            optimizer.step()


@wrong(mistakes.a_frozen_parameter_moved)
def zeros_for_all(model, new_head, make_optimizer, loss_fn, batches, epochs):
    model.head = new_head
    optimizer = make_optimizer(model.parameters())
    for _ in range(epochs):
        for x, y in batches:
            for p in model.parameters():
                p.grad = torch.zeros_like(p)
            loss_fn(model(x), y).backward()
            optimizer.step()


@wrong(effects.changed_mode)
def eval_while_training(model, new_head, make_optimizer, loss_fn, batches, epochs):
    model.head = new_head
    optimizer = make_optimizer(model.parameters())
    model.eval()
    for _ in range(epochs):
        for x, y in batches:
            optimizer.zero_grad()
            loss_fn(model(x), y).backward()
            optimizer.step()


@raised(effects.no_such_attribute)
def misspelled(model, new_head, make_optimizer, loss_fn, batches, epochs):
    model.head = new_head
    optimizer = make_optimizer(model.parameter())
    for _ in range(epochs):
        for x, y in batches:
            optimizer.zero_grad()
            loss_fn(model(x), y).backward()
            optimizer.step()


@raised(effects.another_signature)
def arguments_of_an_optimizer(model, new_head, make_optimizer, loss_fn, batches, epochs):
    model.head = new_head
    optimizer = make_optimizer(model.parameters(), lr=0.1)
    for _ in range(epochs):
        for x, y in batches:
            optimizer.zero_grad()
            loss_fn(model(x), y).backward()
            optimizer.step()


@wrong(mistakes.names_like_the_heads_left_out)
def trunk_is_what_has_no_head_in_its_name(model, new_head, make_optimizer, loss_fn, batches, epochs):
    model.head = new_head
    trunk = [p for name, p in model.named_parameters() if "head" not in name]
    optimizer = make_optimizer([{"params": trunk}, {"params": list(new_head.parameters())}])
    for _ in range(epochs):
        for x, y in batches:
            optimizer.zero_grad()
            loss_fn(model(x), y).backward()
            optimizer.step()


@wrong(mistakes.names_like_the_heads_left_out)
def trunk_is_what_does_not_begin_with_head(model, new_head, make_optimizer, loss_fn, batches, epochs):
    model.head = new_head
    optimizers = [
        make_optimizer([p for name, p in model.named_parameters() if name[:4] != "head"]),
        make_optimizer(model.head.parameters()),
    ]
    for _ in range(epochs):
        for x, y in batches:
            model.zero_grad()
            loss_fn(model(x), y).backward()
            for optimizer in optimizers:
                optimizer.step()


@right
def head_told_by_its_name_and_the_dot(model, new_head, make_optimizer, loss_fn, batches, epochs):
    model.head = new_head
    trunk = [p for name, p in model.named_parameters() if not name.startswith("head.")]
    optimizer = make_optimizer([{"params": trunk}, {"params": list(new_head.parameters())}])
    for _ in range(epochs):
        for x, y in batches:
            optimizer.zero_grad()
            loss_fn(model(x), y).backward()
            optimizer.step()


@wrong(mistakes.the_trunk_missed_the_first_epoch)
def head_first(model, new_head, make_optimizer, loss_fn, batches, epochs):
    model.head = new_head
    own = {id(p) for p in new_head.parameters()}
    trunk = [p for p in model.parameters() if id(p) not in own and p.requires_grad]
    optimizer = make_optimizer(model.parameters())
    for p in trunk:
        p.requires_grad = False
    for epoch in range(epochs):
        for x, y in batches:
            optimizer.zero_grad()
            loss_fn(model(x), y).backward()
            optimizer.step()
        if epoch == 0:
            for p in trunk:
                p.requires_grad = True


@wrong(mistakes.the_trunk_missed_the_first_epoch)
def trunk_added_after_an_epoch(model, new_head, make_optimizer, loss_fn, batches, epochs):
    model.head = new_head
    optimizer = make_optimizer(new_head.parameters())
    for epoch in range(epochs):
        if epoch == 1:
            optimizer.add_param_group({"params": [p for n, p in model.named_parameters() if n.split(".")[0] != "head"]})
        for x, y in batches:
            model.zero_grad()
            loss_fn(model(x), y).backward()
            optimizer.step()


@wrong(mistakes.what_the_old_head_shares_was_left_out)
def all_but_the_old_heads(model, new_head, make_optimizer, loss_fn, batches, epochs):
    old = set(model.head.parameters())
    trunk = [p for p in model.parameters() if p not in old]
    model.head = new_head
    optimizer = make_optimizer(trunk + list(new_head.parameters()))
    for _ in range(epochs):
        for x, y in batches:
            model.zero_grad()
            loss_fn(model(x), y).backward()
            optimizer.step()


@right
def all_but_the_new_heads(model, new_head, make_optimizer, loss_fn, batches, epochs):
    model.head = new_head
    new = set(new_head.parameters())
    trunk = [p for p in model.parameters() if p not in new]
    optimizer = make_optimizer(trunk + list(new))
    for _ in range(epochs):
        for x, y in batches:
            model.zero_grad()
            loss_fn(model(x), y).backward()
            optimizer.step()


@raised(mistakes.names_like_the_heads_left_out)
def an_optimizer_of_what_has_no_head_in_its_name(model, new_head, make_optimizer, loss_fn, batches, epochs):
    model.head = new_head
    trunk = [p for n, p in model.named_parameters() if "head" not in n]
    both = make_optimizer(trunk), make_optimizer(new_head.parameters())
    for _ in range(epochs):
        for x, y in batches:
            model.zero_grad()
            loss_fn(model(x), y).backward()
            for optimizer in both:
                optimizer.step()


@wrong(mistakes.the_head_was_stepped_twice)
def one_for_all_and_one_for_the_head(model, new_head, make_optimizer, loss_fn, batches, epochs):
    model.head = new_head
    for_all, for_the_head = make_optimizer(model.parameters()), make_optimizer(model.head.parameters())
    for _ in range(epochs):
        for x, y in batches:
            for_all.zero_grad()
            loss_fn(model(x), y).backward()
            for_all.step()
            for_the_head.step()
