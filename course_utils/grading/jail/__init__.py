"""The half of grading that runs in the sandbox, beside the code of strangers: it knows no answer.

`server` is the warm process: after `warm_up` it forks a `child` for each submission, which `linux` shuts in (with the
filter of `calls`), `plan` tells which cells to run, and `kernel` offers what a notebook's kernel would. `wire` is how
they talk to `grading.sandbox` outside.
"""
