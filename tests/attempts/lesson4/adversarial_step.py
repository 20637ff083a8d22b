"""Attempts at exercise 4.5, adversarial_step: what learners write, and what the check must say of it."""

import torch
from torch import nn

from course_utils.authoring.attempts import raised, right, wrong
from course_utils.checks import effects
from course_utils.lessons.lesson4.adversarial_step import mistakes


@right
def detached(generator, discriminator, g_optimizer, d_optimizer, loss_fn, real, noise):
    d_optimizer.zero_grad()
    fake = generator(noise)
    d_real = discriminator(real)
    d_fake = discriminator(fake.detach())
    d_loss = loss_fn(d_real, torch.ones_like(d_real)) + loss_fn(d_fake, torch.zeros_like(d_fake))
    d_loss.backward()
    d_optimizer.step()
    g_optimizer.zero_grad()
    out = discriminator(fake)
    g_loss = loss_fn(out, torch.ones_like(out))
    g_loss.backward()
    g_optimizer.step()
    return d_loss.item(), g_loss.item()


@right
def without_recording(generator, discriminator, g_optimizer, d_optimizer, loss_fn, real, noise):
    with torch.no_grad():
        fake = generator(noise)
    a, b = discriminator(real), discriminator(fake)
    d_loss = loss_fn(a, torch.ones_like(a)) + loss_fn(b, torch.zeros_like(b))
    d_optimizer.zero_grad()
    d_loss.backward()
    d_optimizer.step()
    c = discriminator(generator(noise))
    g_loss = loss_fn(c, torch.ones_like(c))
    g_optimizer.zero_grad()
    g_loss.backward()
    g_optimizer.step()
    return float(d_loss), float(g_loss)


@right
def leaked_and_cleared(generator, discriminator, g_optimizer, d_optimizer, loss_fn, real, noise):
    # No detach: the generator's .grad is filled by the first backward and cleared before the second.
    d_optimizer.zero_grad()
    a, b = discriminator(real), discriminator(generator(noise))
    d_loss = loss_fn(a, torch.ones_like(a)) + loss_fn(b, torch.zeros_like(b))
    d_loss.backward()
    d_optimizer.step()
    g_optimizer.zero_grad()
    c = discriminator(generator(noise))
    g_loss = loss_fn(c, torch.ones_like(c))
    g_loss.backward()
    g_optimizer.step()
    return d_loss.item(), g_loss.item()


@right
def two_backwards_for_the_halves(generator, discriminator, g_optimizer, d_optimizer, loss_fn, real, noise):
    discriminator.zero_grad()
    a = discriminator(real)
    first = loss_fn(a, torch.ones(a.shape, dtype=a.dtype))
    first.backward()
    fake = generator(noise)
    b = discriminator(fake.detach())
    second = loss_fn(b, torch.zeros(b.shape, dtype=b.dtype))
    second.backward()
    d_optimizer.step()
    generator.zero_grad()
    c = discriminator(fake)
    g_loss = loss_fn(c, torch.ones(c.shape, dtype=c.dtype))
    g_loss.backward()
    g_optimizer.step()
    return first.item() + second.item(), g_loss.item()


@right
def one_pass_for_both_halves(generator, discriminator, g_optimizer, d_optimizer, loss_fn, real, noise):
    n = len(real)
    fake = generator(noise)
    logits = discriminator(torch.cat([real, fake.detach()]))
    d_loss = loss_fn(logits[:n], torch.ones_like(logits[:n])) + loss_fn(logits[n:], torch.zeros_like(logits[n:]))
    d_optimizer.zero_grad(set_to_none=False)
    d_loss.backward()
    d_optimizer.step()
    logits = discriminator(fake)
    g_loss = loss_fn(logits, torch.ones_like(logits))
    g_optimizer.zero_grad(set_to_none=False)
    g_loss.backward()
    g_optimizer.step()
    return d_loss.item(), g_loss.item()


@right
def handed_back(generator, discriminator, g_optimizer, d_optimizer, loss_fn, real, noise):
    def step(network, optimizer, loss):
        optimizer.zero_grad()
        params = [p for p in network.parameters() if p.requires_grad]
        for p, g in zip(params, torch.autograd.grad(loss, params)):
            p.grad = g
        optimizer.step()
        return loss.item()

    fake = generator(noise)
    a, b = discriminator(real), discriminator(fake.detach())
    first = step(discriminator, d_optimizer, loss_fn(a, torch.ones_like(a)) + loss_fn(b, torch.zeros_like(b)))
    c = discriminator(fake)
    return first, step(generator, g_optimizer, loss_fn(c, torch.ones_like(c)))


@right
def discriminator_frozen_for_a_while(generator, discriminator, g_optimizer, d_optimizer, loss_fn, real, noise):
    fake = generator(noise)
    d_optimizer.zero_grad()
    a, b = discriminator(real), discriminator(fake.detach())
    d_loss = loss_fn(a, torch.ones_like(a)) + loss_fn(b, torch.zeros_like(b))
    d_loss.backward()
    d_optimizer.step()
    was = [p.requires_grad for p in discriminator.parameters()]
    discriminator.requires_grad_(False)
    g_optimizer.zero_grad()
    c = discriminator(fake)
    g_loss = loss_fn(c, torch.ones_like(c))
    g_loss.backward()
    g_optimizer.step()
    for p, flag in zip(discriminator.parameters(), was):
        p.requires_grad_(flag)
    return d_loss.item(), g_loss.item()


@right
def named_inputs(generator, discriminator, g_optimizer, d_optimizer, loss_fn, real, noise):
    d_params = [p for p in discriminator.parameters() if p.requires_grad]
    g_params = [p for p in generator.parameters() if p.requires_grad]
    d_optimizer.zero_grad()
    g_optimizer.zero_grad()
    a, b = discriminator(real), discriminator(generator(noise))
    d_loss = loss_fn(a, torch.ones_like(a)) + loss_fn(b, torch.zeros_like(b))
    d_loss.backward(inputs=d_params)
    d_optimizer.step()
    c = discriminator(generator(noise))
    g_loss = loss_fn(c, torch.ones_like(c))
    g_loss.backward(inputs=g_params)
    g_optimizer.step()
    return d_loss.item(), g_loss.item()


