"""How fast grading is: this course's grader, isolation on, beside nbgrader, otter-grader and the floor.

Usage: python benchmarks/grading.py [--lessons N …] [--count 20] [--peers nbgrader otter | --peers] [--rounds 3]
       python benchmarks/grading.py --many 2000 [--jobs 2] [--lessons N …]

All of them grade the same submissions in one run: a quarter each is all right, half solved, has a cell that raises,
and is untouched. A rate is submissions a second and core: per second of processor time of all processes together,
which waiting for a busy machine does not lengthen; the ratios of wall time stand beside it.

- ours: `Grader` with isolation and one job, warm; from finding the notebooks to a result file each.
- the whole command: `course grade --jobs 1`, with its start and end: imports of torch, tables, pages.
- floor: the cells that ours runs and the checks, in one warm process: no isolation, no fork, no files; and the same
  without the judging, which is done outside of the sandbox.
- nbgrader autograde, otter run: see peers.py. Neither isolates, and both have the answers in the student's reach.

Ours and the floor take turns for `--rounds` rounds, of which the median counts; the peers run once, between them.
A peer that is not installed is left out, and a line says so. otter-grader is no extra of this project, since it asks
for much: install it in another environment, and run this file with that:

    python -m venv OTHER && OTHER/bin/pip install -c constraints.txt torch -e ".[author,course,grading]" otter-grader
    OTHER/bin/python benchmarks/grading.py

`--many` measures another thing: that many submissions, no two alike, through `course grade` itself. On the way it
prints the rate and the memory of all its processes (PSS, shared pages counted once), which should stay where it is.
Linux alone: it reads /proc.
"""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import peers
import torch
from floor import Floor
from handed_in import KINDS, ROOT, HandedIn, handed_in

from course_utils.grading.grade import Grader
from course_utils.grading.gradebook import Gradebook
from course_utils.grading.sandbox import NoIsolation
from course_utils.grading.sandbox.watch import family, own, processor_time
from course_utils.grading.submissions import find_submissions, read
from course_utils.lessons import lessons

PEERS = {"nbgrader": peers.nbgrader, "otter": peers.otter}
SEED = "benchmark"
OURS, COMMAND, FLOOR, NO_JUDGE = "ours", "ours, the whole command", "floor", "floor without judging"


@dataclass
class Way:
    """What was measured of one way of grading: seconds of each round, and the points of the last."""

    wall: list[float] = field(default_factory=list)
    processor: list[float] = field(default_factory=list)
    points: dict[str, float] = field(default_factory=dict)

    def add(self, wall: float, processor: float, points: dict[str, float] | None = None) -> None:
        self.wall.append(wall)
        self.processor.append(processor)
        self.points = self.points if points is None else points


def measured(work: Callable[[], object]) -> tuple[float, float]:
    """Wall and processor seconds, those of all that this process started, to a hundredth."""

    def spent() -> float:
        return sum(map(processor_time, family(os.getpid())))

    wall, processor = time.perf_counter(), spent()
    work()
    return time.perf_counter() - wall, spent() - processor


# ------------------------------------------------------------------ ways to grade


def ours(grader: Grader, folder: Path, out: Path) -> tuple[float, float, dict[str, float]]:
    """Wall and processor seconds, and points."""
    book = Gradebook(out)
    book.begin(SEED)

    def work() -> None:
        with book.lock():
            for submission in find_submissions(folder).submissions:
                book.put(grader.grade(submission, read(submission)))

    return *measured(work), {result.student: result.points for result in book.results()}


def course_grade(folder: Path, out: Path, jobs: int) -> list[str]:
    """The command, as a shell would start it."""
    command = [sys.executable, "-m", "course_utils.cli", "grade", str(folder), "--out", str(out)]
    return [*command, "--jobs", str(jobs), "--seed", SEED]


def compare(lesson: int, count: int, rounds: int, wanted: Sequence[str], notes: list[str]) -> dict[str, Way]:
    """Every way on the same submissions of a lesson."""
    submissions = handed_in(lesson, count)
    ways = {name: Way() for name in (OURS, COMMAND, FLOOR, NO_JUDGE)}
    with tempfile.TemporaryDirectory() as name, Grader(SEED) as grader:
        folder = Path(name)
        for one in submissions:
            one.write(folder / "handed-in" / one.student / "lesson.ipynb")
        first = find_submissions(folder / "handed-in").submissions[0]
        grader.grade(first, read(first))  # imports, the sandbox, the first drawing of the cases
        floor = Floor(lesson)
        notebooks = [(folder / "handed-in" / one.student / "lesson.ipynb").read_bytes() for one in submissions]
        floor.run(notebooks[:1])
        for index in range(rounds):
            if index == rounds // 2:
                for peer in wanted:
                    try:
                        ready = PEERS[peer](lesson, submissions, folder / peer)
                        seconds = measured(ready.grade)
                        ways.setdefault(ready.name, Way()).add(*seconds, ready.points())
                    except peers.Unavailable as reason:
                        notes.append(f"{peer} was not measured: {reason}")
                seconds = measured(lambda: run(course_grade(folder / "handed-in", folder / "command", 1)))
                ways[COMMAND].add(*seconds)
            ways[OURS].add(*ours(grader, folder / "handed-in", folder / f"ours-{index}"))
            start = time.perf_counter()
            found, spent = floor.run(notebooks)
            wall, processor = time.perf_counter() - start, sum(spent.values())
            ways[FLOOR].add(wall, processor, {one.student: p for one, p in zip(submissions, found, strict=True)})
            ways[NO_JUDGE].add(wall * (1 - spent["judge"] / processor), processor - spent["judge"])
        floor.close()
    return ways


