"""`course …`: one command for learners (lab, reset, doctor, audit), authors (build, verify, new-exercise), instructors.

Subcommands import what they need when they run, so that `course doctor` can tell what is wrong with
an environment in which little else works.
"""

from __future__ import annotations

import argparse
import contextlib
import re
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from course_utils.workbook import find_repository
from gradient_ledger.audit import (
    COULD_NOT_RUN,
    DESCRIPTION,
    add_arguments,
    audit,
    nobody_reads,
    read_options,
    where_arguments_stand,
)
from gradient_ledger.errors import UserError

EXTRAS = {
    "author": frozenset({"jupytext", "nbformat", "nbclient", "nbgrader", "tomli"}),
    "grading": frozenset({"safetensors", "tqdm"}),
    "dask": frozenset({"distributed"}),
}
"""Modules by the extra that brings them."""

USAGE = 2
"""Exit status of a command that could not start; argparse's own for a wrong command line."""


@dataclass(frozen=True)
class Command:
    """One subcommand: its name, its help, its arguments and what it runs."""

    name: str
    summary: str
    description: str
    arguments: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], int]
    room: str = ""
    """The room of the package that it needs. A release for learners has neither `authoring` nor `grading`."""

    @property
    def is_here(self) -> bool:
        return (Path(__file__).parent / self.room).is_dir()


def main(argv: Sequence[str] | None = None) -> int:
    """Run `course` with `argv` (by default the process's own arguments) and return its exit status.

    0: done. 1: it ran and found something wrong, or could not do what was asked. 2: the command
    line is wrong, or something the command needs is not installed. 130: interrupted.
    """
    arguments, extra = _split(list(sys.argv[1:] if argv is None else argv))
    parser = _parser()
    options, unknown = parser.parse_known_args(arguments)
    if unknown:
        advice = where_arguments_stand("course audit") if options.command.name == "audit" else ""
        options.parser.error(f"unrecognized arguments: {' '.join(unknown)}{advice}")
    options.own_process = argv is None
    if extra and options.command.name not in ("lab", "audit"):
        parser.error(f"course {options.command.name} takes nothing after --")
    options.extra = extra
    try:
        return int(options.command.run(options))
    except UserError as error:
        return _complain(str(error), 1)
    except ModuleNotFoundError as error:
        module = (error.name or "").split(".")[0]
        extra_of = {known: name for name, modules in EXTRAS.items() for known in modules}
        if module in extra_of:
            advice = f'python -m pip install -c constraints.txt -e ".[{extra_of[module]}]"'
            return _complain(f"course {options.command.name} needs {module}: run `{advice}` in the repository", USAGE)
        if not module or module == __package__:
            raise  # a fault of this package, not of the environment
        return _complain(f"{module} is not installed: `course doctor` says how to mend this environment", USAGE)
    except KeyboardInterrupt as error:
        return _complain(str(error) or "interrupted", 130)
    except BrokenPipeError:
        nobody_reads(sys.stdout)
        return 1


def _complain(message: str, status: int) -> int:
    print(f"course: {' '.join(message.split())}", file=sys.stderr)
    return status


def _split(arguments: list[str]) -> tuple[list[str], list[str]]:
    """The arguments before and after the first `--`."""
    if "--" not in arguments:
        return arguments, []
    at = arguments.index("--")
    return arguments[:at], arguments[at + 1 :]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="course",
        description="The Gradient Ledger: work on the notebooks, check the environment, build and verify the lessons.",
        epilog="`course COMMAND --help` says more about one command.",
    )
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    for command in filter(lambda one: one.is_here, COMMANDS):
        sub = commands.add_parser(command.name, help=command.summary, description=command.description)
        command.arguments(sub)
        sub.set_defaults(command=command, parser=sub)
    return parser


# ------------------------------------------------------------------ kinds of argument


def _lesson(text: str) -> int:
    if not re.fullmatch(r"\d{1,2}", text) or int(text) == 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not the number of a lesson, such as 3")
    return int(text)


def _port(text: str) -> int:
    if not text.isdigit() or not 0 < int(text) < 65536:
        raise argparse.ArgumentTypeError(f"{text!r} is not a port: a number from 1 to 65535")
    return int(text)


def _exercise_id(text: str) -> str:
    if not re.fullmatch(r"[1-9]\d?\.[1-9]\d?", text):
        raise argparse.ArgumentTypeError(f"{text!r} is not an exercise's number, such as 2.7")
    return text


def _points(text: str) -> tuple[str, int]:
    found = re.fullmatch(r"([1-9]\d?\.[1-9]\d?)=(\d{1,3})", text)
    if not found:
        raise argparse.ArgumentTypeError(f"{text!r} gives no exercise its points: write 3.1=20, a whole number")
    return found[1], int(found[2])