@right
def both_cleared_at_both_places(generator, discriminator, g_optimizer, d_optimizer, loss_fn, real, noise):
    def clear():
        for network in (generator, discriminator):
            for p in network.parameters():
                p.grad = None

    clear()
    a, b = discriminator(real), discriminator(generator(noise).detach())
    d_loss = loss_fn(a, torch.ones_like(a)) + loss_fn(b, torch.zeros_like(b))
    d_loss.backward()
    d_optimizer.step()
    clear()
    c = discriminator(generator(noise))
    g_loss = loss_fn(c, torch.ones_like(c))
    g_loss.backward()
    g_optimizer.step()
    clear()
    return d_loss.item(), g_loss.item()


# ------------------------------------------------------------------ wrong: what leaks


@wrong(mistakes.old_gradients_counted)
def zero_grad_forgotten(generator, discriminator, g_optimizer, d_optimizer, loss_fn, real, noise):
    fake = generator(noise)
    a, b = discriminator(real), discriminator(fake.detach())
    d_loss = loss_fn(a, torch.ones_like(a)) + loss_fn(b, torch.zeros_like(b))
    d_loss.backward()
    d_optimizer.step()
    c = discriminator(fake)
    g_loss = loss_fn(c, torch.ones_like(c))
    g_loss.backward()
    g_optimizer.step()
    return d_loss.item(), g_loss.item()


@wrong(mistakes.cleared_after_the_step)
def each_cleared_right_after_its_own_step(generator, discriminator, g_optimizer, d_optimizer, loss_fn, real, noise):
    fake = generator(noise)
    a, b = discriminator(real), discriminator(fake.detach())
    d_loss = loss_fn(a, torch.ones_like(a)) + loss_fn(b, torch.zeros_like(b))
    d_loss.backward()
    d_optimizer.step()
    d_optimizer.zero_grad()
    c = discriminator(fake)
    g_loss = loss_fn(c, torch.ones_like(c))
    g_loss.backward()
    g_optimizer.step()
    g_optimizer.zero_grad()
    return d_loss.item(), g_loss.item()


@wrong(mistakes.old_gradients_counted)
def discriminator_alone_cleared_and_too_late(generator, discriminator, g_optimizer, d_optimizer, loss_fn, real, noise):
    fake = generator(noise)
    a, b = discriminator(real), discriminator(fake.detach())
    d_loss = loss_fn(a, torch.ones_like(a)) + loss_fn(b, torch.zeros_like(b))
    d_loss.backward()
    d_optimizer.step()
    c = discriminator(fake)
    g_loss = loss_fn(c, torch.ones_like(c))
    g_loss.backward()
    g_optimizer.step()
    d_optimizer.zero_grad()
    return d_loss.item(), g_loss.item()


@wrong(mistakes.cleared_after_the_step)
def cleared_at_the_end(generator, discriminator, g_optimizer, d_optimizer, loss_fn, real, noise):
    fake = generator(noise)
    a, b = discriminator(real), discriminator(fake.detach())
    d_loss = loss_fn(a, torch.ones_like(a)) + loss_fn(b, torch.zeros_like(b))
    d_loss.backward()
    d_optimizer.step()
    c = discriminator(fake)
    g_loss = loss_fn(c, torch.ones_like(c))
    g_loss.backward()
    g_optimizer.step()
    d_optimizer.zero_grad()
    g_optimizer.zero_grad()
    return d_loss.item(), g_loss.item()


@wrong(mistakes.discriminator_on_an_old_gradient)
def only_the_generator_cleared(generator, discriminator, g_optimizer, d_optimizer, loss_fn, real, noise):
    fake = generator(noise)
    a, b = discriminator(real), discriminator(fake.detach())
    d_loss = loss_fn(a, torch.ones_like(a)) + loss_fn(b, torch.zeros_like(b))
    d_loss.backward()
    d_optimizer.step()
    g_optimizer.zero_grad()
    c = discriminator(fake)
    g_loss = loss_fn(c, torch.ones_like(c))
    g_loss.backward()
    g_optimizer.step()
    return d_loss.item(), g_loss.item()


@wrong(mistakes.generator_on_an_old_gradient)
def only_the_discriminator_cleared(generator, discriminator, g_optimizer, d_optimizer, loss_fn, real, noise):
    fake = generator(noise)
    a, b = discriminator(real), discriminator(fake.detach())
    d_loss = loss_fn(a, torch.ones_like(a)) + loss_fn(b, torch.zeros_like(b))
    d_optimizer.zero_grad()
    d_loss.backward()
    d_optimizer.step()
    d_optimizer.zero_grad()
    c = discriminator(fake)
    g_loss = loss_fn(c, torch.ones_like(c))
    g_loss.backward()
    g_optimizer.step()
    return d_loss.item(), g_loss.item()


@wrong(mistakes.leaked_into_the_generator)
def everything_cleared_first_and_no_detach(generator, discriminator, g_optimizer, d_optimizer, loss_fn, real, noise):
    d_optimizer.zero_grad()
    g_optimizer.zero_grad()
    a, b = discriminator(real), discriminator(generator(noise))
    d_loss = loss_fn(a, torch.ones_like(a)) + loss_fn(b, torch.zeros_like(b))
    d_loss.backward()
    d_optimizer.step()
    c = discriminator(generator(noise))
    g_loss = loss_fn(c, torch.ones_like(c))
    g_loss.backward()
    g_optimizer.step()
    return d_loss.item(), g_loss.item()


@wrong(mistakes.leaked_into_the_generator)
def wrong_optimizer_cleared(generator, discriminator, g_optimizer, d_optimizer, loss_fn, real, noise):
    d_optimizer.zero_grad()
    a, b = discriminator(real), discriminator(generator(noise))
    d_loss = loss_fn(a, torch.ones_like(a)) + loss_fn(b, torch.zeros_like(b))
    d_loss.backward()
    d_optimizer.step()
    d_optimizer.zero_grad()
    c = discriminator(generator(noise))
    g_loss = loss_fn(c, torch.ones_like(c))
    g_loss.backward()
    g_optimizer.step()
    return d_loss.item(), g_loss.item()