def run(command: list[str]) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    if done.returncode:
        sys.exit(f"{' '.join(command[:6])} failed: {done.stderr.strip()[-1000:]}")


# ------------------------------------------------------------------ tables


def show(lesson: int, submissions: Sequence[HandedIn], ways: dict[str, Way]) -> None:
    count = len(submissions)
    print(f"\nLesson {lesson}, {count} submissions")
    heads = ["points: " + KINDS[0], *KINDS[1:], "a second and core", "ours is", "by wall time"]
    rows = []
    for name, way in ways.items():
        wall, processor = statistics.median(way.wall), statistics.median(way.processor)
        ours_wall, ours_processor = (statistics.median(found) for found in (ways[OURS].wall, ways[OURS].processor))
        ratios = [times(processor / ours_processor), times(wall / ours_wall)] if name != OURS else ["", ""]
        rows.append([name, *(points_of(way, submissions, kind) for kind in KINDS), f"{count / processor:.3g}", *ratios])
    widths = [max(len(row[i]) for row in [["", *heads], *rows]) for i in range(len(heads) + 1)]
    for row in [["", *heads], *rows]:
        print(
            "  ".join([row[0].ljust(widths[0]), *(cell.rjust(w) for cell, w in zip(row[1:], widths[1:], strict=True))])
        )


def times(ratio: float) -> str:
    """How many times as fast as that way ours is."""
    return f"{ratio:.0f} times" if ratio >= 10 else f"{ratio:.2f} times"


def points_of(way: Way, submissions: Sequence[HandedIn], kind: str) -> str:
    found = sorted({way.points[one.student] for one in submissions if one.kind == kind and one.student in way.points})
    return ", ".join(f"{points:g}" for points in found) or "-"


# ------------------------------------------------------------------ many


def many(lesson: int, count: int, jobs: int) -> None:
    """Memory and rate of `course grade` over many submissions."""
    with tempfile.TemporaryDirectory() as name:
        folder, out = Path(name) / "handed-in", Path(name) / "book"
        for start in range(0, count, 500):  # a part at a time: this process is not what is measured, but has neighbours
            for one in handed_in(lesson, min(count, start + 500))[start:]:
                one.write(folder / one.student / "lesson.ipynb")
        print(f"\nLesson {lesson}, {count} submissions, {jobs} jobs: `course grade` from its start")
        print(f"{'graded':>8}{'seconds':>10}{'a second':>10}{'memory, MB':>12}{'largest since':>15}")
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        begun = time.perf_counter()
        process = subprocess.Popen(
            course_grade(folder, out, jobs), env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
        )
        results, largest, step, last = out / "results" / f"lesson{lesson}", 0, 0, (0, begun)
        while process.poll() is None:
            time.sleep(0.5)
            now, used = time.perf_counter(), sum(map(own, family(process.pid)))
            largest = max(largest, used)
            done = len(os.listdir(results)) if results.exists() else 0
            if done >= count * step / 20 and done > last[0]:
                rate = (done - last[0]) / (now - last[1])
                print(f"{done:>8}{now - begun:>10.0f}{rate:>10.1f}{used / 2**20:>12.0f}{largest / 2**20:>15.0f}")
                step, largest, last = int(20 * done / count) + 1, 0, (done, now)
        now = time.perf_counter()
        assert process.stderr is not None
        said = process.stderr.read().decode(errors="replace")
        if process.returncode:
            sys.exit(f"course grade ended with {process.returncode}: {said.strip()[-1000:]}")
        print(f"tables and pages are there after {now - begun:.0f} s; the largest since then {largest / 2**20:.0f} MB")
        print(f"{count / (now - begun):.1f} submissions a second, start and pages included")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lessons", type=int, nargs="+", default=[3], choices=[one.number for one in lessons()])
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--peers", nargs="*", default=list(PEERS), choices=list(PEERS))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--many", type=int, default=0, metavar="N")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="of --many")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    print(
        f"Python {platform.python_version()}, torch {torch.__version__}, {os.cpu_count()} cores, one thread each",
        flush=True,
    )
    notes: list[str] = []
    try:
        for lesson in arguments.lessons:
            if arguments.many:
                many(lesson, arguments.many, arguments.jobs)
            else:
                ways = compare(lesson, arguments.count, arguments.rounds, arguments.peers, notes)
                show(lesson, handed_in(lesson, arguments.count), ways)
    except NoIsolation as reason:
        sys.exit(str(reason))
    for note in dict.fromkeys(notes):
        print(note)


if __name__ == "__main__":
    main()
