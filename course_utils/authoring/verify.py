"""Verify: the promises every lesson keeps, one line a fault with the file, the place and the remedy."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager, suppress
from functools import partial
from multiprocessing import get_context
from pathlib import Path

import nbformat
import torch
from nbformat import NotebookNode

from course_utils.authoring.attempts import Attempt, attempts_at, bank_path
from course_utils.authoring.claims import not_run
from course_utils.authoring.files import AuthoringError, chosen, shown, solved_path
from course_utils.authoring.notebooks import DIFFICULTY, student_notebook
from course_utils.authoring.repository import NOWHERE
from course_utils.authoring.source import Source, SourceCell, first_words, headings, parse, read
from course_utils.authoring.unworded import unwritten
from course_utils.checks.effects import endless_loop
from course_utils.checks.judge import answers_of, judge, mistakes_of, seen_of
from course_utils.exercise import Exercise, Verdict
from course_utils.learner import all_cases, evaluate
from course_utils.lessons import exercise as find_exercise
from course_utils.lessons import lesson as find_lesson
from course_utils.lessons.declare import SITTING, Lesson, Question

POINTS = 100
"""Points of every lesson."""
RIGHT, WRONG, HINTS = 5, 6, 3
"""Fewest right attempts, wrong attempts and hints an exercise may have."""
Part = tuple[int, int]
"""In which of how many parts of the exercises mistakes and attempts are judged: (2, 3) is every third one, from the
second on."""
WHOLE: Part = (1, 1)
SEEDS = (0, 20261)
"""The learner's own cases, and others, as a grader draws them."""
LOOP_LIMIT = 0.5
"""Seconds a case for attempts that are about the time limit."""
WORDS_A_MINUTE = 150
"""How fast learners read a notebook that they run as they go, code included: measured on the first ones."""
PAUSE = re.compile(r"^> \*\*Pause\.\*\*", re.MULTILINE)
LAST_SECTIONS = ("True or false", "Summary", "What comes next")
COLUMNS = 78
"""What JupyterLab shows of a printed line on a page of 800 pixels; of a longer one it breaks the last word in two."""
FACT = re.compile(r"^> \*\*Fact\.\*\*", re.MULTILINE)
_IMG = re.compile(r"<img\b[^>]*>", re.IGNORECASE)
_ALT = re.compile(r"""\balt\s*=\s*(?:"[^"]*\S[^"]*"|'[^']*\S[^']*')""")
_QUESTION_CALLS = ("predict", "compare", "quiz")


def verify(root: Path, only: list[int], part: Part = WHOLE) -> int:
    """See `course_utils.authoring.verify_command`."""
    lessons = chosen(only)
    faults = 0
    for fault in _faults_of_all(root, lessons, part):
        faults += 1
        print(fault, flush=True)
    if not faults:
        exercises = sum(len(lesson.exercises) for lesson in lessons)
        kept = "every promise is kept"
        if part != WHOLE:
            kept += f"; mistakes and attempts were judged in part {part[0]} of {part[1]} of the exercises"
        print(f"{len(lessons)} lesson{'s' * (len(lessons) != 1)}, {exercises} exercises: {kept}")
    return 1 if faults else 0


def _faults_of_all(root: Path, lessons: list[Lesson], part: Part) -> Iterator[str]:
    """The broken promises of all lessons in order; exercises are run two at a time."""
    identifiers = [exercise.id for lesson in lessons for exercise in lesson.exercises]
    with _run_by_two(len(identifiers)) as run:
        whole = set(identifiers[part[0] - 1 :: part[1]])
        judged = {identifier: run(_faults_of_one, root, identifier, identifier in whole) for identifier in identifiers}
        for lesson in lessons:
            try:
                source = read(root, lesson)
            except AuthoringError as error:
                yield str(error)
                continue
            for exercise in lesson.exercises:
                yield from judged[exercise.id]()
            yield from _faults_of_lesson(root, source, lesson)