def _function_name(text: str) -> str:
    if not re.fullmatch(r"[a-z][a-z0-9_]*", text):
        raise argparse.ArgumentTypeError(f"{text!r} is not a function's name: lower-case words joined by underscores")
    return text


# ------------------------------------------------------------------ the commands


def _lab_arguments(parser: argparse.ArgumentParser) -> None:
    parser.usage = "course lab [-h] [--no-browser] [--port N] [-- JUPYTER ARGUMENTS]"
    parser.add_argument("--no-browser", action="store_true", help="print the address instead of opening a browser")
    parser.add_argument("--port", type=_port, metavar="N", help="listen on this port of localhost")


def _lab(options: argparse.Namespace) -> int:
    from course_utils.workbook import lab_command

    return lab_command(find_repository(), browser=not options.no_browser, port=options.port, extra=options.extra)


def _reset_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("lesson", type=_lesson, metavar="N", help="the number of the lesson, 1 for 01_….ipynb")
    parser.add_argument("--record", action="store_true", help="begin the record of its points and answers anew, too")


def _reset(options: argparse.Namespace) -> int:
    from course_utils.workbook import reset_command

    return reset_command(find_repository(), options.lesson, clear_record=options.record)


def _no_arguments(parser: argparse.ArgumentParser) -> None:
    pass


def _doctor(options: argparse.Namespace) -> int:
    from course_utils.doctor import doctor_command

    return doctor_command()


