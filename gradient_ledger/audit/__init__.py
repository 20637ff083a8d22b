"""`gradient-ledger train.py`: run a training script unchanged under a gradient ledger, and say what it found.

In the course the same command is called `course audit`.

Nothing of torch is imported before the script imports it: what a script sets in its environment beforehand counts.
So nothing here imports torch or a part of the ledger at its top, but for `formats.picture`, which is looked for at the
end of a run that asks for it.

The rooms, in the order in which a run passes them:

- `command`: arguments in, exit status out.
- `options`: the command line, and its faults that can be seen before the script runs.
- `imports`: the script or module as code with a fresh `__main__`; waiting until torch has been imported.
- `runner`: one run of the script under a ledger.
- `process`: what a run needs of the process it shares with the script: streams, threads, signals, exits.
- `outcome`: how the script ended, and what the audit makes of it, as frozen data.
- `formats`: an outcome as text, as JSON, as a picture.
"""

from gradient_ledger.audit.command import audit, main
from gradient_ledger.audit.options import DESCRIPTION, Options, add_arguments, read_options, where_arguments_stand
from gradient_ledger.audit.outcome import CLEAN, COULD_NOT_RUN, FOUND
from gradient_ledger.audit.process import nobody_reads

__all__ = [
    "CLEAN",
    "COULD_NOT_RUN",
    "DESCRIPTION",
    "FOUND",
    "Options",
    "add_arguments",
    "audit",
    "main",
    "nobody_reads",
    "read_options",
    "where_arguments_stand",
]
