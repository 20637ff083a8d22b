"""Attempts at exercise 2.7, train_in_pieces: what learners write, and what the check must say of it."""

import torch
from torch import nn

from course_utils.authoring.attempts import raised, right, wrong
from course_utils.checks import effects
from course_utils.lessons.lesson2.train_in_pieces import mistakes


@right
def cleared_before_the_pieces(model, optimizer, loss_fn, batches, pieces):
    losses = []
    for x, y in batches:
        optimizer.zero_grad()
        total = 0.0
        for rows, wanted in zip(x.chunk(pieces), y.chunk(pieces)):
            loss = loss_fn(model(rows), wanted)
            loss.backward()
            total += loss.item()
        optimizer.step()
        losses.append(total)
    return losses


@right
def cleared_after_the_step_and_once_before(model, optimizer, loss_fn, batches, pieces):
    losses = []
    optimizer.zero_grad()
    for x, y in batches:
        total = 0.0
        for rows, wanted in zip(x.chunk(pieces), y.chunk(pieces)):
            loss = loss_fn(model(rows), wanted)
            loss.backward()
            total += loss.item()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(total)
    return losses


@right
def the_whole_batch(model, optimizer, loss_fn, batches, pieces):
    losses = []
    for x, y in batches:
        model.zero_grad()
        loss = loss_fn(model(x), y)
        loss.backward()
        optimizer.step()
        losses.append(float(loss))
    return losses


@right
def summed_losses_and_one_backward(model, optimizer, loss_fn, batches, pieces):
    losses = []
    for x, y in batches:
        total = sum(loss_fn(model(a), b) for a, b in zip(x.chunk(pieces), y.chunk(pieces)))
        optimizer.zero_grad()
        total.backward()
        optimizer.step()
        losses.append(total.item())
    return losses


@right
def cleared_at_the_first_piece(model, optimizer, loss_fn, batches, pieces):
    losses = []
    for x, y in batches:
        total = 0.0
        for number, (rows, wanted) in enumerate(zip(x.chunk(pieces), y.chunk(pieces))):
            if number == 0:
                optimizer.zero_grad()
            loss = loss_fn(model(rows), wanted)
            loss.backward()
            total += loss.item()
        optimizer.step()
        losses.append(total)
    return losses


@right
def sum_by_hand(model, optimizer, loss_fn, batches, pieces):
    losses = []
    params = [p for p in model.parameters() if p.requires_grad]
    for x, y in batches:
        total, sums = 0.0, None
        for rows, wanted in zip(x.chunk(pieces), y.chunk(pieces)):
            loss = loss_fn(model(rows), wanted)
            new = torch.autograd.grad(loss, params, allow_unused=True)
            sums = new if sums is None else [a if b is None else a + b for a, b in zip(sums, new)]
            total += loss.item()
        for p, g in zip(params, sums):
            p.grad = g
        optimizer.step()
        losses.append(total)
    return losses