@wrong(mistakes.judged_by_the_old_one)
def generator_before(generator, discriminator, g_optimizer, d_optimizer, loss_fn, real, noise):
    g_optimizer.zero_grad()
    fake = generator(noise)
    c = discriminator(fake)
    g_loss = loss_fn(c, torch.ones_like(c))
    g_loss.backward()
    g_optimizer.step()
    d_optimizer.zero_grad()
    a, b = discriminator(real), discriminator(fake.detach())
    d_loss = loss_fn(a, torch.ones_like(a)) + loss_fn(b, torch.zeros_like(b))
    d_loss.backward()
    d_optimizer.step()
    return d_loss.item(), g_loss.item()


@wrong(mistakes.frozen_moved)
def cleared_where_trainable(generator, discriminator, g_optimizer, d_optimizer, loss_fn, real, noise):
    def clear(network):
        for p in network.parameters():
            if p.requires_grad:
                p.grad = None

    fake = generator(noise)
    clear(discriminator)
    a, b = discriminator(real), discriminator(fake.detach())
    d_loss = loss_fn(a, torch.ones_like(a)) + loss_fn(b, torch.zeros_like(b))
    d_loss.backward()
    d_optimizer.step()
    clear(generator)
    c = discriminator(fake)
    g_loss = loss_fn(c, torch.ones_like(c))
    g_loss.backward()
    g_optimizer.step()
    return d_loss.item(), g_loss.item()


@wrong(mistakes.generator_first)
def generator_before_with_new_rows(generator, discriminator, g_optimizer, d_optimizer, loss_fn, real, noise):
    g_optimizer.zero_grad()
    c = discriminator(generator(noise))
    g_loss = loss_fn(c, torch.ones_like(c))
    g_loss.backward()
    g_optimizer.step()
    d_optimizer.zero_grad()
    a, b = discriminator(real), discriminator(generator(noise).detach())
    d_loss = loss_fn(a, torch.ones_like(a)) + loss_fn(b, torch.zeros_like(b))
    d_loss.backward()
    d_optimizer.step()
    return d_loss.item(), g_loss.item()


@wrong(mistakes.leaked_into_the_discriminator)
def both_steps_last(generator, discriminator, g_optimizer, d_optimizer, loss_fn, real, noise):
    d_optimizer.zero_grad()
    g_optimizer.zero_grad()
    fake = generator(noise)
    a, b = discriminator(real), discriminator(fake.detach())
    d_loss = loss_fn(a, torch.ones_like(a)) + loss_fn(b, torch.zeros_like(b))
    d_loss.backward()
    c = discriminator(fake)
    g_loss = loss_fn(c, torch.ones_like(c))
    g_loss.backward()
    d_optimizer.step()
    g_optimizer.step()
    return d_loss.item(), g_loss.item()


@wrong(mistakes.judged_by_the_old_one)
def gradients_first_steps_later(generator, discriminator, g_optimizer, d_optimizer, loss_fn, real, noise):
    g_optimizer.zero_grad()
    d_optimizer.zero_grad()
    d_params = [p for p in discriminator.parameters() if p.requires_grad]
    g_params = [p for p in generator.parameters() if p.requires_grad]
    fake = generator(noise)
    a, b, c = discriminator(real), discriminator(fake.detach()), discriminator(fake)
    d_loss = loss_fn(a, torch.ones_like(a)) + loss_fn(b, torch.zeros_like(b))
    g_loss = loss_fn(c, torch.ones_like(c))
    d_found = torch.autograd.grad(d_loss, d_params)
    g_found = torch.autograd.grad(g_loss, g_params)
    for p, g in zip(d_params + g_params, d_found + g_found):
        p.grad = g
    d_optimizer.step()
    g_optimizer.step()
    return d_loss.item(), g_loss.item()


@wrong(mistakes.discriminator_stepped_again)
def both_step_at_the_end(generator, discriminator, g_optimizer, d_optimizer, loss_fn, real, noise):
    fake = generator(noise)
    d_optimizer.zero_grad()
    a, b = discriminator(real), discriminator(fake.detach())
    d_loss = loss_fn(a, torch.ones_like(a)) + loss_fn(b, torch.zeros_like(b))
    d_loss.backward()
    d_optimizer.step()
    g_optimizer.zero_grad()
    c = discriminator(fake)
    g_loss = loss_fn(c, torch.ones_like(c))
    g_loss.backward()
    g_optimizer.step()
    d_optimizer.step()
    return d_loss.item(), g_loss.item()


@raised(mistakes.graph_shared)
def scores_for_both_losses(generator, discriminator, g_optimizer, d_optimizer, loss_fn, real, noise):
    fake = generator(noise)
    d_optimizer.zero_grad()
    a, b = discriminator(real), discriminator(fake.detach())
    d_loss = loss_fn(a, torch.ones_like(a)) + loss_fn(b, torch.zeros_like(b))
    d_loss.backward()
    d_optimizer.step()
    g_optimizer.zero_grad()
    g_loss = loss_fn(b, torch.ones_like(b))
    g_loss.backward()
    g_optimizer.step()
    return d_loss.item(), g_loss.item()


@raised(mistakes.graph_shared)
def one_forward_and_no_detach(generator, discriminator, g_optimizer, d_optimizer, loss_fn, real, noise):
    fake = generator(noise)
    d_optimizer.zero_grad()
    a, b = discriminator(real), discriminator(fake)
    d_loss = loss_fn(a, torch.ones_like(a)) + loss_fn(b, torch.zeros_like(b))
    d_loss.backward()
    d_optimizer.step()
    g_optimizer.zero_grad()
    c = discriminator(fake)
    g_loss = loss_fn(c, torch.ones_like(c))
    g_loss.backward()
    g_optimizer.step()
    return d_loss.item(), g_loss.item()


