"""The data that lessons train on: whole, as described, and with its licence beside it."""

from __future__ import annotations

from importlib import resources

import torch

from course_utils.data import digits, paragraphs


def test_the_digits_are_what_their_docstring_says() -> None:
    found = digits()
    assert [tuple(part.shape) for part in found] == [(1500, 64), (1500,), (297, 64), (297,)]
    assert found.x.dtype == torch.float32 and found.y.dtype == torch.int64
    pixels, labels = torch.cat([found.x, found.x_test]), torch.cat([found.y, found.y_test])
    assert pixels.min() == 0 and pixels.max() == 1 and torch.equal(pixels * 16, (pixels * 16).round())
    assert labels.bincount().tolist() == [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]


def test_the_digits_tell_digits_apart() -> None:
    found = digits()
    means = torch.stack([found.x[found.y == digit].mean(0) for digit in range(10)])
    nearest = torch.cdist(found.x_test, means).argmin(1)
    assert (nearest == found.y_test).float().mean() > 0.8


def test_the_paragraphs_are_what_their_docstring_says() -> None:
    found = paragraphs()
    assert len(found) == len(set(found)) == 360
    assert all(text.isascii() and text == text.strip() for text in found)
    lengths = sorted(map(len, found))
    assert lengths[0] >= 8 and lengths[-1] <= 400 and lengths[90] * 3 < lengths[270], "they are to vary in length"


def test_every_data_file_stands_in_the_notice_and_is_small() -> None:
    folder = resources.files("course_utils.data")
    notice = folder.joinpath("NOTICE.md").read_text(encoding="utf-8")
    files = [file for file in folder.iterdir() if not file.name.endswith((".py", ".md")) and file.is_file()]
    assert files and "BSD 3-Clause License" in notice and "PYTHON SOFTWARE FOUNDATION LICENSE VERSION 2" in notice
    for file in files:
        assert f"## {file.name}" in notice and len(file.read_bytes()) < 100_000
