"""What is right in exercise 4.5."""

from __future__ import annotations

import torch
from torch import nn

from course_utils.checks.answers import Answers
from course_utils.exercise import Case, Evidence
from course_utils.lessons.lesson4.adversarial_step.task import OF_DISCRIMINATOR, OF_GENERATOR
from course_utils.lessons.lesson4.steps import tolerance
from course_utils.lessons.returned import floats_beside
from course_utils.lessons.training import LossFn

OF_D, OF_G = "the returned d_loss", "the returned g_loss"
Optimizer = torch.optim.Optimizer


def _step(network: nn.Module, optimizer: Optimizer, loss: torch.Tensor) -> float:
    """One step of the network on the gradient of that loss, which is handed back for its own parameters alone."""
    trainable = [p for p in network.parameters() if p.requires_grad]
    for p in network.parameters():
        p.grad = None
    for p, gradient in zip(trainable, torch.autograd.grad(loss, trainable), strict=True):
        p.grad = gradient
    optimizer.step()
    return loss.item()


def right(
    generator: nn.Module,
    discriminator: nn.Module,
    g_optimizer: Optimizer,
    d_optimizer: Optimizer,
    loss_fn: LossFn,
    real: torch.Tensor,
    noise: torch.Tensor,
) -> tuple[float, float]:
    """Each loss is differentiated with respect to one network, so that nothing can reach the other."""
    with torch.no_grad():
        fake = generator(noise)
    rows = discriminator(torch.cat([real, fake]))
    on_real, on_fake = rows[: len(real)], rows[len(real) :]
    d_loss = loss_fn(on_real, torch.ones_like(on_real)) + loss_fn(on_fake, torch.zeros_like(on_fake))
    first = _step(discriminator, d_optimizer, d_loss)
    judged = discriminator(generator(noise))
    return first, _step(generator, g_optimizer, loss_fn(judged, torch.ones_like(judged)))


def _accepted(_: Case, evidence: Evidence) -> Evidence:
    return floats_beside(evidence, (OF_D, OF_G))


ANSWERS = Answers(right, graded=(OF_DISCRIMINATOR, OF_GENERATOR, OF_D, OF_G), accept=_accepted, tolerance=tolerance)