def _lessons_argument(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("lessons", type=_lesson, nargs="*", metavar="LESSON", help="only these lessons; default: all")


def _build_arguments(parser: argparse.ArgumentParser) -> None:
    _lessons_argument(parser)
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if a committed notebook is stale")
    parser.add_argument(
        "--repository",
        metavar="OWNER/NAME",
        help="where badges and the set-up cell lead: a repository on GitHub, a git URL, a folder, or '' for nowhere; "
        "default: [tool.course] repository in pyproject.toml",
    )


@contextlib.contextmanager
def _authoring_faults() -> Iterator[None]:
    """Authoring names an author's mistakes by its own exception; here they become lines for the user."""
    from course_utils.authoring.files import AuthoringError

    try:
        yield
    except AuthoringError as error:
        raise UserError(str(error)) from error


def _build(options: argparse.Namespace) -> int:
    from course_utils.authoring import build_command

    only = sorted(set(options.lessons))
    with _authoring_faults():
        return build_command(find_repository(), check=options.check, repository=options.repository, only=only)


def _verify_arguments(parser: argparse.ArgumentParser) -> None:
    _lessons_argument(parser)
    parser.add_argument(
        "--part",
        type=_part,
        default=(1, 1),
        metavar="K/N",
        help="judge the mistakes and attempts of every N-th exercise, from the K-th on (default: of all of them)",
    )


def _part(text: str) -> tuple[int, int]:
    number, _, parts = text.partition("/")
    if not (number.isdecimal() and parts.isdecimal() and 1 <= int(number) <= int(parts)):
        raise argparse.ArgumentTypeError(f"{text!r} is no part: say for instance 2/3, the second of three")
    return int(number), int(parts)


def _verify(options: argparse.Namespace) -> int:
    from course_utils.authoring import verify_command

    with _authoring_faults():
        return verify_command(find_repository(), sorted(set(options.lessons)), options.part)


def _new_exercise_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("identifier", type=_exercise_id, metavar="LESSON.NUMBER", help="its number, such as 2.7")
    parser.add_argument("name", type=_function_name, metavar="NAME", help="the function a learner writes")


def _new_exercise(options: argparse.Namespace) -> int:
    from course_utils.authoring import new_exercise_command

    with _authoring_faults():
        return new_exercise_command(find_repository(), options.identifier, options.name)


def _audit(options: argparse.Namespace) -> int:
    try:
        return audit(read_options(options), options.extra, own_process=options.own_process)
    except UserError as error:
        return _complain(str(error), COULD_NOT_RUN)


def _release_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--out", type=Path, required=True, metavar="FOLDER", help="a new folder, or an empty one")
    parser.add_argument(
        "--lesson", type=_lesson, nargs="+", action="extend", default=[], metavar="N", help="only these; default: all"
    )
    parser.add_argument(
        "--points",
        type=_points,
        nargs="+",
        action="extend",
        default=[],
        metavar="3.1=20",
        help="other points than the lesson declares",
    )
    parser.add_argument(
        "--seed", default="", metavar="TEXT", help="draws the cases that learners see; the grader's own is another one"
    )


def _release(options: argparse.Namespace) -> int:
    from course_utils.authoring.release import choose_terms, describe, release

    terms = choose_terms(options.lesson, dict(options.points), options.seed)
    print(describe(options.out, release(find_repository(), options.out, terms)))
    return 0


def _count(text: str) -> int:
    if not text.isdigit() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a count: a number from 1")
    return int(text)


def _grade_arguments(parser: argparse.ArgumentParser) -> None:
    parser.usage = (
        "course grade SUBMISSIONS --out GRADEBOOK [--course FOLDER] [--roster CSV] [--lesson N] [--student ID]\n"
        "       [--regrade] [--seed TEXT] [--jobs N] [--engine dask --scheduler ADDRESS] [--isolation none]\n"
        '       course grade --out GRADEBOOK --comment CLUSTER "TEXT"'
    )
    parser.add_argument("submissions", nargs="?", metavar="SUBMISSIONS", help="a folder, or a zip, of notebooks")
    parser.add_argument("--out", required=True, metavar="GRADEBOOK", help="the folder for marks, pages and the report")
    parser.add_argument("--roster", metavar="CSV", help="a list of the students, with a column of ids, logins or names")
    parser.add_argument("--lesson", type=_lesson, action="append", default=[], metavar="N", help="only this lesson")
    parser.add_argument("--student", action="append", default=[], metavar="ID", help="only this student")
    parser.add_argument(
        "--regrade", action="store_true", help="grade again what is graded, with other options if given"
    )
    parser.add_argument("--seed", metavar="TEXT", help="what the cases are drawn from; by default a secret of the run")
    parser.add_argument(
        "--course", metavar="FOLDER", help="your own course from `course release`: its lessons, its points"
    )
    parser.add_argument("--jobs", type=_count, default=0, metavar="N", help="processes that grade; default: the cores")
    parser.add_argument("--engine", choices=("local", "dask"), default="local", help="this machine, or a Dask cluster")
    parser.add_argument("--scheduler", default="", metavar="ADDRESS", help="of the Dask cluster: tcp://HOST:8786")
    parser.add_argument(
        "--isolation",
        choices=("bubblewrap", "none"),
        default="bubblewrap",
        help="none runs their code as you, with all that you may do: for your own notebooks alone",
    )
    parser.add_argument(
        "--comment", nargs=2, metavar=("CLUSTER", "TEXT"), help="put your words on all wrong answers of a cluster"
    )


def _grade(options: argparse.Namespace) -> int:
    if (options.engine == "dask") != bool(options.scheduler):
        raise UserError("--engine dask and --scheduler ADDRESS go together")
    if bool(options.comment) == bool(options.submissions):
        raise UserError("give the folder of submissions, or --comment: `course grade --help` shows both")
    with _ended_by_interrupt(options.own_process):
        from course_utils.grading import command

    if options.comment:
        return command.comment_command(Path(options.out), *options.comment)
    return command.grade_command(
        command.Options(
            Path(options.submissions),
            Path(options.out),
            roster=Path(options.roster) if options.roster else None,
            course=Path(options.course) if options.course else None,
            lessons=tuple(options.lesson),
            students=tuple(options.student),
            regrade=options.regrade,
            seed=options.seed,
            jobs=options.jobs,
            scheduler=options.scheduler,
            isolation=options.isolation,
        )
    )


@contextlib.contextmanager
def _ended_by_interrupt(own_process: bool) -> Iterator[None]:
    """Ctrl-C ends the process at once meanwhile: torch, while it is imported, may swallow a `KeyboardInterrupt`.

    Afterwards the end of the terminal, and being told to end, are an interrupt like Ctrl-C: all is put in order.
    """
    if not own_process:
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:  # not under nohup
            signal.signal(number, signal.default_int_handler)


def _new_mistake_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("cluster", metavar="CLUSTER", help="as the class report calls it")
    parser.add_argument("--out", required=True, metavar="GRADEBOOK", help="the gradebook that the report is of")


def _new_mistake(options: argparse.Namespace) -> int:
    from course_utils.grading.command import new_mistake_command

    return new_mistake_command(Path(options.out), options.cluster, find_repository())


def _export_arguments(parser: argparse.ArgumentParser) -> None:
    tools = parser.add_subparsers(metavar="TOOL", dest="tool", required=True)

    def tool(name: str, summary: str) -> argparse.ArgumentParser:
        one = tools.add_parser(name, help=summary, description=summary)
        one.add_argument("--lesson", type=_lesson, required=True, metavar="N", help="the lesson that is marked there")
        one.add_argument("--out", type=Path, required=True, metavar="FILE", help="what is written")
        return one

    gradescope = tool("gradescope", "an autograder to upload to Gradescope")
    github = tool("github-classroom", "a workflow that grades on every push, for GitHub Classroom")
    for one in (gradescope, github):
        one.add_argument("--course", type=Path, metavar="FOLDER", help="your own course from `course release`")
    gradescope.add_argument(
        "--isolation",
        choices=("bubblewrap", "none"),
        default="bubblewrap",
        help="none where Gradescope's container cannot isolate: a submission can then read the answers",
    )
    github.add_argument("--repository", metavar="OWNER/NAME", help="of the course; default: as in pyproject.toml")
    canvas = tool("canvas", "put points into the gradebook that Canvas exported")
    moodle = tool("moodle", "put points and comments into a grading worksheet of Moodle's")
    for one in (canvas, moodle):
        one.add_argument("gradebook", type=Path, metavar="GRADEBOOK", help="what `course grade` wrote")
        one.add_argument("exported", type=Path, metavar="EXPORTED", help="the CSV file as the tool gave it")
        one.add_argument("--scale", action="store_true", help="turn points into those that the assignment has there")
    canvas.add_argument("--assignment", required=True, metavar="NAME", help="the name of the assignment in Canvas")
    moodle.add_argument("--no-comments", action="store_true", help="points alone")


def _export(options: argparse.Namespace) -> int:
    from course_utils.grading import interop

    if options.tool == "gradescope":
        interop.export_gradescope(find_repository(), options.out, options.lesson, options.course, options.isolation)
    elif options.tool == "github-classroom":
        interop.export_github(find_repository(), options.out, options.lesson, options.course, options.repository)
    elif options.tool == "canvas":
        book = (options.gradebook, options.exported, options.out, options.lesson)
        interop.export_canvas(*book, options.assignment, scale=options.scale)
    else:
        book = (options.gradebook, options.exported, options.out, options.lesson)
        interop.export_moodle(*book, scale=options.scale, comments=not options.no_comments)
    return 0


COMMANDS: tuple[Command, ...] = (
    Command(
        "lab",
        "open the notebooks in JupyterLab",
        "Copy the notebooks into workbook/ and open JupyterLab there on the start page. What you changed is never "
        "overwritten; a notebook you have not edited is brought up to date. If a JupyterLab runs there, it is used.",
        _lab_arguments,
        _lab,
    ),
    Command(
        "reset",
        "start one notebook afresh, keeping yours beside it",
        "Rename your notebook of lesson N to NAME.old-1.ipynb (or the next free number) and put the published one in "
        "its place. The record of your points stays, unless --record is given.",
        _reset_arguments,
        _reset,
    ),
    Command(
        "doctor",
        "check this environment and say how to mend it",
        "Print one line a check: Python, torch, the device, matplotlib, widgets, JupyterLab, the kernel, this package, "
        "the record of your progress, the disk. Exit status 1 if any of them failed.",
        _no_arguments,
        _doctor,
    ),
    Command(
        "audit",
        "run your own training script and find its gradient mistakes",
        DESCRIPTION,
        add_arguments,
        _audit,
    ),
    Command(
        "build",
        "make the notebooks from the lesson sources",
        "Write notebooks/*.ipynb and solutions/*.ipynb from solutions/*.py.",
        _build_arguments,
        _build,
        room="authoring",
    ),
    Command(
        "verify",
        "check that every lesson keeps the course's rules",
        "Check the invariants of every exercise: the stub is not attempted, right answers pass, wrong ones fail with "
        "the misconception they were written for, texts and registry agree.",
        _verify_arguments,
        _verify,
        room="authoring",
    ),
    Command(
        "grade",
        "grade a folder of submissions",
        "Run every notebook in a sandbox without network, answers or other submissions, judge what its functions do, "
        "and keep marks, a page a student and a report on the class in GRADEBOOK. What is graded is written at once: "
        "the same command goes on where it was interrupted.",
        _grade_arguments,
        _grade,
        room="grading",
    ),
    Command(
        "new-mistake",
        "turn a cluster of wrong answers into a mistake with a name",
        "Write the skeleton of a mistake, and an attempt that makes it, from one answer of the cluster.",
        _new_mistake_arguments,
        _new_mistake,
        room="grading",
    ),
    Command(
        "new-exercise",
        "write the skeleton of a new exercise",
        "Write the files of a new exercise, each with what is left to fill in.",
        _new_exercise_arguments,
        _new_exercise,
        room="authoring",
    ),
    Command(
        "release",
        "write an instructor's own course, without answers",
        "Write a course of the chosen lessons into FOLDER: student notebooks and the package, no solutions, nothing "
        "that knows an answer. `make lab` there opens it; `course grade --course FOLDER` grades with its points.",
        _release_arguments,
        _release,
        room="authoring",
    ),
    Command(
        "export",
        "put grading, or points, into Gradescope, GitHub Classroom, Canvas or Moodle",
        "Write a file in the format of another tool.",
        _export_arguments,
        _export,
        room="grading",
    ),
)


if __name__ == "__main__":
    sys.exit(main())