@right
def by_index(model, optimizer, loss_fn, batches, pieces):
    losses = []
    for x, y in batches:
        for p in model.parameters():
            p.grad = None
        size = -(-len(x) // pieces)
        values = []
        for start in range(0, len(x), size):
            loss = loss_fn(model(x[start : start + size]), y[start : start + size])
            loss.backward()
            values.append(loss.detach())
        optimizer.step()
        losses.append(torch.stack(values).sum().item())
    return losses


# ------------------------------------------------------------------ wrong


@wrong(mistakes.cleared_for_each_piece)
def as_it_was(model, optimizer, loss_fn, batches, pieces):
    losses = []
    for x, y in batches:
        total = 0.0
        for rows, wanted in zip(x.chunk(pieces), y.chunk(pieces)):
            optimizer.zero_grad()
            loss = loss_fn(model(rows), wanted)
            loss.backward()
            total += loss.item()
        optimizer.step()
        losses.append(total)
    return losses


@wrong(mistakes.cleared_for_each_piece)
def moved_before_the_backward(model, optimizer, loss_fn, batches, pieces):
    losses = []
    for x, y in batches:
        total = 0.0
        for rows, wanted in zip(x.chunk(pieces), y.chunk(pieces)):
            loss = loss_fn(model(rows), wanted)
            model.zero_grad()
            loss.backward()
            total += loss.item()
        optimizer.step()
        losses.append(total)
    return losses


@wrong(mistakes.never_cleared)
def taken_out(model, optimizer, loss_fn, batches, pieces):
    losses = []
    for x, y in batches:
        total = 0.0
        for rows, wanted in zip(x.chunk(pieces), y.chunk(pieces)):
            loss = loss_fn(model(rows), wanted)
            loss.backward()
            total += loss.item()
        optimizer.step()
        losses.append(total)
    return losses


@wrong(mistakes.cleared_once_for_all_batches)
def moved_out_too_far(model, optimizer, loss_fn, batches, pieces):
    losses = []
    optimizer.zero_grad()
    for x, y in batches:
        total = 0.0
        for rows, wanted in zip(x.chunk(pieces), y.chunk(pieces)):
            loss = loss_fn(model(rows), wanted)
            loss.backward()
            total += loss.item()
        optimizer.step()
        losses.append(total)
    return losses


@wrong(mistakes.first_batch_on_old_gradients)
def cleared_after_each_step(model, optimizer, loss_fn, batches, pieces):
    losses = []
    for x, y in batches:
        total = 0.0
        for rows, wanted in zip(x.chunk(pieces), y.chunk(pieces)):
            loss = loss_fn(model(rows), wanted)
            loss.backward()
            total += loss.item()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(total)
    return losses


@wrong(mistakes.cleared_before_the_step)
def one_line_too_late(model, optimizer, loss_fn, batches, pieces):
    losses = []
    for x, y in batches:
        total = 0.0
        for rows, wanted in zip(x.chunk(pieces), y.chunk(pieces)):
            loss = loss_fn(model(rows), wanted)
            loss.backward()
            total += loss.item()
        optimizer.zero_grad()
        optimizer.step()
        losses.append(total)
    return losses


@wrong(mistakes.stepped_for_each_piece)
def everything_inside(model, optimizer, loss_fn, batches, pieces):
    losses = []
    for x, y in batches:
        total = 0.0
        for rows, wanted in zip(x.chunk(pieces), y.chunk(pieces)):
            optimizer.zero_grad()
            loss = loss_fn(model(rows), wanted)
            loss.backward()
            optimizer.step()
            total += loss.item()
        losses.append(total)
    return losses


@wrong(mistakes.stepped_once_in_all)
def step_after_the_loops(model, optimizer, loss_fn, batches, pieces):
    losses = []
    optimizer.zero_grad()
    for x, y in batches:
        total = 0.0
        for rows, wanted in zip(x.chunk(pieces), y.chunk(pieces)):
            loss = loss_fn(model(rows), wanted)
            loss.backward()
            total += loss.item()
        losses.append(total)
    optimizer.step()
    return losses


@wrong(mistakes.divided_by_the_number_of_pieces)
def averaged(model, optimizer, loss_fn, batches, pieces):
    losses = []
    for x, y in batches:
        optimizer.zero_grad()
        total = 0.0
        for rows, wanted in zip(x.chunk(pieces), y.chunk(pieces)):
            loss = loss_fn(model(rows), wanted)
            (loss / pieces).backward()
            total += loss.item()
        optimizer.step()
        losses.append(total)
    return losses


@wrong(mistakes.divided_by_the_number_of_pieces)
def averaged_loss_too(model, optimizer, loss_fn, batches, pieces):
    losses = []
    for x, y in batches:
        optimizer.zero_grad()
        total = 0.0
        for rows, wanted in zip(x.chunk(pieces), y.chunk(pieces)):
            loss = loss_fn(model(rows), wanted) / pieces
            loss.backward()
            total += loss.item()
        optimizer.step()
        losses.append(total)
    return losses


@wrong(mistakes.loss_of_the_last_piece)
def total_forgotten(model, optimizer, loss_fn, batches, pieces):
    losses = []
    for x, y in batches:
        optimizer.zero_grad()
        for rows, wanted in zip(x.chunk(pieces), y.chunk(pieces)):
            loss = loss_fn(model(rows), wanted)
            loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


@wrong(mistakes.losses_of_all_pieces)
def one_entry_a_piece(model, optimizer, loss_fn, batches, pieces):
    losses = []
    for x, y in batches:
        optimizer.zero_grad()
        for rows, wanted in zip(x.chunk(pieces), y.chunk(pieces)):
            loss = loss_fn(model(rows), wanted)
            loss.backward()
            losses.append(loss.item())
        optimizer.step()
    return losses


@wrong(mistakes.rows_left_over)
def whole_pieces_only(model, optimizer, loss_fn, batches, pieces):
    losses = []
    for x, y in batches:
        optimizer.zero_grad()
        total, size = 0.0, len(x) // pieces
        for k in range(pieces):
            rows, wanted = x[k * size : (k + 1) * size], y[k * size : (k + 1) * size]
            loss = loss_fn(model(rows), wanted)
            loss.backward()
            total += loss.item()
        optimizer.step()
        losses.append(total)
    return losses


@wrong(mistakes.nothing_trained)
def no_backward(model, optimizer, loss_fn, batches, pieces):
    losses = []
    for x, y in batches:
        optimizer.zero_grad()
        losses.append(loss_fn(model(x), y).item())
        optimizer.step()
    return losses


@wrong(effects.returned_nothing)
def return_forgotten(model, optimizer, loss_fn, batches, pieces):
    for x, y in batches:
        optimizer.zero_grad()
        loss_fn(model(x), y).backward()
        optimizer.step()


@wrong(effects.wrong_type)
def losses_as_tensors(model, optimizer, loss_fn, batches, pieces):
    losses = []
    for x, y in batches:
        optimizer.zero_grad()
        total = 0.0
        for rows, wanted in zip(x.chunk(pieces), y.chunk(pieces)):
            loss = loss_fn(model(rows), wanted)
            loss.backward()
            total += loss.detach()
        optimizer.step()
        losses.append(total)
    return losses


@raised(effects.graph_freed)
def growing_loss(model, optimizer, loss_fn, batches, pieces):
    losses = []
    for x, y in batches:
        optimizer.zero_grad()
        total = 0.0
        for rows, wanted in zip(x.chunk(pieces), y.chunk(pieces)):
            total = total + loss_fn(model(rows), wanted)
            total.backward()
        optimizer.step()
        losses.append(total.item())
    return losses


@wrong(mistakes.earlier_pieces_counted_again)
def growing_loss_retained(model, optimizer, loss_fn, batches, pieces):
    losses = []
    for x, y in batches:
        optimizer.zero_grad()
        total = 0.0
        for rows, wanted in zip(x.chunk(pieces), y.chunk(pieces)):
            total = total + loss_fn(model(rows), wanted)
            total.backward(retain_graph=True)
        optimizer.step()
        losses.append(total.item())
    return losses


@wrong(effects.changed_mode)
def eval_while_training(model, optimizer, loss_fn, batches, pieces):
    model.eval()
    losses = []
    for x, y in batches:
        optimizer.zero_grad()
        loss = loss_fn(model(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


@wrong(mistakes.mean_of_the_pieces_returned)
def mean_of_losses(model, optimizer, loss_fn, batches, pieces):
    losses = []
    for x, y in batches:
        optimizer.zero_grad()
        total = 0.0
        for rows, wanted in zip(x.chunk(pieces), y.chunk(pieces)):
            loss = loss_fn(model(rows), wanted)
            loss.backward()
            total += loss.item()
        optimizer.step()
        losses.append(total / pieces)
    return losses


@wrong(mistakes.total_never_reset)
def total_outside_the_loop(model, optimizer, loss_fn, batches, pieces):
    losses = []
    total = 0.0
    for x, y in batches:
        optimizer.zero_grad()
        for rows, wanted in zip(x.chunk(pieces), y.chunk(pieces)):
            loss = loss_fn(model(rows), wanted)
            loss.backward()
            total += loss.item()
        optimizer.step()
        losses.append(total)
    return losses


@wrong(mistakes.divided_by_the_number_of_rows)
def mean_over_rows(model, optimizer, loss_fn, batches, pieces):
    losses = []
    for x, y in batches:
        optimizer.zero_grad()
        total = 0.0
        for rows, wanted in zip(x.chunk(pieces), y.chunk(pieces)):
            loss = loss_fn(model(rows), wanted)
            (loss / len(x)).backward()
            total += loss.item()
        optimizer.step()
        losses.append(total)
    return losses


@wrong(mistakes.loss_after_the_step)
def evaluated_afterwards(model, optimizer, loss_fn, batches, pieces):
    losses = []
    for x, y in batches:
        optimizer.zero_grad()
        total = 0.0
        for rows, wanted in zip(x.chunk(pieces), y.chunk(pieces)):
            loss = loss_fn(model(rows), wanted)
            loss.backward()
            total += loss.item()
        optimizer.step()
        losses.append(loss_fn(model(x), y).item())
    return losses


# the recipe of a loss that is a mean, with the clearing after the step
@wrong(mistakes.divided_and_first_batch_on_old_gradients)
def the_usual_recipe(model, optimizer, loss_fn, batches, pieces):
    losses = []
    for x, y in batches:
        total = 0.0
        for rows, wanted in zip(x.chunk(pieces), y.chunk(pieces)):
            loss = loss_fn(model(rows), wanted) / pieces
            loss.backward()
            total += loss.item()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(total)
    return losses


@wrong(mistakes.divided_and_first_batch_on_old_gradients)
def the_usual_recipe_with_the_right_losses(model, optimizer, loss_fn, batches, pieces):
    losses = []
    for x, y in batches:
        total = 0.0
        for rows, wanted in zip(x.chunk(pieces), y.chunk(pieces)):
            loss = loss_fn(model(rows), wanted)
            total += loss.item()
            (loss / pieces).backward()
        optimizer.step()
        losses.append(total)
        optimizer.zero_grad()
    return losses


@wrong(mistakes.divided_by_the_number_of_rows)
def mean_of_the_rows_told(model, optimizer, loss_fn, batches, pieces):
    losses = []
    for x, y in batches:
        optimizer.zero_grad()
        total = 0.0
        for rows, wanted in zip(x.chunk(pieces), y.chunk(pieces)):
            loss = loss_fn(model(rows), wanted) / len(x)
            loss.backward()
            total += loss.item()
        optimizer.step()
        losses.append(total)
    return losses


# the clearing stands right, the step one level too deep
@wrong(mistakes.stepped_for_each_piece)
def step_in_the_inner_loop(model, optimizer, loss_fn, batches, pieces):
    losses = []
    for x, y in batches:
        optimizer.zero_grad()
        total = 0.0
        for rows, wanted in zip(x.chunk(pieces), y.chunk(pieces)):
            loss = loss_fn(model(rows), wanted)
            loss.backward()
            optimizer.step()
            total += loss.item()
        losses.append(total)
    return losses


@wrong(mistakes.stepped_for_each_piece)
def step_in_the_inner_loop_and_divided(model, optimizer, loss_fn, batches, pieces):
    losses = []
    for x, y in batches:
        optimizer.zero_grad()
        total = 0.0
        for rows, wanted in zip(x.chunk(pieces), y.chunk(pieces)):
            loss = loss_fn(model(rows), wanted) / pieces
            loss.backward()
            optimizer.step()
            total += loss.item()
        losses.append(total)
    return losses


@wrong(mistakes.stepped_for_each_piece)
def step_in_the_inner_loop_cleared_after_it(model, optimizer, loss_fn, batches, pieces):
    losses = []
    for x, y in batches:
        total = 0.0
        for rows, wanted in zip(x.chunk(pieces), y.chunk(pieces)):
            loss = loss_fn(model(rows), wanted)
            loss.backward()
            optimizer.step()
            total += loss.item()
        losses.append(total)
        optimizer.zero_grad()
    return losses
