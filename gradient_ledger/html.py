"""The few HTML pieces every card is made of: inline styles, theme-aware, readable without colour."""

from __future__ import annotations

from html import escape

# JupyterLab's own colours where there are any; elsewhere the page's text colour on no background, so that
# dark themes, Colab and GitHub (which drops styles) stay readable.
TEXT = "color:var(--jp-content-font-color1,inherit)"
BORDERS = {"good": "#2e7d32", "bad": "#c62828", "calm": "#1565c0", "quiet": "#757575"}


def box(title: str, parts: list[str], tone: str = "calm", label: str = "") -> str:
    """A bordered section with a heading. `tone` colours the border only: the words carry the meaning."""
    name = escape((label or title).replace("`", ""), quote=True)
    return (
        f'<section aria-label="{name}" style="{TEXT};border:1px solid {BORDERS[tone]};border-left-width:6px;'
        f'border-radius:4px;padding:8px 14px;margin:6px 0;max-width:56em;line-height:1.45">'
        f'<p style="margin:0 0 4px 0;font-size:1.05em"><strong>{code_spans(title)}</strong></p>{"".join(parts)}</section>'
    )


def paragraph(text: str, strong: str = "") -> str:
    lead = f"<strong>{escape(strong)}</strong> " if strong else ""
    return f'<p style="margin:4px 0">{lead}{code_spans(text)}</p>'


def folded(label: str, text: str) -> str:
    """Something to open: the label is always seen, the text on demand."""
    return (
        f'<details style="margin:4px 0"><summary style="cursor:pointer">{escape(label)}</summary>'
        f"{paragraph(text)}</details>"
    )


def lines(items: list[str] | tuple[str, ...], label: str) -> str:
    body = escape("\n".join(items))
    return (
        f'<pre aria-label="{escape(label, quote=True)}" tabindex="0" style="{TEXT};background:transparent;margin:4px 0;'
        f'padding:4px 8px;border-left:2px solid currentColor;white-space:pre-wrap;word-break:normal;overflow-x:auto">{body}</pre>'
    )


def code_spans(text: str) -> str:
    """Escape `text` and turn `backticked` words into code elements."""
    parts = escape(text).split("`")
    if len(parts) % 2 == 0:  # an odd backtick is text
        return escape(text)
    return "".join(f"<code>{part}</code>" if index % 2 else part for index, part in enumerate(parts))


def table(caption: str, header: list[str], rows: list[list[str]]) -> str:
    """A table with a caption and scoped headers; the first column heads its row."""
    cell = 'style="padding:2px 12px 2px 0;text-align:left"'
    head = "".join(f'<th scope="col" {cell}>{escape(name)}</th>' for name in header)
    body = "".join(
        f'<tr><th scope="row" {cell}>{escape(row[0])}</th>'
        + "".join(f"<td {cell}>{escape(c)}</td>" for c in row[1:])
        + "</tr>"
        for row in rows
    )
    return (
        f'<table style="{TEXT};border-collapse:collapse;margin:4px 0">'
        f'<caption style="{TEXT};text-align:left;caption-side:top;padding:0 0 4px 0">{escape(caption)}</caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    )