@contextmanager
def _run_by_two(tasks: int) -> Iterator[Callable[..., Callable[[], list[str]]]]:
    """What starts a task and gives back how to wait for its result. One task alone needs no other process."""
    if tasks < 2:
        yield partial
        return
    # A fresh interpreter each: a process that has run torch on several threads must not fork.
    with ProcessPoolExecutor(2, get_context("spawn"), torch.set_num_threads, (1,)) as pool:
        yield lambda *task: pool.submit(*task).result


def _faults_of_one(root: Path, identifier: str, whole: bool) -> list[str]:
    """Each broken promise of an exercise; only if `whole`, its mistakes and attempts are judged."""
    exercise = find_exercise(identifier)
    try:
        return list(_exercise(root, read(root, find_lesson(exercise.lesson)), exercise, whole))
    except AuthoringError:
        return []  # it is said once, of the lesson


def _faults_of_lesson(root: Path, source: Source, lesson: Lesson) -> Iterator[str]:
    """Each broken promise of a lesson as a whole, as one line."""
    declared = f"course_utils/lessons/lesson{lesson.number}/__init__.py"
    if lesson.points != POINTS:
        yield f"{declared}: the points add up to {lesson.points}; share out {POINTS}"
    yield from _registry(source, declared, lesson)
    yield from _strays(root, lesson)
    yield from _order(source)
    yield from _facts(source)
    yield from not_run(source)
    yield from _minutes(source, declared, lesson)
    yield from _outputs(root, lesson)


# ------------------------------------------------------------------ one exercise


def _exercise(root: Path, source: Source, exercise: Exercise, whole: bool) -> Iterator[str]:
    declared = f"course_utils/lessons/lesson{exercise.lesson}/{exercise.name}/task.py"
    place = f"{source.file}: exercise {exercise.id}"
    cell = source.exercise_cell(exercise.id)
    if cell is None:
        yield f'{place}: has no cell; write one marked exercise="{exercise.id}"'
        return
    if exercise.difficulty not in DIFFICULTY:
        yield f"{declared}: exercise {exercise.id}: difficulty {exercise.difficulty}; use 1 to 5"
        return
    yield from _signature(place, cell, exercise)
    left = list(unwritten(root, exercise))
    yield from left
    if left:
        return  # nothing of a stranger's code is run before somebody wrote its words, and so has read it
    judged = list(_judged(exercise, whole))
    yield from judged
    if judged:
        return
    for seed in SEEDS:
        stub = _evaluate(source, cell, exercise, _stub_text(source, cell, exercise), seed)
        if stub != "not attempted" and not cell.broken_stub:
            yield f"{place}: the stub is {stub}; it must be not attempted, so let it return ..."
        solved = _evaluate(source, cell, exercise, cell.solution, seed)
        if solved != "passed":
            yield f"{place}: the solution is {solved} at seed {seed}; mend the solution or the check"
    yield from _hints(declared, cell, exercise)
    yield from _bank(root, exercise, whole)


def _stub_text(source: Source, cell: SourceCell, exercise: Exercise) -> str:
    notebook = student_notebook(Source(source.file, (_title(), cell)), find_lesson(exercise.lesson), NOWHERE)
    wanted = f"exercise-{exercise.id.replace('.', '-')}"
    text: str = next(item.source for item in notebook.cells if item.id == wanted)
    return text


def _title() -> SourceCell:
    return SourceCell("markdown", "# Title")


def _evaluate(source: Source, cell: SourceCell, exercise: Exercise, text: str, seed: int) -> str:
    """The outcome of the code of a cell, with a name for what went wrong."""
    space: dict[str, object] = {}
    try:
        exec(source.imports_before(cell), space)
        exec(compile(text, f"<exercise {exercise.id}>", "exec"), space)
    except Exception as error:  # an author's cell may raise anything; the line below says it
        return f"code that raises {type(error).__name__}: {error}"
    if exercise.name not in space:
        return f"code that defines no {exercise.name}"
    verdict = evaluate(exercise.id, space[exercise.name], seed=seed)
    return verdict.outcome if not verdict.faults else f"{verdict.outcome} ({_names(verdict)})"


