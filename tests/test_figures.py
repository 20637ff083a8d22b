"""Figures keep their alternative text, are the same bytes on every run and are drawn once."""

from __future__ import annotations

import base64
import io
import subprocess
import sys
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from gradient_ledger import figures

ALT = "Two lines that cross at x = 1"


@pytest.fixture
def pyplot() -> Iterator[Any]:
    import matplotlib

    before = matplotlib.get_backend()
    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    yield plt
    plt.close("all")
    matplotlib.use(before)


def crossing(plt: Any) -> Any:
    with figures.style():
        fig, ax = plt.subplots()
        ax.plot([0, 1, 2])
        ax.plot([2, 1, 0])
        ax.set(xlabel="x", ylabel="loss", title="Two lines")
    return fig


def shell(metadata: dict[str, object]) -> SimpleNamespace:
    return SimpleNamespace(kernel=SimpleNamespace(get_parent=lambda channel: {"metadata": metadata}))


@pytest.fixture
def displayed(monkeypatch: pytest.MonkeyPatch) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    import IPython.display

    seen: list[tuple[dict[str, Any], dict[str, Any]]] = []
    monkeypatch.setattr(IPython.display, "display", lambda data, metadata, raw: seen.append((data, metadata)))
    return seen


def run_notebook(*cells: str) -> list[list[Any]]:
    """The outputs of each cell, as a real kernel sends them to a program that stores notebooks."""
    import nbformat
    from nbclient import NotebookClient

    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    return [cell.outputs for cell in notebook.cells]


def test_a_kernel_shows_one_image_with_its_text_under_the_inline_backend_and_nothing_on_stderr() -> None:
    draw = f"""
with figures.style():
    fig, ax = plt.subplots()
    ax.plot([0, 1, 2])
figures.show(fig, {ALT!r})
"""
    _, first, second = run_notebook(
        "%matplotlib inline\nimport matplotlib.pyplot as plt\nfrom gradient_ledger import figures", draw, draw
    )
    (output,) = first
    assert output.output_type == "display_data"
    assert set(output.data) == {"image/png", "text/plain"}
    assert output.data["text/plain"] == f"Figure: {ALT}"
    assert output.metadata["image/png"]["alt"] == ALT
    assert second[0].data["image/png"] == output.data["image/png"]


def test_a_live_front_end_gets_an_image_element_with_the_text_because_jupyterlab_drops_the_metadata(
    pyplot: Any, monkeypatch: pytest.MonkeyPatch, displayed: list[Any]
) -> None:
    monkeypatch.setattr(figures, "_shell", lambda: shell({"cellId": "a"}))
    figures.show(crossing(pyplot), 'a < b & "c"')
    ((data, metadata),) = displayed
    assert 'alt="a &lt; b &amp; &quot;c&quot;"' in data["text/html"]
    assert data["image/png"] in data["text/html"]
    assert metadata["image/png"]["alt"] == 'a < b & "c"'


def test_a_program_that_stores_notebooks_gets_no_second_copy_of_the_image(
    pyplot: Any, monkeypatch: pytest.MonkeyPatch, displayed: list[Any]
) -> None:
    monkeypatch.setattr(figures, "_shell", lambda: shell({}))
    figures.show(crossing(pyplot), ALT)
    assert "text/html" not in displayed[0][0]


def test_the_figure_is_closed_after_it_is_shown(
    pyplot: Any, monkeypatch: pytest.MonkeyPatch, displayed: list[Any]
) -> None:
    monkeypatch.setattr(figures, "_shell", lambda: shell({}))
    fig = crossing(pyplot)
    assert pyplot.fignum_exists(fig.number)
    figures.show(fig, ALT)
    assert not pyplot.fignum_exists(fig.number)


