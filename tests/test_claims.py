"""docs/claims.md: every claim has its row, a cell that runs settles it, and `course build` says where."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Literal

import pytest

from course_utils.authoring import build_command, verify_command
from course_utils.authoring.build import assemble, claims_page
from course_utils.authoring.claims import NOT_YET, PAGE, VERDICTS, Row, faults, filled, not_run, rows, settled
from course_utils.authoring.repository import NOWHERE
from course_utils.authoring.source import Source, SourceCell, read
from course_utils.lessons import lesson, lessons
from course_utils.lessons.declare import Lesson

ROOT = Path(__file__).resolve().parent.parent
TEXT = (ROOT / PAGE).read_text(encoding="utf-8")

# Written out, so that a row cannot get lost: with it would go the demand that a lesson settles it.
ZEROING = """
    S0-1 S0-2 S0-3 S0-4 S0-5 S0-6 S0-7 S0-8 S0-9 S0-10 S0-11 S0-12 S0-13 S0-14 S0-15 S0-16 S0-17 S0-18 S0-19 S0-20
    S0-21 S0-22 S0-23 S0-24 S0-25 S0-26 S0-27 S0-28 S0-29 S0-30 S0-31 S0-31b S0-32 S0-33 S0-34 S0-35 S0-36 S0-37
    S0-38 S0-39 S0-40 S0-41 S0-42 S0-43 S0-44 S0-45 S0-46 S0-47 S0-48 S0-48b S0-49 S0-50
""".split()
ACCUMULATION = """
    S1-1 S1-2 S1-3 S1-4 S1-5 S1-6 S1-7 S1-8 S1-9 S1-10 S1-11 S1-12 S1-13 S1-14 S1-15 S1-16 S1-17 S1-18 S1-19 S1-20
    S1-21 S1-22 S1-23 S1-24 S1-25 S1-26 S1-27 S1-28 S1-29 S1-30 S1-31 S1-32 S1-33 S1-34 S1-35 S1-36 S1-37 S1-38
    S1-39 S1-40 S1-41 S1-42 S1-43 S1-44
""".split()
OPTIMIZATION = """
    S2-1 S2-2 S2-3 S2-4 S2-5 S2-6 S2-7 S2-8 S2-9 S2-10 S2-11 S2-12a S2-12b S2-13 S2-14 S2-15 S2-16 S2-17 S2-18
""".split()
MEMORY = """
    S3-1 S3-2 S3-3 S3-4 S3-5 S3-6 S3-7 S3-8 S3-9 S3-10 S3-11 S3-12 S3-13 S3-14 S3-15 S3-16 S3-17 S3-18 S3-19 S3-20
    S3-21 S3-22 S3-23
""".split()
IDS = [*ZEROING, *ACCUMULATION, *OPTIMIZATION, *MEMORY]


def sources(root: Path = ROOT) -> list[tuple[Lesson, Source]]:
    return [(each, read(root, each)) for each in lessons()]


def unsettled(root: Path = ROOT) -> list[str]:
    """The claims that some lesson must settle by now and none does."""
    found = settled(sources(root))
    return [claim for claim in IDS if claim not in found]


def without_row(page: str, claim: str) -> str:
    kept = re.sub(rf"^\| {claim} \|.*\n", "", page, flags=re.MULTILINE)
    assert kept != page
    return kept


# ------------------------------------------------------------------ the page and the lessons as they are


def test_the_rows_are_the_claims_in_their_order() -> None:
    assert [row.id for row in rows(TEXT)] == IDS


def test_a_lesson_settles_every_claim() -> None:
    assert unsettled() == []


def test_rows_are_well_formed_and_every_mark_of_a_lesson_names_one() -> None:
    assert list(faults(TEXT, sources())) == []


@pytest.mark.parametrize("each", lessons(), ids=lambda each: each.slug)
def test_what_settles_a_claim_runs(each: Lesson) -> None:
    assert list(not_run(read(ROOT, each))) == []


def test_links_of_the_page_resolve() -> None:
    heads = {re.sub(r"[^\w\- ]", "", head).lower().replace(" ", "-") for head in re.findall(r"^#+ (.+)$", TEXT, re.M)}
    for target in re.findall(r"\]\(([^)\s]+)\)", TEXT):
        assert target[1:] in heads if target.startswith("#") else (ROOT / "docs" / target).is_file(), target


# ------------------------------------------------------------------ the same with a fault planted, in a copy


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The page and the sources of all lessons, to spoil."""
    for each in ("docs", "solutions"):
        (tmp_path / each).mkdir()
    shutil.copy(ROOT / PAGE, tmp_path / PAGE)
    for script in (ROOT / "solutions").glob("*.py"):
        shutil.copy(script, tmp_path / "solutions")
    return tmp_path


def edit(path: Path, change: Callable[[str], str]) -> None:
    before = path.read_text(encoding="utf-8")
    after = change(before)
    assert after != before
    path.write_text(after, encoding="utf-8")


