"""Questions to commit to, and explorers: ipywidgets with a plain fallback where no widget can run."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from course_utils.widgets.explorers.buffer_view import gradient_buffer
    from course_utils.widgets.explorers.expression_view import expression_graph
    from course_utils.widgets.explorers.order_view import order_of_events
    from course_utils.widgets.explorers.surface_view import loss_surface
    from course_utils.widgets.explorers.underflow_view import underflow_line
    from course_utils.widgets.explorers.windows_view import windows_of_training

__all__ = [
    "expression_graph",
    "gradient_buffer",
    "loss_surface",
    "order_of_events",
    "underflow_line",
    "windows_of_training",
]

# Found when first asked for: an explorer costs nothing to those who import something else from here.
_HOMES = {
    "expression_graph": "course_utils.widgets.explorers.expression_view",
    "gradient_buffer": "course_utils.widgets.explorers.buffer_view",
    "loss_surface": "course_utils.widgets.explorers.surface_view",
    "order_of_events": "course_utils.widgets.explorers.order_view",
    "underflow_line": "course_utils.widgets.explorers.underflow_view",
    "windows_of_training": "course_utils.widgets.explorers.windows_view",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)
