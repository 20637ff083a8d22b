"""The tools that instructors use: results go into them in their own formats, one module a tool.

`sheet` edits a table that a tool exported; `canvas` and `moodle` put points into it. `one` grades a single student's
folder, which is what `gradescope` and `github` do on somebody else's machine. nbgrader needs no module: the notebooks
themselves are its assignments.
"""
