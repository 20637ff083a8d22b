"""Start, feed, watch and end the jail: the outer half of isolation.

box ──▶ warm (the process under `bubble`, with the copy of the course that `staging` makes)
 └────▶ attempt ──talk──▶ jail.child, under the eye of `watch`; `evidence` reads what it observed

`words` tell the student what happened.
"""

from __future__ import annotations

from course_utils.grading.sandbox.box import Sandbox
from course_utils.grading.sandbox.bubble import why_not
from course_utils.grading.sandbox.contract import Isolation, Limits, NoIsolation, Ran

__all__ = ["Isolation", "Limits", "NoIsolation", "Ran", "Sandbox", "why_not"]
