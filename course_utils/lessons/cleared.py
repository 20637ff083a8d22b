"""Where None and zeros in `.grad` are as good as each other, as they are where no loss uses a parameter."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace

from course_utils.exercise import Case, Evidence
from course_utils.plain import Opaque, Plain, TensorData

CLEARED = Opaque("", "None or zeros")
"""What stands for both ways of being cleared."""


def gradients_alone(fact: str, trainable: Callable[[str], Collection[str]]) -> Callable[[Case, Evidence], Evidence]:
    """What is returned does not matter; in the fact, {name: gradient}, None is as cleared as zeros are.

    `trainable` tells from `spec["model"]` the names of the parameters of which that holds: those that are not frozen.
    """

    def accepted(case: Case, evidence: Evidence) -> Evidence:
        held = evidence.facts.get(fact)
        if not isinstance(held, dict):
            return replace(evidence, result=None)
        names = trainable(case.spec["model"])
        after = {name: CLEARED if name in names and _is_cleared(value) else value for name, value in held.items()}
        return replace(evidence, result=None, facts={**evidence.facts, fact: after})

    return accepted


def _is_cleared(value: Plain) -> bool:
    return value is None or isinstance(value, TensorData) and not bool(value.value.any())