@raised(mistakes.scores_used_again)
def one_forward_and_a_graph_retained(generator, discriminator, g_optimizer, d_optimizer, loss_fn, real, noise):
    fake = generator(noise)
    d_optimizer.zero_grad()
    a, b = discriminator(real), discriminator(fake)
    d_loss = loss_fn(a, torch.ones_like(a)) + loss_fn(b, torch.zeros_like(b))
    d_loss.backward(retain_graph=True)
    d_optimizer.step()
    g_optimizer.zero_grad()
    g_loss = loss_fn(b, torch.ones_like(b))
    g_loss.backward()
    g_optimizer.step()
    return d_loss.item(), g_loss.item()


@raised(effects.overwrote_saved_value)
def scores_changed_in_place(generator, discriminator, g_optimizer, d_optimizer, loss_fn, real, noise):
    # No step comes between: the card must not speak of the discriminator's.
    fake = generator(noise)
    d_optimizer.zero_grad()
    a, b = discriminator(real).exp(), discriminator(fake.detach()).exp()
    a -= a.mean()
    d_loss = loss_fn(a.exp_(), torch.ones_like(a)) + loss_fn(b.mul_(2), torch.zeros_like(b))
    d_loss.backward()
    d_optimizer.step()
    return d_loss.item(), d_loss.item()


@raised(mistakes.scores_used_again)
def judged_before_the_step(generator, discriminator, g_optimizer, d_optimizer, loss_fn, real, noise):
    fake = generator(noise)
    d_optimizer.zero_grad()
    a, b, c = discriminator(real), discriminator(fake.detach()), discriminator(fake)
    d_loss = loss_fn(a, torch.ones_like(a)) + loss_fn(b, torch.zeros_like(b))
    d_loss.backward()
    d_optimizer.step()
    g_optimizer.zero_grad()
    g_loss = loss_fn(c, torch.ones_like(c))
    g_loss.backward()
    g_optimizer.step()
    return d_loss.item(), g_loss.item()


# ------------------------------------------------------------------ wrong: who moves


@wrong(mistakes.generator_cut_off)
def detached_in_both_halves(generator, discriminator, g_optimizer, d_optimizer, loss_fn, real, noise):
    fake = generator(noise).detach()
    d_optimizer.zero_grad()
    a, b = discriminator(real), discriminator(fake)
    d_loss = loss_fn(a, torch.ones_like(a)) + loss_fn(b, torch.zeros_like(b))
    d_loss.backward()
    d_optimizer.step()
    g_optimizer.zero_grad()
    c = discriminator(fake)
    g_loss = loss_fn(c, torch.ones_like(c))
    g_loss.backward()
    g_optimizer.step()
    return d_loss.item(), g_loss.item()


@wrong(mistakes.generator_cut_off)
def generator_cleared_before_its_step(generator, discriminator, g_optimizer, d_optimizer, loss_fn, real, noise):
    fake = generator(noise)
    d_optimizer.zero_grad()
    a, b = discriminator(real), discriminator(fake.detach())
    d_loss = loss_fn(a, torch.ones_like(a)) + loss_fn(b, torch.zeros_like(b))
    d_loss.backward()
    d_optimizer.step()
    c = discriminator(fake)
    g_loss = loss_fn(c, torch.ones_like(c))
    g_loss.backward()
    g_optimizer.zero_grad()
    g_optimizer.step()
    return d_loss.item(), g_loss.item()


@wrong(mistakes.no_generator_step)
def generator_never_stepped(generator, discriminator, g_optimizer, d_optimizer, loss_fn, real, noise):
    fake = generator(noise)
    d_optimizer.zero_grad()
    a, b = discriminator(real), discriminator(fake.detach())
    d_loss = loss_fn(a, torch.ones_like(a)) + loss_fn(b, torch.zeros_like(b))
    d_loss.backward()
    d_optimizer.step()
    g_optimizer.zero_grad()
    c = discriminator(fake)
    g_loss = loss_fn(c, torch.ones_like(c))
    g_loss.backward()
    return d_loss.item(), g_loss.item()


@wrong(mistakes.no_discriminator_step)
def discriminator_never_stepped(generator, discriminator, g_optimizer, d_optimizer, loss_fn, real, noise):
    fake = generator(noise)
    d_optimizer.zero_grad()
    a, b = discriminator(real), discriminator(fake.detach())
    d_loss = loss_fn(a, torch.ones_like(a)) + loss_fn(b, torch.zeros_like(b))
    d_loss.backward()
    g_optimizer.zero_grad()
    c = discriminator(fake)
    g_loss = loss_fn(c, torch.ones_like(c))
    g_loss.backward()
    g_optimizer.step()
    return d_loss.item(), g_loss.item()


@wrong(mistakes.stepped_after_each_half)
def a_step_for_each_half(generator, discriminator, g_optimizer, d_optimizer, loss_fn, real, noise):
    fake = generator(noise)
    total = 0.0
    for rows, label in ((real, 1.0), (fake.detach(), 0.0)):
        d_optimizer.zero_grad()
        out = discriminator(rows)
        loss = loss_fn(out, torch.full_like(out, label))
        loss.backward()
        d_optimizer.step()
        total += loss.item()
    g_optimizer.zero_grad()
    c = discriminator(fake)
    g_loss = loss_fn(c, torch.ones_like(c))
    g_loss.backward()
    g_optimizer.step()
    return total, g_loss.item()


# ------------------------------------------------------------------ wrong: labels and losses


@wrong(mistakes.fakes_called_real)
def ones_for_everything(generator, discriminator, g_optimizer, d_optimizer, loss_fn, real, noise):
    fake = generator(noise)
    d_optimizer.zero_grad()
    a, b = discriminator(real), discriminator(fake.detach())
    d_loss = loss_fn(a, torch.ones_like(a)) + loss_fn(b, torch.ones_like(b))
    d_loss.backward()
    d_optimizer.step()
    g_optimizer.zero_grad()
    c = discriminator(fake)
    g_loss = loss_fn(c, torch.ones_like(c))
    g_loss.backward()
    g_optimizer.step()
    return d_loss.item(), g_loss.item()