def _names(verdict: Verdict) -> str:
    """What the check said of the first fault, for an author."""
    if not verdict.faults:
        return "no name"
    first = verdict.faults[0]
    return " or ".join(words.id for words in first.mistakes) or "; ".join(first.certain) or "no name"


def _signature(place: str, cell: SourceCell, exercise: Exercise) -> Iterator[str]:
    defined = [
        node
        for node in parse(cell.text).body
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name == exercise.name
    ]
    if len(defined) != 1:
        yield f"{place}: defines {exercise.name} {len(defined)} times; define it once"
        return
    node = defined[0]
    if not ast.get_docstring(node):
        yield f"{place}: {exercise.name} has no docstring; say what it takes and gives"
    shown_in_goal = re.search(rf"`{exercise.name}\((.*?)\)`", exercise.goal)
    if isinstance(node, ast.FunctionDef) and (
        shown_in_goal is None or _arguments(parse(f"def f({shown_in_goal[1]}): ...").body[0]) != _arguments(node)
    ):
        yield f"{place}: the goal does not show `{exercise.name}({_arguments(node)})`; make text and code agree"


def _arguments(node: ast.stmt) -> str:
    return ast.unparse(node.args) if isinstance(node, ast.FunctionDef) else ""


def _hints(declared: str, cell: SourceCell, exercise: Exercise) -> Iterator[str]:
    place = f"{declared}: exercise {exercise.id}"
    if len(exercise.hints) < HINTS or len(set(exercise.hints)) != len(exercise.hints):
        yield f"{place}: {len(set(exercise.hints))} different hints; write at least {HINTS}, from nudge to near answer"
    if not all(hint.strip() for hint in exercise.hints):
        yield f"{place}: an empty hint; write it or take it out"
    lines = {_squeezed(line) for line in cell.region("SOLUTION").split("\n")}
    for number, hint in enumerate(exercise.hints, 1):
        given = next((line for line in lines if len(line) >= 20 and line in _squeezed(hint)), None)
        if given:
            yield f"{place}: hint {number} gives a line of the solution away; describe the idea instead"


def _squeezed(text: str) -> str:
    return re.sub(r"\s+", "", text)


def _judged(exercise: Exercise, whole: bool) -> Iterator[str]:
    """The right answer passes on every seed, and each mistake, run as code, gets its own name."""
    folder = f"course_utils/lessons/lesson{exercise.lesson}/{exercise.name}"
    try:
        right, mistakes = answers_of(exercise.home).right, mistakes_of(exercise.home)
    except Exception as error:  # an author's module may raise anything
        yield f"{folder}: answers or mistakes cannot be loaded ({type(error).__name__}: {error}); mend them"
        return
    for seed in SEEDS:
        verdict = evaluate(exercise.id, right, seed=seed)
        numbers = [fault for fault in verdict.faults if not fault.rule]  # how it is done may break a rule about how
        if numbers:
            yield f"{folder}/answers.py: the right answer fails at seed {seed} ({_names(verdict)}); mend it"
            return
    for one in mistakes if whole else ():  # the other seed is the business of the bank, which makes every mistake
        for number, form in enumerate(one.forms):
            cases = all_cases(exercise)  # what it leaves is kept, for the attempts of the bank to be compared with
            verdict = judge(exercise, cases, [seen_of(exercise, one, number, case) for case in cases])
            named = [words.id for words in verdict.faults[0].mistakes] if verdict.faults else []
            if one.id not in named:
                yield (
                    f"{folder}/mistakes.py: {one.id} ({form.__name__}) is called {_names(verdict)}; "
                    "add a case that tells them apart, or mend its code"
                )


