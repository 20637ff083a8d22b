"""Figures with alternative text: one PNG a figure, the same bytes on every run, readable by everyone.

Matplotlib is imported inside the functions, so that importing this module costs nothing.
"""

from __future__ import annotations

import base64
import io
import struct
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLOURS: Mapping[str, str] = MappingProxyType(
    {
        "blue": "#0072B2",
        "vermillion": "#D55E00",
        "bluish green": "#009E73",
        "reddish purple": "#CC79A7",
        "orange": "#E69F00",
        "sky blue": "#56B4E9",
        "yellow": "#F0E442",
        "black": "#000000",
    }
)
"""The eight colours of Okabe and Ito, which stay apart for every common kind of colour blindness.

Ordered by contrast with white; the first three suit thin lines, the rest areas and markers.
"""

DPI = 144
"""Pixels per inch of every stored figure."""
SHOWN_DPI = 96
"""Pixels per inch at which a front end shows it: the rest is sharpness on dense displays."""


def _rc() -> dict[str, Any]:
    from cycler import cycler

    names = ("blue", "vermillion", "bluish green", "reddish purple", "black")
    # A second sign beside the colour: lines stay apart in print and for every eye.
    lines = cycler(color=[COLOURS[name] for name in names]) + cycler(linestyle=["-", "--", "-.", ":", (0, (5, 1))])
    return {
        "axes.edgecolor": "#333333",
        "axes.facecolor": "white",
        "axes.grid": False,
        "axes.labelsize": 11,
        "axes.prop_cycle": lines,
        "axes.spines.right": False,
        "axes.spines.top": False,
        "axes.titlelocation": "left",
        "axes.titlesize": 12,
        "figure.constrained_layout.use": True,
        "figure.dpi": DPI,
        "figure.facecolor": "white",
        "figure.figsize": (6.4, 4.0),
        "figure.titlesize": 12,
        # The only family that comes with matplotlib: any other depends on the machine.
        "font.family": "DejaVu Sans",
        "font.size": 11,
        "image.cmap": "cividis",
        "legend.fontsize": 10,
        "legend.frameon": False,
        "lines.linewidth": 2.0,
        "lines.markersize": 6.0,
        "savefig.facecolor": "white",
        "text.color": "black",
        "text.usetex": False,
        "xtick.labelsize": 10,
        "ytick.labelsize": 10,
    }


@contextmanager
def style() -> Iterator[None]:
    """Draw in the style of the course: `with style(): fig, ax = plt.subplots()`.

    Colours that survive colour blindness, line styles that differ with them, text of 10 points
    or more, a white background (so a figure reads in a dark theme too). The settings that stood
    before come back at the end of the block.
    """
    import matplotlib

    with matplotlib.rc_context(_rc()):  # type: ignore[arg-type]
        yield


def png(fig: Figure) -> bytes:
    """The figure as PNG bytes: `DPI` pixels per inch, white background, no date and no software name.

    The same drawing gives the same bytes on every run with one version of matplotlib.
    """
    buffer = io.BytesIO()
    with style():
        fig.savefig(buffer, format="png", dpi=DPI, facecolor="white", edgecolor="none", metadata={"Software": None})
    return buffer.getvalue()


def png_size(image: bytes) -> tuple[int, int]:
    """Width and height in pixels of PNG bytes. Raises `ValueError` when they are not a PNG."""
    if image[:8] != b"\x89PNG\r\n\x1a\n" or len(image) < 24:
        raise ValueError("these bytes are not a PNG image: give the bytes that `png(fig)` returns")
    width, height = struct.unpack(">II", image[16:24])
    return int(width), int(height)


def shown_width(image: bytes) -> int:
    """Width in CSS pixels at which the image is shown at its drawn size."""
    return round(png_size(image)[0] * SHOWN_DPI / DPI)


def png_text(image: bytes) -> str:
    """The image as base64 text on one line: the form a notebook stores and a data address holds."""
    return base64.b64encode(image).decode("ascii")


def checked_alt(alt: str) -> str:
    """`alt` with its white space collapsed. Raises `ValueError` when nothing is left, `TypeError` for no string."""
    if not isinstance(alt, str):
        raise TypeError(f"alt must be a string that says what the figure shows, not {type(alt).__name__}")
    text = " ".join(alt.split())
    if not text:
        raise ValueError("alt is empty: say in a sentence or two what the figure shows")
    return text


def show(fig: Figure, alt: str) -> None:
    """Show `fig` as one PNG output whose alternative text is `alt`, then close it.

    The text is stored with the image (`metadata["image/png"]["alt"]`, which JupyterLab reads out)
    and as the plain-text form of the output, `Figure: ` + `alt`. Because the figure is closed,
    `%matplotlib inline` does not draw it a second time. Outside IPython the text alone is printed.

    `alt` says in a sentence or two what there is to see, numbers included.
    Raises `ValueError` when it is empty and `TypeError` when it is no string.
    """
    text = checked_alt(alt)
    shell = _shell()
    try:
        if shell is None:
            print(f"Figure: {text}")
            return
        image = png(fig)
        from IPython.display import display

        show_raw: Any = display
        show_raw(
            {"image/png": png_text(image), "text/plain": f"Figure: {text}"},
            metadata={"image/png": {"alt": text, "width": shown_width(image)}},
            raw=True,
        )
    finally:
        _close(fig)


def _shell() -> object | None:
    """The running IPython shell, without importing IPython where nobody has."""
    ipython: Any = sys.modules.get("IPython")
    get = getattr(ipython, "get_ipython", None)
    return None if get is None else get()


def _close(fig: Figure) -> None:
    # A figure made without pyplot is known to nobody: there is nothing to close, nothing to import.
    pyplot: Any = sys.modules.get("matplotlib.pyplot")
    if pyplot is not None:
        pyplot.close(fig)