@wrong(mistakes.labels_swapped)
def zeros_for_real(generator, discriminator, g_optimizer, d_optimizer, loss_fn, real, noise):
    fake = generator(noise)
    d_optimizer.zero_grad()
    a, b = discriminator(real), discriminator(fake.detach())
    d_loss = loss_fn(a, torch.zeros_like(a)) + loss_fn(b, torch.ones_like(b))
    d_loss.backward()
    d_optimizer.step()
    g_optimizer.zero_grad()
    c = discriminator(fake)
    g_loss = loss_fn(c, torch.ones_like(c))
    g_loss.backward()
    g_optimizer.step()
    return d_loss.item(), g_loss.item()


@wrong(mistakes.generator_wants_zero)
def zeros_for_the_generator(generator, discriminator, g_optimizer, d_optimizer, loss_fn, real, noise):
    fake = generator(noise)
    d_optimizer.zero_grad()
    a, b = discriminator(real), discriminator(fake.detach())
    d_loss = loss_fn(a, torch.ones_like(a)) + loss_fn(b, torch.zeros_like(b))
    d_loss.backward()
    d_optimizer.step()
    g_optimizer.zero_grad()
    c = discriminator(fake)
    g_loss = loss_fn(c, torch.zeros_like(c))
    g_loss.backward()
    g_optimizer.step()
    return d_loss.item(), g_loss.item()


@wrong(mistakes.minus_the_other_loss)
def minimax(generator, discriminator, g_optimizer, d_optimizer, loss_fn, real, noise):
    fake = generator(noise)
    d_optimizer.zero_grad()
    a, b = discriminator(real), discriminator(fake.detach())
    d_loss = loss_fn(a, torch.ones_like(a)) + loss_fn(b, torch.zeros_like(b))
    d_loss.backward()
    d_optimizer.step()
    g_optimizer.zero_grad()
    c = discriminator(fake)
    g_loss = -loss_fn(c, torch.zeros_like(c))
    g_loss.backward()
    g_optimizer.step()
    return d_loss.item(), g_loss.item()


@wrong(mistakes.halved)
def mean_of_the_halves(generator, discriminator, g_optimizer, d_optimizer, loss_fn, real, noise):
    fake = generator(noise)
    d_optimizer.zero_grad()
    a, b = discriminator(real), discriminator(fake.detach())
    d_loss = (loss_fn(a, torch.ones_like(a)) + loss_fn(b, torch.zeros_like(b))) / 2
    d_loss.backward()
    d_optimizer.step()
    g_optimizer.zero_grad()
    c = discriminator(fake)
    g_loss = loss_fn(c, torch.ones_like(c))
    g_loss.backward()
    g_optimizer.step()
    return d_loss.item(), g_loss.item()


@wrong(mistakes.mean_of_all_rows)
def one_mean(generator, discriminator, g_optimizer, d_optimizer, loss_fn, real, noise):
    fake = generator(noise)
    d_optimizer.zero_grad()
    logits = discriminator(torch.cat([real, fake.detach()]))
    labels = torch.zeros_like(logits)
    labels[: len(real)] = 1
    d_loss = loss_fn(logits, labels)
    d_loss.backward()
    d_optimizer.step()
    g_optimizer.zero_grad()
    c = discriminator(fake)
    g_loss = loss_fn(c, torch.ones_like(c))
    g_loss.backward()
    g_optimizer.step()
    return d_loss.item(), g_loss.item()


@wrong(mistakes.real_half_alone)
def fakes_forgotten(generator, discriminator, g_optimizer, d_optimizer, loss_fn, real, noise):
    d_optimizer.zero_grad()
    a = discriminator(real)
    d_loss = loss_fn(a, torch.ones_like(a))
    d_loss.backward()
    d_optimizer.step()
    g_optimizer.zero_grad()
    c = discriminator(generator(noise))
    g_loss = loss_fn(c, torch.ones_like(c))
    g_loss.backward()
    g_optimizer.step()
    return d_loss.item(), g_loss.item()


@wrong(mistakes.fake_half_alone)
def cleared_between_the_halves(generator, discriminator, g_optimizer, d_optimizer, loss_fn, real, noise):
    fake = generator(noise)
    d_optimizer.zero_grad()
    a = discriminator(real)
    first = loss_fn(a, torch.ones_like(a))
    first.backward()
    d_optimizer.zero_grad()
    b = discriminator(fake.detach())
    second = loss_fn(b, torch.zeros_like(b))
    second.backward()
    d_optimizer.step()
    g_optimizer.zero_grad()
    c = discriminator(fake)
    g_loss = loss_fn(c, torch.ones_like(c))
    g_loss.backward()
    g_optimizer.step()
    return first.item() + second.item(), g_loss.item()


@wrong(mistakes.halves_subtracted)
def minus_for_the_fakes(generator, discriminator, g_optimizer, d_optimizer, loss_fn, real, noise):
    fake = generator(noise)
    d_optimizer.zero_grad()
    a, b = discriminator(real), discriminator(fake.detach())
    d_loss = loss_fn(a, torch.ones_like(a)) - loss_fn(b, torch.zeros_like(b))
    d_loss.backward()
    d_optimizer.step()
    g_optimizer.zero_grad()
    c = discriminator(fake)
    g_loss = loss_fn(c, torch.ones_like(c))
    g_loss.backward()
    g_optimizer.step()
    return d_loss.item(), g_loss.item()


@wrong(mistakes.smoothed_labels)
def nine_tenths(generator, discriminator, g_optimizer, d_optimizer, loss_fn, real, noise):
    fake = generator(noise)
    d_optimizer.zero_grad()
    a, b = discriminator(real), discriminator(fake.detach())
    d_loss = loss_fn(a, torch.full_like(a, 0.9)) + loss_fn(b, torch.zeros_like(b))
    d_loss.backward()
    d_optimizer.step()
    g_optimizer.zero_grad()
    c = discriminator(fake)
    g_loss = loss_fn(c, torch.ones_like(c))
    g_loss.backward()
    g_optimizer.step()
    return d_loss.item(), g_loss.item()


