"""What is often done instead in exercise 5.2: the mistakes of any loop with one step a batch."""

from __future__ import annotations

from course_utils.lessons.lesson5.mistakes import *  # noqa: F403
