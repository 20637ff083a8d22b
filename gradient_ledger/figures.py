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
from html import escape
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
FEW_COLOURS = 3000
"""A drawing with at most so many colours is stored with a palette: a quarter of the bytes in a notebook."""


def _rc() -> Any:  # the names of the settings differ between versions of matplotlib, and so do their types
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
    return _smaller(buffer.getvalue())


def _smaller(image: bytes) -> bytes:
    """The same picture with fewer bytes: no alpha channel, and a palette where the colours are few."""
    from PIL import Image

    flat = Image.open(io.BytesIO(image)).convert("RGB")
    buffer = io.BytesIO()
    colours: Any = flat.getcolors(FEW_COLOURS)
    if colours is None:
        flat.save(buffer, format="PNG")
        return buffer.getvalue()
    # Lines and text have some hundred shades, all of them mixtures of a few inks with white.
    small = flat.quantize(256, method=Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)
    # Each place of the palette gets the commonest colour that went there, so that white and the inks stay exact.
    colours.sort()
    each = Image.new("RGB", (len(colours), 1))
    each.putdata([colour for _, colour in colours])
    palette = bytearray(small.getpalette() or [])
    places = each.quantize(palette=small, dither=Image.Dither.NONE).tobytes()
    for place, (_, colour) in zip(places, colours, strict=True):
        palette[3 * place : 3 * place + 3] = bytes(colour)
    small.putpalette(bytes(palette))
    small.save(buffer, format="PNG")
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


def image_element(image: bytes, alt: str) -> str:
    """The image as an HTML element that carries its own data and its alternative text; never wider than the page.

    It has its room before it is drawn, so that nothing below it jumps when one picture takes another's place.
    """
    width, height = png_size(image)
    height = round(height * shown_width(image) / width)
    return (
        f'<img alt="{escape(alt, quote=True)}" width="{shown_width(image)}" height="{height}" style="max-width:100%;'
        f'height:auto;background:#fff;border-radius:6px;padding:6px;box-sizing:border-box" '
        f'src="data:image/png;base64,{png_text(image)}">'
    )


def in_front_end() -> bool:
    """Whether a person's front end (JupyterLab, Notebook 7, VS Code) asked for the cell that runs now.

    They name the cell in the request; nbclient, nbval and nbgrader, which make the stored copies,
    do not.
    """
    kernel: Any = getattr(_shell(), "kernel", None)
    try:
        return bool(kernel.get_parent("shell")["metadata"].get("cellId"))
    except (AttributeError, KeyError, TypeError):
        return False  # no kernel, or one that keeps its requests elsewhere


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

    The text is stored with the image (`metadata["image/png"]["alt"]`) and as the plain-text form of
    the output, `Figure: ` + `alt`. Nbconvert's classic template makes that metadata the image's
    alternative text; JupyterLab 4.6 and nbconvert's lab template drop it, so a live front end also
    gets the image as an HTML element that carries the text. Because the figure is closed,
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
        data = {"image/png": png_text(image), "text/plain": f"Figure: {text}"}
        if in_front_end():
            data["text/html"] = image_element(image, text)
        show_raw(
            data,
            metadata={"image/png": {"alt": text, "width": shown_width(image)}},
            raw=True,
        )
    finally:
        _close(fig)


def in_ipython() -> bool:
    """Whether this code runs in IPython or in a notebook's kernel, where `show` has somewhere to show."""
    return _shell() is not None


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
