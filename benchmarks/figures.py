"""The figures of the course, measured in one run: import, checks, notebooks.

Usage: python benchmarks/figures.py [--notebooks]

Prints the time of the set-up cell's import as a share of `import torch`, the median and worst check
over the bank's right and wrong answers, and with `--notebooks` the run time of each solved notebook.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
IMPORT = """
import time
start = time.perf_counter(); import torch
middle = time.perf_counter()
from course_utils import check, compare, hint, predict, progress, quiz, solution
print(middle - start, time.perf_counter() - middle)
"""


def import_times(runs: int = 5) -> None:
    pairs = []
    for _ in range(runs):
        out = subprocess.run([sys.executable, "-c", IMPORT], capture_output=True, text=True, check=True).stdout
        pairs.append(tuple(map(float, out.split())))
    torch_time, own = (statistics.median(column) for column in zip(*pairs, strict=True))
    print(f"import torch {torch_time:.2f} s; the learner's names beyond it {own:.3f} s, ratio {own / torch_time:.3f}")


def check_times() -> None:
    from course_utils.authoring.attempts import attempts
    from course_utils.authoring.verify import limit_of
    from course_utils.learner import evaluate
    from course_utils.lessons import lessons

    start = time.perf_counter()
    import torch

    torch.func.jvp(torch.sin, (torch.ones(1),), (torch.ones(1),))
    torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=1.0)
    print(f"first optimizer and first torch.func call of the process: {time.perf_counter() - start:.2f} s, torch's own")
    times: dict[str, list[tuple[float, str]]] = {
        "that passes": [],
        "that fails": [],
        "that is the first to fail at its exercise": [],
    }
    for lesson in lessons():
        fresh = set()
        for attempt in attempts(ROOT, lesson.number):
            if attempt.mistakes == ("endless-loop",):
                continue  # these last as long as the limit
            kind = "that passes" if attempt.mark == "right" else "that fails"
            if kind == "that fails" and attempt.exercise not in fresh:
                # Then the mistakes are run on the cases, and what they leave is kept.
                kind = "that is the first to fail at its exercise"
                fresh.add(attempt.exercise)
            start = time.perf_counter()
            evaluate(attempt.exercise, attempt.code, limit=limit_of(attempt))
            times[kind].append((time.perf_counter() - start, f"{attempt.exercise} {attempt.name}"))
    for kind, found in times.items():
        worst, name = max(found)
        middle = statistics.median(seconds for seconds, _ in found)
        print(f"{len(found)} checks {kind}: median {middle:.3f} s, worst {worst:.3f} s ({name})")


def notebook_times() -> None:
    import nbformat
    from nbclient import NotebookClient

    for path in sorted((ROOT / "solutions").glob("*.ipynb")):
        with tempfile.TemporaryDirectory() as folder:
            os.environ["COURSE_HOME"] = folder
            notebook = nbformat.read(path, as_version=4)
            start = time.perf_counter()
            NotebookClient(notebook, timeout=300, resources={"metadata": {"path": folder}}).execute()
            print(f"{path.name}: all cells in {time.perf_counter() - start:.1f} s, kernel start included")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--notebooks", action="store_true", help="run the solved notebooks as well")
    arguments = parser.parse_args()
    import_times()
    check_times()
    if arguments.notebooks:
        notebook_times()


if __name__ == "__main__":
    main()