def _bank(root: Path, exercise: Exercise, whole: bool) -> Iterator[str]:
    place = bank_path(root, exercise).relative_to(root).as_posix()
    try:
        bank = attempts_at(root, exercise)
    except AuthoringError as error:
        yield str(error)
        return
    right = [attempt for attempt in bank if attempt.mark == "right"]
    named = [attempt for attempt in bank if attempt.mark == "wrong" and attempt.mistakes]
    different = len({_shape(attempt) for attempt in right})
    if different < RIGHT:
        yield f"{place}: {different} different right attempts; write at least {RIGHT}"
    if len(named) < WRONG:
        yield f"{place}: {len(named)} wrong attempts with a mistake; write at least {WRONG}"
    for attempt in bank if whole else ():
        verdict = evaluate(exercise.id, attempt.code, seed=SEEDS[0], limit=limit_of(attempt))
        if not attempt.agrees(verdict):
            file = shown(root, attempt.path)
            yield (
                f"{file}: {attempt.name}: the check says {verdict.outcome} ({_names(verdict)}) at seed {SEEDS[0]}; "
                "mend the check, or the mark above it"
            )
    met = {name for attempt in bank for name in attempt.mistakes}
    for one in mistakes_of(exercise.home):
        if one.id not in met:
            yield f"{place}: no attempt makes the mistake {one.id}; write one, or take the mistake out"


def limit_of(attempt: Attempt) -> float:
    """Seconds a case: short where the time limit is what the attempt is about."""
    return LOOP_LIMIT if attempt.mistakes == (endless_loop.id,) else 30.0


