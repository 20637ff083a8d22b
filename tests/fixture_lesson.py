"""A lesson of one exercise, in files of its own, for tests of what builds and verifies lessons."""

from __future__ import annotations

from pathlib import Path

FILES = {
    "pyproject.toml": """
[project]
name = "gradient-ledger"

[tool.course]
# one setting
repository = ""

[tool.ruff]
""",
    "README.md": "# Course\n\n<!-- lessons:begin -->\nold\n<!-- lessons:end -->\n\nThe end.\n",
    "lessons/lesson9.py": """
import torch
from course_utils.exercise import Arrangement, Case, Exercise
from course_utils.lessons.declare import Lesson, Question

def cases(seed):
    return [Case("three numbers", {"n": 3}), Case("one number", {"n": 1})]

def arrange(case):
    return Arrangement((torch.arange(1.0, case.spec["n"] + 1),))

DOUBLE = Exercise(
    "9.1", "double", "Twice as much", 100, 2, 7, "Write `double(x)`: twice the tensor.", cases, arrange,
    ("Look at one entry.", "What makes 3 into 6?", "One multiplication is enough."), rules=("No loops.",),
)
ASK = Question("9.a", "prediction", "What is twice 2?", {"a": "4", "b": "22"})
LESSON = Lesson(9, "09_doubling", "Doubling", (DOUBLE,), (ASK,), 5)
""",
    "oracles/lesson9.py": """
import torch
from course_utils.oracles.oracle import Answer, Oracle

def times(factor):
    return lambda case: Answer(factor * torch.arange(1.0, case.spec["n"] + 1))

ORACLES = {"9.1": Oracle(times(2), {
    "gradient-sign-flipped": times(-2), "missing-factor-two": times(1), "loss-not-averaged": times(4)})}
""",
    "solutions/09_doubling.py": '''# %% [markdown]
# # Doubling
#
# What you will be able to do: double a tensor.

# %%
import torch

# %% [markdown]
# ## Twice
#
# Guess first.

# %%
predict("9.a")

# %%
twice = 2 * 2
compare("9.a", "a" if twice == 4 else "b")

# %% exercise="9.1"
def double(x):
    """Twice the tensor `x`."""
    ### BEGIN SOLUTION
    doubled_tensor = torch.add(x, x)
    return doubled_tensor
    ### END SOLUTION

# %% [markdown]
# ## Myths
#
# > **Fact.** Adding a tensor to itself doubles it.

# %%
print((torch.ones(2) + torch.ones(2)).tolist())

# %% [markdown]
# ## In the wild
#
# Nothing yet.

# %% [markdown]
# ## Summary
#
# Twice.

# %% [markdown]
# ## What comes next
#
# Three times.
''',
}

ATTEMPTS = {
    "right__sum": "return x + x",
    "right__product": "return 2 * x",
    "right__shifted": "return x - (-x)",
    "wrong__gradient-sign-flipped__minus": "return -2 * x",
    "wrong__missing-factor-two__as_it_was": "return x * 1",
    "wrong__loss-not-averaged__twice_twice": "return 4 * x",
}


def write_clone(root: Path) -> None:
    """Put the files of the fixture lesson, its registry and its bank of attempts under `root`."""
    attempts = {
        f"tests/attempts/lesson9/ex9_1__{name}.py": f"def double(x):\n    {body}\n" for name, body in ATTEMPTS.items()
    }
    for name, text in (FILES | attempts).items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.lstrip("\n"), encoding="utf-8")
    # What the kernel runs first, so that it finds the fixture lesson where the test process does.
    site = root / "site" / "sitecustomize.py"
    site.parent.mkdir()
    site.write_text(
        "import course_utils.lessons, course_utils.oracles.oracle\n"
        f"course_utils.lessons.__path__[:] = [{str(root / 'lessons')!r}]\n"
        f"course_utils.oracles.__path__.append({str(root / 'oracles')!r})\n",
        encoding="utf-8",
    )
