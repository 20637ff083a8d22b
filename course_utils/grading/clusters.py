"""Wrong answers without a mistake's name in a gradebook, put together by what they do, and one made a mistake."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from course_utils.grading.gradebook import Gradebook
from course_utils.grading.result import Marked, Result
from gradient_ledger.errors import UserError


@dataclass
class Cluster:
    """Answers to one exercise that do the same. The example is the shortest code."""

    id: str
    exercise: str
    lesson: int
    size: int
    student: str
    """Whose answer is the example."""
    length: int
    """Characters of its code; answers whose code is not known are the last to be taken."""


def gathered(results: Iterable[Result]) -> dict[str, Cluster]:
    """The clusters of these results by id, the largest first."""
    found: dict[str, Cluster] = {}
    for result in results:
        gather(found, result)
    return largest_first(found)


def gather(clusters: dict[str, Cluster], result: Result) -> None:
    """Add what one result has of clusters."""
    for marked in result.exercises:
        if not marked.cluster or result.lesson is None:
            continue
        length = len(marked.code) or 10**9
        known = clusters.get(marked.cluster)
        if known is None:
            clusters[marked.cluster] = Cluster(
                marked.cluster, marked.verdict.exercise, result.lesson, 1, result.student, length
            )
            continue
        known.size += 1
        if length < known.length:
            known.student, known.length = result.student, length


def largest_first(clusters: dict[str, Cluster]) -> dict[str, Cluster]:
    """The same, the largest first; of equal size by id."""
    return {one.id: one for one in sorted(clusters.values(), key=lambda one: (-one.size, one.id))}


def example_of(gradebook: Gradebook, cluster: Cluster) -> Marked | None:
    """The exercise that stands for a cluster; None where its result is gone."""
    result = gradebook.known(cluster.student, cluster.lesson)
    found = [marked for marked in result.exercises if marked.cluster == cluster.id] if result else []
    return found[0] if found else None


def new_mistake(gradebook: Gradebook, cluster: str, root: Path) -> list[str]:
    """Make a mistake, still without words, of a cluster's example, and an attempt; gives lines that say what to do.

    `root` is a clone of the course. Raises `UserError` where the cluster or its code is not there, or where something
    would be overwritten.
    """
    from course_utils.authoring.files import AuthoringError
    from course_utils.authoring.unworded import add_mistake

    known = gathered(gradebook.results()).get(cluster)
    marked = example_of(gradebook, known) if known else None
    if known is None or marked is None:
        raise UserError(f"there is no cluster {cluster!r} in {gradebook.folder}: report.html names those there are")
    if not marked.code.strip():
        raise UserError(f"the code of cluster {cluster} is not known; grade its submissions again with --regrade")
    try:
        return add_mistake(root, known.exercise, cluster.split("-")[-1], marked.code)
    except AuthoringError as error:
        raise UserError(str(error)) from error