def _shape(attempt: Attempt) -> str:
    """The code of an answer without its name, comments and docstring: what makes two answers the same."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(attempt.code)))
    except (OSError, TypeError, SyntaxError):
        return attempt.name
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            if node is tree.body[0]:
                node.name = ""
            if ast.get_docstring(node):
                node.body = node.body[1:]
    return ast.dump(tree)


# ------------------------------------------------------------------ the lesson as a whole


def _registry(source: Source, declared: str, lesson: Lesson) -> Iterator[str]:
    """Every exercise and question that is declared stands in the text once, and nothing else does."""
    used = Counter(cell.exercise for cell in source.cells if cell.exercise)
    for identifier, count in used.items():
        if identifier not in {exercise.id for exercise in lesson.exercises} or count > 1:
            yield f"{source.file}: exercise {identifier} stands there {count} times; declare it once in {declared}"
    declared_order = [exercise.id for exercise in lesson.exercises]
    in_text = [cell.exercise for cell in source.cells if cell.exercise in declared_order]
    if len(set(in_text)) == len(in_text) and in_text != [name for name in declared_order if name in in_text]:
        yield f"{source.file}: the exercises stand in the order {', '.join(in_text)}; keep the order of {declared}"
    in_order = [call for cell in source.cells if cell.kind == "code" for call in _question_calls(cell.text)]
    calls = Counter(in_order)
    wanted = []
    for question in lesson.questions:
        names = ("predict", "compare") if question.kind == "prediction" else ("quiz",)
        wanted += [(name, question.id) for name in names]
        yield from _question_text(declared, question)
    for name, identifier in wanted:
        if calls[name, identifier] != 1:
            yield f'{source.file}: {name}("{identifier}") stands there {calls[name, identifier]} times; call it once'
            continue
        if name == "compare" and ("predict", identifier) in in_order[in_order.index((name, identifier)) :]:
            yield f'{source.file}: compare("{identifier}") comes before its predict; ask first'
    for name, identifier in sorted(calls.keys() - set(wanted)):
        yield f'{source.file}: {name}("{identifier}") is not declared; declare it in questions.py of the lesson'


def _question_text(declared: str, question: Question) -> Iterator[str]:
    choices, reasons = question.choices, question.because or {}
    if len(choices) < 2:
        yield f"{declared}: question {question.id} has {len(choices)} choices; give at least two"
    if question.kind == "quiz" and (question.answer not in choices or set(reasons) != set(choices)):
        yield f"{declared}: quiz {question.id} needs an answer among its choices and a reason for each choice"


def _question_calls(text: str) -> Iterator[tuple[str, str]]:
    for node in ast.walk(parse(text)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _QUESTION_CALLS:
            if node.args and isinstance(node.args[0], ast.Constant):
                if node.func.id == "compare" and len(node.args) > 1 and isinstance(node.args[1], ast.Constant):
                    yield "compare with a constant answer", str(node.args[0].value)
                yield node.func.id, str(node.args[0].value)


def _strays(root: Path, lesson: Lesson) -> Iterator[str]:
    """Modules of attempts whose exercise is not declared, and that no declared one shares."""
    known = {bank_path(root, exercise) for exercise in lesson.exercises}
    for exercise in lesson.exercises:
        with suppress(AuthoringError):  # said of the exercise
            known |= {attempt.path for attempt in attempts_at(root, exercise)}
    for path in sorted((root / "tests" / "attempts" / f"lesson{lesson.number}").glob("*.py")):
        if path not in known:
            yield f"{shown(root, path)}: there is no exercise {path.stem}; declare it or rename the file"


def _order(source: Source) -> Iterator[str]:
    found = [
        text for cell in source.cells if cell.kind == "markdown" for level, text in headings(cell.text) if level == 2
    ]
    last = tuple(found[-len(LAST_SECTIONS) :])
    if last != LAST_SECTIONS:
        yield f"{source.file}: the last sections are {', '.join(last)}; they must be {', '.join(LAST_SECTIONS)}"


def _facts(source: Source) -> Iterator[str]:
    """A claim marked as a fact is followed by a cell that asserts or prints it."""
    for index, cell in enumerate(source.cells):
        if cell.kind != "markdown" or not FACT.search(cell.text):
            continue
        after = next((later for later in source.cells[index + 1 :] if later.kind == "code"), None)
        if after is None or not _shows_something(after.text):
            claim = first_words(cell.text[FACT.search(cell.text).start() :])  # type: ignore[union-attr]
            yield f'{source.file}: "{claim}": the next code cell shows nothing; assert or print the fact there'


def _minutes(source: Source, declared: str, lesson: Lesson) -> Iterator[str]:
    """The minutes are those that reading takes, and a long lesson says where to stop for the day."""
    words = sum(len(cell.text.split()) for cell in source.cells if not cell.exercise)
    reading = max(1, round(words / WORDS_A_MINUTE))
    if abs(reading - lesson.reading_minutes) > max(2, reading / 10):
        yield f"{declared}: reading_minutes={lesson.reading_minutes}; {words} words take about {reading} minutes"
    pauses = sum(len(PAUSE.findall(cell.text)) for cell in source.cells if cell.kind == "markdown")
    if pauses != lesson.sittings - 1:
        yield f"{source.file}: {lesson.minutes} minutes and {pauses} marked with '> **Pause.**'; pause every {SITTING}"


def _shows_something(text: str) -> bool:
    nodes = list(ast.walk(parse(text)))
    called = {node.func.id for node in nodes if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}
    return any(isinstance(node, ast.Assert) for node in nodes) or bool(called & {"print", "compare", "show", "display"})


def _outputs(root: Path, lesson: Lesson) -> Iterator[str]:
    path = solved_path(root, lesson)
    if not path.is_file():
        yield f"{shown(root, path)}: missing; run: course build {lesson.number}"
        return
    notebook = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            if _is_picture(output) and not _alternative(output):
                yield f"{shown(root, path)}: cell {cell.id}: no alternative text; use figures.show(fig, alt=...)"
            if output.output_type == "stream":
                longest = max(output.text.split("\n"), key=len)
                if len(longest) > COLUMNS:
                    yield (
                        f"{shown(root, path)}: cell {cell.id}: prints {len(longest)} columns, "
                        f'"{first_words(longest)}"; {COLUMNS} fit the page'
                    )
            if output.output_type == "error":
                yield f"{shown(root, path)}: cell {cell.id}: raises {output.ename}; run: course build {lesson.number}"


def _is_picture(output: NotebookNode) -> bool:
    data = output.get("data", {})
    return any(kind.startswith("image/") for kind in data) or bool(_IMG.search(data.get("text/html", "")))


def _alternative(output: NotebookNode) -> bool:
    """Whether every picture of an output says what is seen: in its metadata, or in the img elements of its HTML."""
    data, metadata = output.get("data", {}), output.get("metadata", {})
    named = all(metadata.get(kind, {}).get("alt", "").strip() for kind in data if kind.startswith("image/"))
    return named and all(_ALT.search(tag) for tag in _IMG.findall(data.get("text/html", "")))