def test_outside_ipython_the_text_is_printed_and_the_figure_closed(
    pyplot: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    fig = crossing(pyplot)
    figures.show(fig, "Two  lines\nthat cross")
    assert capsys.readouterr().out == "Figure: Two lines that cross\n"
    assert not pyplot.fignum_exists(fig.number)


@pytest.mark.parametrize("empty", ["", "  ", "\n"])
def test_a_figure_without_text_is_refused(pyplot: Any, empty: str) -> None:
    with pytest.raises(ValueError, match="say in a sentence"):
        figures.show(crossing(pyplot), empty)


def test_text_that_is_no_string_is_refused(pyplot: Any) -> None:
    with pytest.raises(TypeError, match="not int"):
        figures.show(crossing(pyplot), 3)


def test_the_bytes_are_the_same_on_every_drawing_and_name_no_program_and_no_time(pyplot: Any) -> None:
    first, second = figures.png(crossing(pyplot)), figures.png(crossing(pyplot))
    assert first == second
    for chunk in (b"tEXt", b"zTXt", b"iTXt", b"tIME", b"eXIf"):
        assert chunk not in first


def test_a_drawing_that_ignores_the_style_still_has_a_white_background(pyplot: Any) -> None:
    from PIL import Image

    fig = pyplot.figure(facecolor="black")
    assert Image.open(io.BytesIO(figures.png(fig))).convert("RGB").getpixel((2, 2)) == (255, 255, 255)


def test_the_palette_of_a_line_drawing_keeps_white_and_the_inks_exact(pyplot: Any) -> None:
    from PIL import Image

    image = Image.open(io.BytesIO(figures.png(crossing(pyplot))))
    assert image.mode == "P"
    found = {colour for _, colour in image.convert("RGB").getcolors(2000) or []}
    for ink in ("#ffffff", figures.COLOURS["blue"], figures.COLOURS["vermillion"]):
        assert tuple(bytes.fromhex(ink[1:])) in found


def test_a_picture_of_many_colours_is_not_reduced_to_a_palette(pyplot: Any) -> None:
    import numpy as np
    from PIL import Image

    with figures.style():
        fig, ax = pyplot.subplots()
        ax.imshow(np.random.default_rng(0).random((60, 60, 3)))
    assert Image.open(io.BytesIO(figures.png(fig))).mode == "RGB"


def test_the_shown_width_is_the_drawn_size_in_css_pixels(pyplot: Any) -> None:
    with figures.style():
        fig = pyplot.figure(figsize=(5, 2))
    image = figures.png(fig)
    assert figures.png_size(image) == (5 * figures.DPI, 2 * figures.DPI)
    assert figures.shown_width(image) == 480
    assert base64.b64decode(figures.png_text(image)) == image
    with pytest.raises(ValueError, match="not a PNG"):
        figures.png_size(b"GIF89a")


def test_the_style_ends_with_its_block() -> None:
    import matplotlib

    before = matplotlib.rcParams["font.size"], matplotlib.rcParams["figure.facecolor"]
    with figures.style():
        assert matplotlib.rcParams["font.family"] == ["DejaVu Sans"]
        assert matplotlib.rcParams["axes.labelsize"] >= 10
    assert (matplotlib.rcParams["font.size"], matplotlib.rcParams["figure.facecolor"]) == before


def test_two_lines_differ_by_more_than_their_colour(pyplot: Any) -> None:
    first, second = crossing(pyplot).axes[0].lines
    assert first.get_color() != second.get_color()
    assert first.get_linestyle() != second.get_linestyle()


def test_the_line_colours_contrast_with_white_by_three_to_one() -> None:
    def luminance(colour: str) -> float:
        channels = [part / 255 for part in bytes.fromhex(colour[1:])]
        red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    for name in ("blue", "vermillion", "bluish green", "black"):
        assert 1.05 / (luminance(figures.COLOURS[name]) + 0.05) >= 3, name


def test_importing_the_module_imports_no_drawing_library() -> None:
    code = (
        "import sys, gradient_ledger.figures\n"
        "print([m for m in ('matplotlib', 'ipywidgets', 'IPython', 'PIL') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