@wrong(mistakes.sigmoid_first)
def probabilities(generator, discriminator, g_optimizer, d_optimizer, loss_fn, real, noise):
    fake = generator(noise)
    d_optimizer.zero_grad()
    a, b = discriminator(real).sigmoid(), discriminator(fake.detach()).sigmoid()
    d_loss = loss_fn(a, torch.ones_like(a)) + loss_fn(b, torch.zeros_like(b))
    d_loss.backward()
    d_optimizer.step()
    g_optimizer.zero_grad()
    c = discriminator(fake).sigmoid()
    g_loss = loss_fn(c, torch.ones_like(c))
    g_loss.backward()
    g_optimizer.step()
    return d_loss.item(), g_loss.item()


@wrong(mistakes.arguments_swapped)
def labels_first(generator, discriminator, g_optimizer, d_optimizer, loss_fn, real, noise):
    fake = generator(noise)
    d_optimizer.zero_grad()
    a, b = discriminator(real), discriminator(fake.detach())
    d_loss = loss_fn(torch.ones_like(a), a) + loss_fn(torch.zeros_like(b), b)
    d_loss.backward()
    d_optimizer.step()
    g_optimizer.zero_grad()
    c = discriminator(fake)
    g_loss = loss_fn(torch.ones_like(c), c)
    g_loss.backward()
    g_optimizer.step()
    return d_loss.item(), g_loss.item()


@wrong(mistakes.loss_fn_not_used)
def own_loss(generator, discriminator, g_optimizer, d_optimizer, loss_fn, real, noise):
    bce = nn.BCEWithLogitsLoss()
    fake = generator(noise)
    d_optimizer.zero_grad()
    a, b = discriminator(real), discriminator(fake.detach())
    d_loss = bce(a, torch.ones_like(a)) + bce(b, torch.zeros_like(b))
    d_loss.backward()
    d_optimizer.step()
    g_optimizer.zero_grad()
    c = discriminator(fake)
    g_loss = bce(c, torch.ones_like(c))
    g_loss.backward()
    g_optimizer.step()
    return d_loss.item(), g_loss.item()


@raised(mistakes.labels_of_another_batch)
def one_set_of_labels(generator, discriminator, g_optimizer, d_optimizer, loss_fn, real, noise):
    ones, zeros = real.new_ones(len(real), 1), real.new_zeros(len(real), 1)
    fake = generator(noise)
    d_optimizer.zero_grad()
    d_loss = loss_fn(discriminator(real), ones) + loss_fn(discriminator(fake.detach()), zeros)
    d_loss.backward()
    d_optimizer.step()
    g_optimizer.zero_grad()
    g_loss = loss_fn(discriminator(fake), ones)
    g_loss.backward()
    g_optimizer.step()
    return d_loss.item(), g_loss.item()


@raised(mistakes.labels_of_another_batch)
def flat_labels(generator, discriminator, g_optimizer, d_optimizer, loss_fn, real, noise):
    fake = generator(noise)
    d_optimizer.zero_grad()
    d_loss = loss_fn(discriminator(real), torch.ones(len(real))) + loss_fn(
        discriminator(fake.detach()), torch.zeros(len(fake))
    )
    d_loss.backward()
    d_optimizer.step()
    g_optimizer.zero_grad()
    g_loss = loss_fn(discriminator(fake), torch.ones(len(fake)))
    g_loss.backward()
    g_optimizer.step()
    return d_loss.item(), g_loss.item()


@raised(effects.no_such_attribute)
def a_number_for_labels(generator, discriminator, g_optimizer, d_optimizer, loss_fn, real, noise):
    fake = generator(noise)
    d_optimizer.zero_grad()
    d_loss = loss_fn(discriminator(real), 1) + loss_fn(discriminator(fake.detach()), 0)
    d_loss.backward()
    d_optimizer.step()
    g_optimizer.zero_grad()
    g_loss = loss_fn(discriminator(fake), 1)
    g_loss.backward()
    g_optimizer.step()
    return d_loss.item(), g_loss.item()


# ------------------------------------------------------------------ wrong: what is returned, what is left


@wrong(mistakes.losses_turned_round)
def generator_loss_first(generator, discriminator, g_optimizer, d_optimizer, loss_fn, real, noise):
    d_loss, g_loss = detached(generator, discriminator, g_optimizer, d_optimizer, loss_fn, real, noise)
    return g_loss, d_loss


@wrong(mistakes.half_returned)
def name_used_twice(generator, discriminator, g_optimizer, d_optimizer, loss_fn, real, noise):
    fake = generator(noise)
    d_optimizer.zero_grad()
    a = discriminator(real)
    d_loss = loss_fn(a, torch.ones_like(a))
    d_loss.backward()
    b = discriminator(fake.detach())
    d_loss = loss_fn(b, torch.zeros_like(b))
    d_loss.backward()
    d_optimizer.step()
    g_optimizer.zero_grad()
    c = discriminator(fake)
    g_loss = loss_fn(c, torch.ones_like(c))
    g_loss.backward()
    g_optimizer.step()
    return d_loss.item(), g_loss.item()


@wrong(mistakes.half_of_d_loss_returned)
def mean_for_the_log(generator, discriminator, g_optimizer, d_optimizer, loss_fn, real, noise):
    d_loss, g_loss = detached(generator, discriminator, g_optimizer, d_optimizer, loss_fn, real, noise)
    return d_loss / 2, g_loss


@wrong(mistakes.losses_after_the_steps)
def measured_again(generator, discriminator, g_optimizer, d_optimizer, loss_fn, real, noise):
    detached(generator, discriminator, g_optimizer, d_optimizer, loss_fn, real, noise)
    with torch.no_grad():
        a, b = discriminator(real), discriminator(generator(noise))
        d_loss = loss_fn(a, torch.ones_like(a)) + loss_fn(b, torch.zeros_like(b))
        g_loss = loss_fn(b, torch.ones_like(b))
    return d_loss.item(), g_loss.item()


