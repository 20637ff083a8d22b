"""Questions to commit to, and explorers: ipywidgets with a plain fallback where no widget can run."""