def test_a_row_that_is_deleted_is_noticed_even_where_no_lesson_settles_it(copy: Path) -> None:
    for claim in ("S0-12", "S1-44"):
        edit(copy / PAGE, partial(without_row, claim=claim))
    ids = [row.id for row in rows((copy / PAGE).read_text(encoding="utf-8"))]
    assert ids != IDS and set(IDS) - set(ids) == {"S0-12", "S1-44"}
    _, found = claims_page(copy, [])
    assert found and all(re.search(r"claim (S0-12|S1-44) has no row in docs/claims.md", line) for line in found)


def test_a_mark_that_is_lost_leaves_its_claim_unsettled(copy: Path) -> None:
    assert "S0-12" not in unsettled(copy)
    for script in (copy / "solutions").glob("*.py"):
        text = script.read_text(encoding="utf-8")
        script.write_text(re.sub(r"\bS0-12\b", "", text), encoding="utf-8")
    assert "S0-12" in unsettled(copy)


def test_a_mark_that_names_no_row_is_a_fault_with_its_cell(copy: Path) -> None:
    script = copy / "solutions" / "01_what_gradients_are.py"
    edit(script, lambda text: text.replace('claims="S0-2 ', 'claims="S0-2 S0-99 '))
    _, found = claims_page(copy, [])
    assert len(found) == 1
    assert found[0].startswith('solutions/01_what_gradients_are.py: cell "') and "claim S0-99 has no row" in found[0]


def test_a_build_of_one_lesson_keeps_what_the_others_settle(copy: Path) -> None:
    whole, found = claims_page(copy, [])
    assert found == []
    one, found = claims_page(copy, [assemble(copy, lesson(1), NOWHERE)])
    assert found == []
    assert one == whole and "[1 · " in one and "[2 · " in one


def test_where_a_source_cannot_be_read_the_page_stays_as_it_is(copy: Path) -> None:
    edit(copy / PAGE, lambda page: page.replace("[1 · ", "[one · ", 1))
    (copy / "solutions" / "02_why_gradients_accumulate.py").unlink()
    page, found = claims_page(copy, [])
    assert page == (copy / PAGE).read_text(encoding="utf-8")
    assert found[0].startswith("solutions/02_why_gradients_accumulate.py: the source of lesson 2 is missing")


# ------------------------------------------------------------------ rows


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("| true |", "| TRUE |", "claim S9-1: verdict TRUE; use true, false, misleading or outdated"),
        ("| true |", "| mostly true |", "claim S9-1: verdict mostly true; use"),
        ("| true |", "|  |", "claim S9-1: not five columns"),
        ("| true |", "|", "claim S9-1: not five columns"),
        ("Two is \\| twice", "Two is | twice", "claim S9-1: not five columns"),
        ("S9-2", "S9-1", "claim S9-1 has two rows; keep one"),
    ],
)
def test_a_row_that_cannot_be_used_is_named(old: str, new: str, fault: str) -> None:
    assert list(faults(SMALL, [])) == [] and old in SMALL
    [said] = faults(SMALL.replace(old, new, 1), [])
    assert said.startswith(f"{PAGE}: {fault}")


def test_rows_are_the_lines_of_tables_without_heads_and_rules() -> None:
    assert [row.id for row in rows(SMALL)] == ["S9-1", "S9-2"]
    assert rows(SMALL)[0] == Row(("S9-1", r"Two is \| twice one.", "true", "It is.", "old"))
    assert VERDICTS == ("true", "false", "misleading", "outdated")


def test_a_cell_counts_for_the_section_that_it_begins_or_stands_in_and_a_section_once() -> None:
    def prose(text: str, *claims: str) -> SourceCell:
        return SourceCell("markdown", text, claims=claims)

    cells = (
        prose("# Title", "above"),
        prose("## First", "a"),
        SourceCell("code", "## no heading\n1", claims=("a", "b")),
        prose("### Below\n\n```\n## no heading\n```", "b"),
        prose("## 2. `x` | y", "b"),
    )
    found = settled([(lesson(1), Source("one.py", cells))])
    there = f"](../notebooks/{lesson(1).slug}.ipynb)"
    first, second = f"[1 · First{there}", rf"[1 · 2. `x` \| y{there}"
    assert found == {"above": [f"[1 · {lesson(1).title}{there}"], "a": [first], "b": [first, second]}
    row = r"| b | Said. | true | So. | old |"
    assert filled(row, [(lesson(1), Source("one.py", cells))]) == f"| b | Said. | true | So. | {first}, {second} |"