@wrong(mistakes.new_noise)
def fresh_noise_for_the_generator(generator, discriminator, g_optimizer, d_optimizer, loss_fn, real, noise):
    d_optimizer.zero_grad()
    a, b = discriminator(real), discriminator(generator(noise).detach())
    d_loss = loss_fn(a, torch.ones_like(a)) + loss_fn(b, torch.zeros_like(b))
    d_loss.backward()
    d_optimizer.step()
    g_optimizer.zero_grad()
    c = discriminator(generator(torch.randn_like(noise)))
    g_loss = loss_fn(c, torch.ones_like(c))
    g_loss.backward()
    g_optimizer.step()
    return d_loss.item(), g_loss.item()


@wrong(effects.changed_requires_grad)
def discriminator_left_frozen(generator, discriminator, g_optimizer, d_optimizer, loss_fn, real, noise):
    fake = generator(noise)
    d_optimizer.zero_grad()
    a, b = discriminator(real), discriminator(fake.detach())
    d_loss = loss_fn(a, torch.ones_like(a)) + loss_fn(b, torch.zeros_like(b))
    d_loss.backward()
    d_optimizer.step()
    for p in discriminator.parameters():
        p.requires_grad = False
    g_optimizer.zero_grad()
    c = discriminator(fake)
    g_loss = loss_fn(c, torch.ones_like(c))
    g_loss.backward()
    g_optimizer.step()
    return d_loss.item(), g_loss.item()


@wrong(effects.changed_requires_grad)
def everything_thawed(generator, discriminator, g_optimizer, d_optimizer, loss_fn, real, noise):
    fake = generator(noise)
    d_optimizer.zero_grad()
    a, b = discriminator(real), discriminator(fake.detach())
    d_loss = loss_fn(a, torch.ones_like(a)) + loss_fn(b, torch.zeros_like(b))
    d_loss.backward()
    d_optimizer.step()
    discriminator.requires_grad_(False)
    g_optimizer.zero_grad()
    c = discriminator(fake)
    g_loss = loss_fn(c, torch.ones_like(c))
    g_loss.backward()
    g_optimizer.step()
    discriminator.requires_grad_(True)
    return d_loss.item(), g_loss.item()


@wrong(effects.changed_mode)
def eval_for_the_judge(generator, discriminator, g_optimizer, d_optimizer, loss_fn, real, noise):
    d_loss, g_loss = detached(generator, discriminator, g_optimizer, d_optimizer, loss_fn, real, noise)
    discriminator.eval()
    return d_loss, g_loss


@wrong(effects.wrong_type)
def losses_as_tensors(generator, discriminator, g_optimizer, d_optimizer, loss_fn, real, noise):
    fake = generator(noise)
    d_optimizer.zero_grad()
    a, b = discriminator(real), discriminator(fake.detach())
    d_loss = loss_fn(a, torch.ones_like(a)) + loss_fn(b, torch.zeros_like(b))
    d_loss.backward()
    d_optimizer.step()
    g_optimizer.zero_grad()
    c = discriminator(fake)
    g_loss = loss_fn(c, torch.ones_like(c))
    g_loss.backward()
    g_optimizer.step()
    return d_loss, g_loss


@wrong(effects.returned_nothing)
def return_forgotten(generator, discriminator, g_optimizer, d_optimizer, loss_fn, real, noise):
    detached(generator, discriminator, g_optimizer, d_optimizer, loss_fn, real, noise)


@wrong(mistakes.judged_in_eval)
def eval_for_the_generator(generator, discriminator, g_optimizer, d_optimizer, loss_fn, real, noise):
    fake = generator(noise)
    d_optimizer.zero_grad()
    a, b = discriminator(real), discriminator(fake.detach())
    d_loss = loss_fn(a, torch.ones_like(a)) + loss_fn(b, torch.zeros_like(b))
    d_loss.backward()
    d_optimizer.step()
    discriminator.eval()
    g_optimizer.zero_grad()
    c = discriminator(fake)
    g_loss = loss_fn(c, torch.ones_like(c))
    g_loss.backward()
    g_optimizer.step()
    discriminator.train()
    return d_loss.item(), g_loss.item()


@wrong(mistakes.mean_of_all_rows)
def twice_the_mean_of_all_rows(generator, discriminator, g_optimizer, d_optimizer, loss_fn, real, noise):
    fake = generator(noise)
    d_optimizer.zero_grad()
    logits = discriminator(torch.cat([real, fake.detach()]))
    labels = torch.zeros_like(logits)
    labels[: len(real)] = 1
    d_loss = 2 * loss_fn(logits, labels)
    d_loss.backward()
    d_optimizer.step()
    g_optimizer.zero_grad()
    c = discriminator(fake)
    g_loss = loss_fn(c, torch.ones_like(c))
    g_loss.backward()
    g_optimizer.step()
    return d_loss.item(), g_loss.item()


@wrong(mistakes.gradient_from_the_old_one)
def loss_measured_again(generator, discriminator, g_optimizer, d_optimizer, loss_fn, real, noise):
    g_optimizer.zero_grad()
    fake = generator(noise)
    c = discriminator(fake)
    loss_fn(c, torch.ones_like(c)).backward()
    d_optimizer.zero_grad()
    rows = fake.detach()
    a, b = discriminator(real), discriminator(rows)
    d_loss = loss_fn(a, torch.ones_like(a)) + loss_fn(b, torch.zeros_like(b))
    d_loss.backward()
    d_optimizer.step()
    with torch.no_grad():
        c = discriminator(rows)
        g_loss = loss_fn(c, torch.ones_like(c))
    g_optimizer.step()
    return d_loss.item(), g_loss.item()


@wrong(mistakes.fakes_made_in_eval)
def generator_in_eval_where_it_does_not_learn(generator, discriminator, g_optimizer, d_optimizer, loss_fn, real, noise):
    modes = [(m, m.training) for m in generator.modules()]
    generator.eval()
    with torch.no_grad():
        rows = generator(noise)
    for m, mode in modes:
        m.training = mode
    d_optimizer.zero_grad()
    a, b = discriminator(real), discriminator(rows)
    d_loss = loss_fn(a, torch.ones_like(a)) + loss_fn(b, torch.zeros_like(b))
    d_loss.backward()
    d_optimizer.step()
    g_optimizer.zero_grad()
    c = discriminator(generator(noise))
    g_loss = loss_fn(c, torch.ones_like(c))
    g_loss.backward()
    g_optimizer.step()
    return d_loss.item(), g_loss.item()


