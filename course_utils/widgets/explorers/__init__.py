"""Explorers: small real programs to press buttons on, each split into what computes and what shows.

| explorer | computes | shows |
|---|---|---|
| `loss_surface` | `surface.py` | `surface_view.py` |
| `expression_graph` | `expression.py` | `expression_view.py` |
| `gradient_buffer` | `buffer.py` | `buffer_view.py` |
| `order_of_events` | `order.py` | `order_view.py` |
| `windows_of_training` | `windows.py` | `windows_view.py` |

`widgets/page.py` makes of each what stands in the page and the buttons beside it.
"""
