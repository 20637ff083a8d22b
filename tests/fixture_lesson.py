"""A lesson of one exercise, in files of its own, for tests of what builds and verifies lessons."""

from __future__ import annotations

import sys
from pathlib import Path

import course_utils.lessons
from course_utils.checks.judge import left

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
    "course_utils/lessons/lesson9/__init__.py": """
from course_utils.lessons.declare import Lesson, Question, exercises_of

ASK = Question("9.a", "prediction", "What is twice 2?", {"a": "4", "b": "22"})
EXERCISES = exercises_of(
    __name__,
    {
        "double": 100,
    },
)
LESSON = Lesson(9, "09_doubling", "Doubling", EXERCISES, (ASK,), 1)
""",
    "course_utils/lessons/lesson9/double/__init__.py": "",
    "course_utils/lessons/lesson9/double/task.py": """
from course_utils.exercise import Arrangement, Case, Exercise
from course_utils.lessons.inputs import Draw, cases

def _cases(seed):
    return cases(seed, [("three numbers", {"n": 3}), ("one number", {"n": 1})])

def _arrange(case):
    x = Draw(case).normal(case.spec["n"])
    return Arrangement((x,), watch={"x": x})

EXERCISE = Exercise(
    id="9.1", name="double", title="Twice as much", difficulty=2, minutes=7,
    goal="Write `double(x)`: twice the tensor.", cases=_cases, arrange=_arrange,
    hints=("Look at one entry.", "What makes 3 into 6?", "One multiplication is enough."), rules=("No loops.",),
)
""",
    "course_utils/lessons/lesson9/double/answers.py": """
import torch
from course_utils.checks.answers import Answers

def right(x):
    return 2 * x

ANSWERS = Answers(right)
""",
    "course_utils/lessons/lesson9/double/mistakes.py": """
import torch
from course_utils.checks.mistakes import mistake

@mistake("The sign is flipped", "Every number has the other sign.", "Look for a minus.")
def sign_flipped(x):
    return -2 * x

@mistake("As it was", "Nothing was doubled.", "Multiply.")
def as_it_was(x):
    return x.clone()

@mistake("Twice twice", "Every number is four times what came in.", "Double once.")
def twice_twice(x):
    return 4 * x
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
# ## True or false
#
# > **Fact.** Adding a tensor to itself doubles it.

# %%
print((torch.ones(2) + torch.ones(2)).tolist())

# %% [markdown]
# ### In the wild
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

BANK = "tests/attempts/lesson9/double.py"
ATTEMPTS = """
from course_utils.authoring.attempts import raised, right, wrong
from course_utils.checks import effects
from course_utils.lessons.lesson9.double import mistakes


@right
def added(x):
    return x + x

@right
def multiplied(x):
    return 2 * x

@right
def taken_away(x):
    return x - (-x)

@right
def halved_away(x):
    return x / 0.5

@right
def shifted(x):
    return x + 1 * x

@wrong(mistakes.sign_flipped)
def minus(x):
    return -2 * x

@wrong(mistakes.as_it_was)
def identity(x):
    return x * 1

@wrong(mistakes.twice_twice)
def four(x):
    return 4 * x

@wrong(mistakes.twice_twice)
def four_again(x):
    return x + x + x + x

@wrong(effects.returned_nothing)
def silent(x):
    x + x

@wrong(effects.wrong_dtype)
def single(x):
    return 2 * x.float()

@wrong(says="3 times what it should be")
def six(x):
    return 6 * x

@raised(effects.undefined_name)
def misspelled(x):
    return 2 * y
"""


def write_clone(root: Path) -> None:
    """Put the files of the fixture lesson, its registry and its bank of attempts under `root`."""
    for name, text in (FILES | {BANK: ATTEMPTS}).items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.lstrip("\n"), encoding="utf-8")
    # What the kernel runs first, so that it finds the fixture lesson where the test process does.
    site = root / "site" / "sitecustomize.py"
    site.parent.mkdir()
    site.write_text(
        "import course_utils.lessons\n"
        f"course_utils.lessons.__path__.insert(0, {str(root / 'course_utils' / 'lessons')!r})\n",
        encoding="utf-8",
    )


def forget() -> None:
    """Let the registry and the judge read the fixture lesson anew."""
    for known in (course_utils.lessons.lesson, course_utils.lessons.lessons, left.answers_of, left.mistakes_of):
        known.cache_clear()
    left._seen.clear()
    left._parted.clear()
    for name in [name for name in sys.modules if name.startswith("course_utils.lessons.lesson9")]:
        sys.modules.pop(name)
    course_utils.lessons.__dict__.pop("lesson9", None)
