"""The moments of a run at which it might be killed: what its folder holds then, however it writes."""

from __future__ import annotations

import builtins
import os
import pickle
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
import torch

from course_utils.checks.judge import answers_of
from course_utils.learner import evaluate
from course_utils.lessons import exercise
from course_utils.lessons.lesson7 import kills
from course_utils.lessons.lesson7.kills import FORWARD, Files, Folder

Write = Callable[[Path], object]
HALVED, OPENED = "the second half of a file", "the first byte of a file"


def _moments(folder: Folder) -> list[tuple[str, list[str]]]:
    return [(moment.what, sorted(moment.files)) for moment in folder.moments]


def _in_an_open_file(path: Path) -> None:
    with path.open("wb") as file:
        torch.save([1], file)


WRITES: dict[str, tuple[Write, list[str]]] = {
    "torch.save to a path": (lambda path: torch.save([1], path), [HALVED]),
    "torch.save to an open file": (_in_an_open_file, [OPENED, HALVED]),
    "bytes of pickle": (lambda path: path.write_bytes(pickle.dumps([1])), [OPENED]),
    "text by open": (lambda path: open(path, "w").close(), [OPENED]),
}


@pytest.mark.parametrize("how", WRITES)
def test_a_write_is_noted_while_it_is_half_done(how: str, tmp_path: Path) -> None:
    write, expected = WRITES[how]
    folder = Folder(tmp_path)
    with folder.noting():
        write(tmp_path / "x")
    assert [moment.what for moment in folder.moments] == expected
    whole = (tmp_path / "x").read_bytes()
    assert all(len(moment.files["x"]) < max(1, len(whole)) for moment in folder.moments)


def test_what_is_written_is_what_was_meant(tmp_path: Path) -> None:
    with Folder(tmp_path).noting():
        torch.save({"a": torch.ones(3)}, tmp_path / "x")
        with open(tmp_path / "y", "wb") as file:
            torch.save({"a": torch.ones(3)}, file)
    for name in "xy":
        assert torch.equal(torch.load(tmp_path / name)["a"], torch.ones(3))


def test_before_a_file_is_renamed_or_removed_it_is_noted(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("1")
    folder = Folder(tmp_path)
    with folder.noting():
        os.replace(tmp_path / "a", tmp_path / "b")
        os.rename(tmp_path / "b", tmp_path / "c")
        (tmp_path / "c").unlink()
    assert [files for _, files in _moments(folder)] == [["a"], ["b"], ["c"]]


def test_writes_elsewhere_are_no_moments_unless_asked_for(tmp_path: Path) -> None:
    inside = tmp_path / "inside"
    inside.mkdir()
    for anywhere in (False, True):
        folder = Folder(inside, anywhere)
        with folder.noting():
            torch.save(1, tmp_path / "outside")
        assert [moment.what for moment in folder.moments] == [HALVED] * anywhere


def test_a_forward_pass_is_a_moment_and_counts(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    folder.forward()
    (tmp_path / "x").write_text("1")
    folder.forward()
    assert [(moment.what, moment.forwards, list(moment.files)) for moment in folder.moments] == [
        (FORWARD, 0, []),
        (FORWARD, 1, ["x"]),
    ]


def test_a_folder_can_be_made_what_it_was(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    (tmp_path / "x").write_text("old")
    before: Files = folder.files()
    (tmp_path / "x").write_text("new")
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "y").write_text("more")
    folder.put(before)
    assert folder.files() == before == {"x": b"old"}
    assert [path.name for path in tmp_path.iterdir()] == ["x"]


def test_nothing_stays_patched_and_no_folder_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of this process: others, as the workers of this test run, use the same place."""
    made: list[Path] = []

    class Noted(TemporaryDirectory[str]):
        def __enter__(self) -> str:
            made.append(Path(self.name))
            return super().__enter__()

    monkeypatch.setattr(kills, "TemporaryDirectory", Noted)
    kept = torch.save, os.replace, os.remove, builtins.open
    task = exercise("7.7")
    assert evaluate(task.id, answers_of(task.home).right).passed
    assert made and not any(path.exists() for path in made)
    assert (torch.save, os.replace, os.remove, builtins.open) == kept