def _halves(generator, discriminator, g_optimizer, d_optimizer, loss_fn, real, noise, g_noise):
    d_optimizer.zero_grad()
    a, b = discriminator(real), discriminator(generator(noise).detach())
    d_loss = loss_fn(a, torch.ones_like(a)) + loss_fn(b, torch.zeros_like(b))
    d_loss.backward()
    d_optimizer.step()
    g_optimizer.zero_grad()
    c = discriminator(generator(g_noise))
    g_loss = loss_fn(c, torch.ones_like(c))
    g_loss.backward()
    g_optimizer.step()
    return d_loss.item(), g_loss.item()


@wrong(mistakes.rows_left_out)
def as_much_noise_as_real_rows(generator, discriminator, g_optimizer, d_optimizer, loss_fn, real, noise):
    ones = torch.ones(len(real), 1, dtype=real.dtype)
    fake = generator(noise[: len(real)])
    d_optimizer.zero_grad()
    d_loss = loss_fn(discriminator(real), ones)
    d_loss = d_loss + loss_fn(discriminator(fake.detach()), 0 * ones[: len(fake)])
    d_loss.backward()
    d_optimizer.step()
    g_optimizer.zero_grad()
    g_loss = loss_fn(discriminator(fake), ones[: len(fake)])
    g_loss.backward()
    g_optimizer.step()
    return d_loss.item(), g_loss.item()


@wrong(mistakes.rows_left_out)
def pairs_of_rows(generator, discriminator, g_optimizer, d_optimizer, loss_fn, real, noise):
    rows, seeds = map(torch.stack, zip(*zip(real, noise, strict=False), strict=True))
    return _halves(generator, discriminator, g_optimizer, d_optimizer, loss_fn, rows, seeds, seeds)


@wrong(mistakes.rows_left_out)
def fewer_fakes_for_the_discriminator(generator, discriminator, g_optimizer, d_optimizer, loss_fn, real, noise):
    some = noise[: len(real)]
    return _halves(generator, discriminator, g_optimizer, d_optimizer, loss_fn, real, some, noise)


@right
def labels_cut_from_a_long_piece(generator, discriminator, g_optimizer, d_optimizer, loss_fn, real, noise):
    most = max(len(real), len(noise))
    ones = real.new_ones(most, 1)
    d_optimizer.zero_grad()
    fake = generator(noise)
    d_loss = loss_fn(discriminator(real), ones[: len(real)])
    d_loss = d_loss + loss_fn(discriminator(fake.detach()), 0 * ones[: len(noise)])
    d_loss.backward()
    d_optimizer.step()
    g_optimizer.zero_grad()
    g_loss = loss_fn(discriminator(fake), ones[: len(noise)])
    g_loss.backward()
    g_optimizer.step()
    return d_loss.item(), g_loss.item()


@wrong(mistakes.minus_its_own_loss)
def minus_before_the_right_loss(generator, discriminator, g_optimizer, d_optimizer, loss_fn, real, noise):
    d_optimizer.zero_grad()
    a, b = discriminator(real), discriminator(generator(noise).detach())
    d_loss = loss_fn(a, torch.ones_like(a)) + loss_fn(b, torch.zeros_like(b))
    d_loss.backward()
    d_optimizer.step()
    g_optimizer.zero_grad()
    c = discriminator(generator(noise))
    g_loss = -loss_fn(c, torch.ones_like(c))
    g_loss.backward()
    g_optimizer.step()
    return d_loss.item(), g_loss.item()


@wrong(mistakes.cleared_after_the_step)
def late_clearing_and_fakes_in_eval(generator, discriminator, g_optimizer, d_optimizer, loss_fn, real, noise):
    generator.eval()
    with torch.no_grad():
        fake = generator(noise)
    generator.train()
    a, b = discriminator(real), discriminator(fake)
    d_loss = loss_fn(a, torch.ones_like(a)) + loss_fn(b, torch.zeros_like(b))
    d_loss.backward()
    d_optimizer.step()
    d_optimizer.zero_grad()
    c = discriminator(generator(noise))
    g_loss = loss_fn(c, torch.ones_like(c))
    g_loss.backward()
    g_optimizer.step()
    g_optimizer.zero_grad()
    return d_loss.item(), g_loss.item()


@wrong(mistakes.fakes_made_in_eval)
def eval_for_the_fakes_and_train_afterwards(generator, discriminator, g_optimizer, d_optimizer, loss_fn, real, noise):
    generator.eval()
    with torch.no_grad():
        fake = generator(noise)
    generator.train()
    d_optimizer.zero_grad()
    a, b = discriminator(real), discriminator(fake)
    d_loss = loss_fn(a, torch.ones_like(a)) + loss_fn(b, torch.zeros_like(b))
    d_loss.backward()
    d_optimizer.step()
    g_optimizer.zero_grad()
    c = discriminator(generator(noise))
    g_loss = loss_fn(c, torch.ones_like(c))
    g_loss.backward()
    g_optimizer.step()
    return d_loss.item(), g_loss.item()


@wrong(mistakes.discriminator_on_an_old_gradient)
def discriminator_cleared_after_its_step(generator, discriminator, g_optimizer, d_optimizer, loss_fn, real, noise):
    fake = generator(noise)
    a, b = discriminator(real), discriminator(fake.detach())
    d_loss = loss_fn(a, torch.ones_like(a)) + loss_fn(b, torch.zeros_like(b))
    d_loss.backward()
    d_optimizer.step()
    d_optimizer.zero_grad()
    g_optimizer.zero_grad()
    c = discriminator(fake)
    g_loss = loss_fn(c, torch.ones_like(c))
    g_loss.backward()
    g_optimizer.step()
    return d_loss.item(), g_loss.item()
