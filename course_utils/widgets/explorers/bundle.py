"""One notebook output for an explorer: the live widget, and beside it what a page without a kernel can show.

A front end takes the richest form it can: JupyterLab with a kernel the widget, GitHub or a stored
notebook the table or the picture with its alternative text, a terminal the plain text.
"""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from course_utils.feedback.display import in_kernel
from gradient_ledger import figures, html

if TYPE_CHECKING:
    from matplotlib.figure import Figure

VIEW = "application/vnd.jupyter.widget-view+json"
"""The form that a live front end prefers. It names a model of this kernel, so it means nothing once stored."""
INSTALL = 'This is a still: for the buttons install ipywidgets (pip install "ipywidgets>=8.1") and restart the kernel.'


@dataclass(frozen=True)
class Picture:
    """A PNG image with the text that stands for it. The text is never empty."""

    image: bytes
    alt: str


@dataclass(frozen=True)
class Still:
    """What an explorer shows without a front end: plain text, and an HTML table or a picture of the same."""

    text: str
    html: str = ""
    picture: Picture | None = None


def picture(figure: Figure, alt: str) -> Picture:
    """Draw `figure` to a picture. It must be made without pyplot, so that nothing shows it a second time."""
    return Picture(figures.png(figure), figures.checked_alt(alt))


def image_element(shown: Picture) -> str:
    """The picture as an `img` element that carries its own data; never wider than the page."""
    return figures.image_element(shown.image, shown.alt)


def status_element(text: str) -> str:
    """A line that a screen reader reads out when it changes; backticked words become code."""
    return (
        f'<p role="status" aria-live="polite" aria-atomic="true" '
        f'style="{html.TEXT};margin:4px 0;max-width:56em;line-height:1.45;white-space:normal">'
        f"{html.code_spans(text)}</p>"
    )


def scrolling(content: str, name: str) -> str:
    """`content` in a box of its own that scrolls sideways on a narrow page, by keyboard too."""
    label = escape(name, quote=True)
    style = "overflow-x:auto;max-width:100%;white-space:nowrap;line-height:1.5"
    return f'<div role="region" aria-label="{label}" tabindex="0" style="{style}">{content}</div>'


def show(still: Still, make_widget: Callable[[], Any]) -> None:
    """Show an explorer as one output: `still`, with the widget beside it where ipywidgets is installed.

    Outside a Jupyter kernel the text is printed. Without ipywidgets the still is shown with one
    line that says what to install. Writes nothing to stderr.
    """
    can_press = importlib.util.find_spec("ipywidgets") is not None
    if not in_kernel():
        print(still.text)
        return
    from IPython.display import display

    data, metadata = mimes(still, install=not can_press)
    if can_press:
        data |= view(make_widget())
    show_raw: Any = display
    show_raw(data, metadata=metadata, raw=True)


def name_sliders(css_class: str, name: str) -> None:
    """Give the handles of sliders of that class an accessible name, which ipywidgets has no setting for.

    A few lines of script in the live page; a stored notebook holds none of it.
    """
    if not figures.in_front_end():
        return
    from IPython.display import Javascript, display

    handles = f".{css_class} .noUi-handle:not([aria-label])"
    show_it: Any = display
    show_it(
        Javascript(
            "let tries = 0; const timer = setInterval(() => {"
            f"const found = document.querySelectorAll({json.dumps(handles)});"
            f"found.forEach(handle => handle.setAttribute('aria-label', {json.dumps(name)}));"
            "if (found.length || ++tries > 100) clearInterval(timer); }, 100);"
        )
    )


def mimes(still: Still, install: bool = False) -> tuple[dict[str, Any], dict[str, Any]]:
    """The data and the metadata of an output that holds `still`; `install` adds the line about ipywidgets."""
    data: dict[str, Any] = {"text/plain": f"{still.text}\n{INSTALL}" if install else still.text}
    metadata: dict[str, Any] = {}
    page = still.html
    if still.picture is not None:
        data["image/png"] = figures.png_text(still.picture.image)
        width = figures.shown_width(still.picture.image)
        metadata["image/png"] = {"alt": still.picture.alt, "width": width}
        if install:  # a picture has no room for the line, a page has
            page = image_element(still.picture) + page
    if page:
        data["text/html"] = page + html.paragraph(INSTALL) if install else page
    return data, metadata


def view(widget: Any) -> dict[str, Any]:
    """The form of `widget` that a live front end takes, alone: its text form is replaced by the still's."""
    bundle = widget._repr_mimebundle_()
    data = bundle[0] if isinstance(bundle, tuple) else bundle
    return {VIEW: data[VIEW]} if data and VIEW in data else {}


def button(name: str, press: Callable[[], None], tooltip: str) -> Any:
    """A button as wide as its name. It is never disabled, so that the keyboard's place is not lost."""
    import ipywidgets as widgets

    made = widgets.Button(description=name, tooltip=tooltip, layout=widgets.Layout(width="max-content"))
    made.on_click(lambda _: press())
    return made


def row(*children: Any) -> Any:
    """Controls side by side, wrapping on a narrow page."""
    import ipywidgets as widgets

    return widgets.HBox(children, layout=widgets.Layout(flex_flow="row wrap", align_items="center"))


def column(*children: Any) -> Any:
    """The parts of an explorer, from top to bottom."""
    import ipywidgets as widgets

    return widgets.VBox(children, layout=widgets.Layout(margin="6px 0"))
