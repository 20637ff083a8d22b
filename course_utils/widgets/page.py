"""What stands in the page, and its buttons: two outputs of one cell, so that the page outlives the kernel.

JupyterLab puts "model not found" in place of an output whose widget is gone, whatever else that output holds. So the
words and pictures of a question or an explorer are an output of their own, and the widget is the next one. While its
buttons work, what they show better is hidden in the page.
"""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from course_utils.feedback.display import in_kernel
from gradient_ledger import figures, html

if TYPE_CHECKING:
    from matplotlib.figure import Figure

VIEW = "application/vnd.jupyter.widget-view+json"
"""The form of a widget. It names a model of this kernel, so it means nothing once the kernel is gone."""
INSTALL = 'This is a still: for the buttons install ipywidgets (pip install "ipywidgets>=8.1") and restart the kernel.'
RUN, HOW = "No buttons, or buttons that do nothing?", "Run the first code cell of the notebook, then this one."

_STYLE = """<style>
:is(.jp-OutputArea, body:not(:has(.jp-OutputArea))):has(.NAME-live:not(.jupyter-widgets-disconnected)) .NAME-still,
.jp-OutputArea-output.lm-Panel:not(:has(*)) { display: none }
.NAME-live.jupyter-widgets-disconnected .widget-html, .NAME-live::before, .NAME-live > ::before { display: none }
.jp-NotebookPanel:has(.jp-Notebook-ExecutionIndicator[data-status="unknown"]) .NAME-still { display: block !important }
</style>"""
"""The still gives way to live buttons, and takes the place of their texts when the kernel is restarted, dies or is shut
down. JupyterLab's own messages in place of a widget, "loading" and "model not found", are left out."""

_KEYS = """<script>
(() => {
  const area = document.currentScript.closest(".jp-OutputArea");
  if (!area || area.dataset.courseKeys) return;
  area.dataset.courseKeys = "kept";
  area.addEventListener("keydown", event => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey || event.key === "Escape") return;
    event.stopPropagation();
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    const buttons = [...area.querySelectorAll("button")];
    const at = buttons.indexOf(event.target);
    if (!step || at < 0) return;
    event.preventDefault();
    buttons[(at + step + buttons.length) % buttons.length].focus();
  });
})();
</script>"""
"""JupyterLab takes plain keys for commands of its own: an arrow leaves the cell, Enter opens its editor, A adds a cell.
Here they stay with the buttons, and arrows go from one to the next. Shift+Enter still runs the cell."""


@dataclass(frozen=True)
class Picture:
    """A PNG image with the text that stands for it. The text is never empty."""

    image: bytes
    alt: str


@dataclass(frozen=True)
class Still:
    """What shows without buttons: plain text, and as HTML or a picture the same.

    `fixed` is the HTML that stands in the page beside live buttons, too; `html` and `picture` give way to them.
    """

    text: str
    html: str = ""
    picture: Picture | None = None
    fixed: str = ""


def picture(figure: Figure, alt: str) -> Picture:
    """Draw `figure` to a picture. It must be made without pyplot, so that nothing shows it a second time."""
    return Picture(figures.png(figure), figures.checked_alt(alt))


def image_element(shown: Picture) -> str:
    """The picture as an `img` element that carries its own data; never wider than the page."""
    return figures.image_element(shown.image, shown.alt)


def status_element(text: str, lines: int = 1) -> str:
    """Text that a screen reader reads out when it changes; backticked words become code. It has room for `lines`."""
    return (
        f'<p role="status" aria-live="polite" aria-atomic="true" '
        f'style="{html.TEXT};margin:4px 0;max-width:56em;min-height:{1.45 * lines:g}em;line-height:1.45;'
        f'white-space:normal">'
        f"{html.code_spans(text)}</p>"
    )


def scrolling(content: str, name: str) -> str:
    """`content` in a box of its own that scrolls sideways on a narrow page, by keyboard too."""
    label = escape(name, quote=True)
    style = "overflow-x:auto;max-width:100%;white-space:normal;line-height:1.5"
    return f'<div role="region" aria-label="{label}" tabindex="0" style="{style}">{content}</div>'


def plain_table(caption: str, rows: Sequence[Sequence[str]], align: Callable[[str, int], str] = str.ljust) -> str:
    """The caption, and the rows below it as plain text, each column as wide as its widest cell."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(map(align, row, widths)).rstrip() for row in rows]
    return "\n".join([caption, *lines])


def show(still: Still, make_widget: Callable[[], Any], name: str) -> Callable[[Still], None]:
    """Show `still`, and below it the widget where ipywidgets is installed; gives what replaces the still in the page.

    `name`, a CSS class, joins the two. Outside a Jupyter kernel the text is printed. Writes nothing to stderr.
    """
    if not in_kernel():
        print(still.text)
        return lambda changed: None
    from IPython.display import display

    can_press = importlib.util.find_spec("ipywidgets") is not None
    live = name if can_press and figures.in_front_end() else ""
    show_raw: Any = display
    data, metadata = mimes(still, live, install=not can_press)
    shown = show_raw(data, metadata=metadata, raw=True, display_id=True)
    if can_press:
        widget = make_widget()
        widget.add_class(f"{name}-live")
        show_raw(view(widget), raw=True)

    def replace(changed: Still) -> None:
        data, metadata = mimes(changed, live, install=not can_press)
        shown.update(data, metadata=metadata, raw=True)

    return replace


def name_sliders(css_class: str, name: str) -> None:
    """Give the handles of sliders of that class an accessible name, which ipywidgets has no setting for.

    A few lines of script in the live page; a stored notebook holds none of it.
    """
    if not figures.in_front_end():
        return
    from IPython.display import display

    handles = f".{css_class} .noUi-handle:not([aria-label])"
    script = (
        "let tries = 0; const timer = setInterval(() => {"
        f"const found = document.querySelectorAll({json.dumps(handles)});"
        f"found.forEach(handle => handle.setAttribute('aria-label', {json.dumps(name)}));"
        "if (found.length || ++tries > 100) clearInterval(timer); }, 100);"
    )
    show_raw: Any = display
    show_raw({"application/javascript": script, "text/plain": ""}, raw=True)


def mimes(still: Still, live: str = "", install: bool = False) -> tuple[dict[str, Any], dict[str, Any]]:
    """The data and the metadata of an output that holds `still`.

    `live` is the class that joins it to buttons in a front end; `install` adds the line about ipywidgets.
    """
    data: dict[str, Any] = {"text/plain": f"{still.text}\n{INSTALL}" if install else still.text}
    metadata: dict[str, Any] = {}
    page = still.html
    if still.picture is not None:
        data["image/png"] = figures.png_text(still.picture.image)
        width = figures.shown_width(still.picture.image)
        metadata["image/png"] = {"alt": still.picture.alt, "width": width}
        if live or install:  # a picture has no room for more, a page has
            page = image_element(still.picture) + page
    if install:
        page += html.paragraph(INSTALL)
    if live:
        page = f'{_STYLE.replace("NAME", live)}<div class="{live}-still">{page}{html.paragraph(HOW, RUN)}</div>{_KEYS}'
    if still.fixed or page:
        data["text/html"] = still.fixed + page
    return data, metadata


def view(widget: Any) -> dict[str, Any]:
    """The form of `widget` that a live front end takes, alone: its text form would be stored."""
    return {VIEW: {"version_major": 2, "version_minor": 0, "model_id": widget.model_id}}


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