@pytest.mark.parametrize(
    ("kinds", "runs"),
    [
        (["markdown", "code"], True),
        (["markdown"], False),
        (["markdown", "markdown", "code"], False),
        (["code"], True),
        (["code", "markdown"], True),
    ],
)
def test_prose_settles_a_claim_only_where_code_follows_at_once(
    kinds: list[Literal["markdown", "code"]], runs: bool
) -> None:
    first, *others = kinds
    cells = [SourceCell(first, "Said here.", claims=("S0-1", "S0-2"))]
    cells += [SourceCell(kind, "more") for kind in others]
    said = list(not_run(Source("one.py", tuple(cells))))
    assert said == ([] if runs else said[:1]) and len(said) != runs
    assert all('one.py: cell "Said here.": settles S0-1, S0-2 and runs nothing' in line for line in said)


# ------------------------------------------------------------------ the commands

SOURCE = "solutions/09_doubling.py"
SMALL = r"""# Claims

| id | what is said | verdict | what is so | settled in |
| --- | --- | :---: | --- | --- |
| S9-1 | Two is \| twice one. | true | It is. | old |
| S9-2 | Two is three. | false | It is not. | old |

The end.
"""


@pytest.fixture
def claimed(small_course: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The small course with a page of two claims, the first of which its lesson settles; nothing is executed."""
    monkeypatch.setattr("course_utils.authoring.build.execute", lambda notebook, file: None)
    (small_course / "docs").mkdir()
    (small_course / PAGE).write_text(SMALL, encoding="utf-8")
    edit(small_course / SOURCE, lambda text: text.replace("# %%\ntwice = ", '# %% claims="S9-1"\ntwice = '))
    return small_course


def test_build_fills_the_last_column_and_nothing_else(claimed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert build_command(claimed, check=False, repository=None, only=[]) == 0
    assert f"{PAGE}: column of sections written" in capsys.readouterr().out
    link = "[9 · Twice](../notebooks/09_doubling.ipynb)"
    expected = SMALL.replace("It is. | old", f"It is. | {link}").replace("not. | old", "not. | not yet")
    assert (claimed / PAGE).read_text(encoding="utf-8") == expected
    assert build_command(claimed, check=False, repository=None, only=[9]) == 0
    assert PAGE not in capsys.readouterr().out
    assert build_command(claimed, check=True, repository=None, only=[]) == 0


def test_check_says_that_the_column_is_stale_and_writes_nothing(
    claimed: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    build_command(claimed, check=False, repository=None, only=[])
    for path, old, new in ((PAGE, NOT_YET, "soon"), (SOURCE, "# ## Twice", "# ## Two times")):
        before = (claimed / path).read_text(encoding="utf-8")
        (claimed / path).write_text(before.replace(old, new), encoding="utf-8")
        page = (claimed / PAGE).read_text(encoding="utf-8")
        capsys.readouterr()
        assert build_command(claimed, check=True, repository=None, only=[]) == 1
        assert f"{PAGE}: the column of sections is stale; run course build\n" in capsys.readouterr().out
        assert (claimed / PAGE).read_text(encoding="utf-8") == page
        (claimed / path).write_text(before, encoding="utf-8")


@pytest.mark.parametrize("check", [False, True])
def test_a_mark_without_a_row_fails_the_build(claimed: Path, capsys: pytest.CaptureFixture[str], check: bool) -> None:
    edit(claimed / SOURCE, lambda text: text.replace('claims="S9-1"', 'claims="S9-1 S9-3"'))
    assert build_command(claimed, check=check, repository=None, only=[]) == 1
    said = f'{SOURCE}: cell "twice = 2 * 2": claim S9-3 has no row in {PAGE}; write one, or mend the mark\n'
    assert capsys.readouterr().out.count(said) == 1


def test_a_source_that_cannot_be_read_is_named_once(claimed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (claimed / SOURCE).unlink()
    assert build_command(claimed, check=False, repository=None, only=[]) == 1
    assert capsys.readouterr().out.count("the source of lesson 9 is missing") == 1
    assert (claimed / PAGE).read_text(encoding="utf-8") == SMALL


def test_a_course_without_the_page_is_built_unless_a_cell_names_a_claim(
    claimed: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (claimed / PAGE).unlink()
    assert build_command(claimed, check=False, repository=None, only=[]) == 1
    assert "claim S9-1 has no row" in capsys.readouterr().out
    edit(claimed / SOURCE, lambda text: text.replace(' claims="S9-1"', ""))
    assert build_command(claimed, check=False, repository=None, only=[]) == 0
    assert not (claimed / PAGE).exists()


def test_verify_names_marked_prose_without_code(claimed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    edit(
        claimed / SOURCE,
        lambda text: text.replace("# %% [markdown]\n# ## Sum", '# %% [markdown] claims="S9-2"\n# ## Sum'),
    )
    build_command(claimed, check=False, repository=None, only=[])
    capsys.readouterr()
    assert verify_command(claimed, []) == 1
    assert capsys.readouterr().out.startswith(f'{SOURCE}: cell "## Summary": settles S9-2 and runs nothing')
