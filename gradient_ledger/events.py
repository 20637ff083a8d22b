"""What a ledger writes down: events, the places they came from, and the findings drawn from them.

Recorder and rules meet here and nowhere else. Everything is frozen, plain and importable without torch, so that a
log can be written by hand, as the tests of the rules do.
"""

from __future__ import annotations

import linecache
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, ClassVar, Literal

Severity = Literal["error", "warning", "info"]


@dataclass(frozen=True)
class Place:
    """A line of the user's program: the innermost one outside torch and outside installed libraries."""

    file: str
    line: int
    function: str = ""
    through: str = ""
    """The library that acted for that line, such as `accelerate/optimizer.py:172`; empty when there is none."""

    @property
    def code(self) -> str:
        """The text of the line, or an empty string where it cannot be read."""
        return linecache.getline(self.file, self.line).strip()

    @property
    def short(self) -> str:
        """`train.py:31`, or `In[5]:3` for the third line of a notebook cell."""
        return f"{cell_name(self.file) or os.path.basename(self.file)}:{self.line}"

    def __str__(self) -> str:
        """The same with the path from here, where the file stands below: editors and terminals follow it."""
        name = self.short
        if not cell_name(self.file) and os.path.isabs(self.file):
            try:
                path = os.path.relpath(self.file)
            except (OSError, ValueError):  # the folder that one is in was removed, or is on another drive
                path = ".."
            name = name if path.startswith("..") else f"{path}:{self.line}"
        return f"{name} (through {self.through})" if self.through else name

    def plain(self) -> dict[str, Any]:
        """The place as JSON: file, line, function, code, and the library in between if there was one."""
        found = {"file": self.file, "line": self.line, "function": self.function, "code": self.code}
        return found | ({"through": self.through} if self.through else {})


def cell_name(file: str) -> str:
    """`In[5]` for the file name IPython gave to the text of a cell, an empty string for anything else."""
    if "ipykernel_" not in file and not file.startswith("<ipython-input"):
        return ""
    old = re.match(r"<ipython-input-(\d+)-", file)
    if old:
        return f"In[{old[1]}]"
    try:
        from IPython.core.getipython import get_ipython

        shell = get_ipython()
        named = shell.compile.format_code_name(file) if shell else None
        return str(named[1]) if named and named[0] == "Cell" else "cell"
    except Exception:  # another front end, or an older IPython: the word must do
        return "cell"


Trail = tuple[tuple[str, int], ...]
"""Up to three of the user's frames, innermost first, as `(file, line)`: who called for a backward pass."""


@dataclass(frozen=True, kw_only=True)
class Event:
    """One entry of the ledger; each kind is a class of its own below.

    Fields hold plain values alone: numbers, words, places, and parameters by their names.
    """

    kind: ClassVar[str] = ""
    """The kind in a word or two, as tables and JSON give it."""

    number: int
    """Events are numbered as they happen; a step stands where its update happens."""
    step: int
    """Optimizer steps taken before it, by all optimizers together."""
    window: int
    """Steps that the optimizer of these parameters had taken."""
    where: Place | None = None
    """The line of the user's program that made it happen."""
    names: tuple[str, ...] = ()
    """The parameters concerned."""
    thread: int = 0
    """Which of the training threads, counted from 0 as they were met."""

    def details(self) -> dict[str, Any]:
        """The fields that this kind has beyond every event's own."""
        common = {one.name for one in fields(Event)}
        return {one.name: getattr(self, one.name) for one in fields(self) if one.name not in common}

    def plain(self) -> dict[str, Any]:
        """The event as JSON."""
        return {
            "number": self.number,
            "kind": self.kind,
            "names": list(self.names),
            "step": self.step,
            "window": self.window,
            "thread": self.thread,
            "where": self.where.plain() if self.where else None,
            "details": {key: _plain(value) for key, value in self.details().items()},
        }


@dataclass(frozen=True, kw_only=True)
class Forward(Event):
    """The user's code called a model."""

    kind: ClassVar[str] = "forward"

    model: str
    """Its label, with the path of the part that was called."""
    training: bool
    """Whether the module was in train mode."""
    grad: bool
    """Whether autograd was recording."""
    region: int | None = None
    """Number of the autocast block it stands in; None outside, or where autocast keeps no copies."""
    sync: bool | None = None
    """DDP: whether this forward prepares an all-reduce; None for other models."""


@dataclass(frozen=True)
class Reach:
    """Parameters that a loss reaches on a way on which it is seldom meant to train them."""

    how: Literal[
        "bootstrap",
        "teacher",
        "mirror",
        "half mirror",
        "twice",
        "draw",
        "undone",
        "turned",
        "score",
        "itself",
        "anchor",
        "label",
        "probe",
    ]
    """Through a target made of a discounted value; through what a teacher says; through the other view, which a
    predictor is to match, and the same where the first view is a constant there; through what a row of a table is
    compared with twice, and not both times with a constant on one side; through `torch.normal`, whose gradient is
    zero; through `n` in `n + (m - n)`, whose gradients cancel; through the mean of a sample that moves with it, and is
    weighed by its log-probability; through the difference of a parameter and itself, or a copy of it that has its
    graph; through its difference to a constant that moves with it; through what the text calls a guessed label;
    through what a probe, by its name, is given."""
    names: tuple[str, ...]
    """The parameters."""
    where: Place | None = None
    """The line of the target, the teacher, the draw, the sum or the copy, where the text shows it."""


@dataclass(frozen=True, kw_only=True)
class Backward(Event):
    """A backward pass began."""

    kind: ClassVar[str] = "backward"

    pass_number: int
    """Backward passes are numbered from 1."""
    root: str = ""
    """Name of the loss's last operation, such as `NllLoss` or `Div`."""
    of_outputs: bool = False
    """Whether it is a sum or a mean of outputs, all of them or some that were picked, as by `max` or by an index, which
    is seldom a loss. Asked in the first passes of a line."""
    reduction: str | None = None
    """`mean`, `sum` or `none` where the loss ends in a reduction, else None."""
    divisor: float | None = None
    """The constant a mean loss was divided by on the way to its root; None where there is none."""
    shares: tuple[int, ...] = ()
    """By which whole numbers it was divided as a whole, one after the other; looked at in some passes of a line."""
    divided_beside: Place | None = None
    """Where the other branch of a condition divides its loss by the size of the window, while this one divides nothing,
    by the text; looked at for the first passes of a line."""
    divided_beside_by: str = ""
    """By what it does, as it is written."""
    shared_at: Place | None = None
    """Where the outermost of the functions that called for the pass divides it by one of these."""
    shared_by: str = ""
    """What it is divided by where that function divides it twice by the same, as it is written."""
    targets: int | None = None
    """Over how many targets a cross-entropy that is divided so is a mean, where that can be read."""
    loss_at: Place | None = None
    """Where such a loss was made, or a sum of which a summand was left undivided, or one divided by several numbers."""
    quotient: int = 0
    """By which whole number the loss was divided as a whole, a mean or none; 0 for none, and behind the first passes of
    a line, where it is no sum."""
    told_divided: bool = False
    """Whether the text divides such a sum where it goes backward, or where its name comes from, in one of the functions
    that called for the pass."""
    divided_by: str = ""
    """By what the text divides a loss that was divided, as it is written; looked at in the first passes of a line."""
    divided_at: Place | None = None
    """Where it does."""
    for_windows: bool = False
    """Whether the text divides such a loss by what it calls the size of a window, or the number of micro-batches."""
    parts_for_windows: bool = False
    """Whether it divides a summand of a sum by that, and not the sum."""
    value: float | None = None
    """What the loss was worth, where nothing divides it; read on a CPU in the first passes of a line."""
    written: tuple[str, ...] = ()
    """Weights it reaches that are not what they were before the forward, and no step has moved since."""
    written_at: Place | None = None
    """The first line between the two that may have written to them."""
    counted_again: int = 0
    """Over how many targets a cross-entropy is a mean that is divided by their number again; 0 where it is not, and
    where that was not asked."""
    over_counts: tuple[float, ...] = ()
    """By which numbers a sum was divided as a whole, one after the other from the root on, where these are several."""
    summed_entries: int = 0
    """Over how many rows that sum is at most, 0 where that is not known."""
    rows_again: int = 0
    """Over how many rows it is a mean that is divided by their number again, where the text says that this divides by
    the rows of a batch."""
    rows_again_at: Place | None = None
    """Where it says so."""
    part_again: Place | None = None
    """Where it divides a summand by what it divides the sum by as well."""
    means: bool = False
    """Whether the loss is a sum of means, or their mean; looked at in the first passes of a line."""
    counts: tuple[float, ...] = ()
    """By which counts its sums were divided, where all of its summands are means or such; but those over all that was
    summed, which are means."""
    bare: bool = False
    """Whether it is a mean that was multiplied or divided by nothing."""
    weighed: bool = False
    """Whether it is a mean with a weight such as people write, divided by nothing."""
    summands_by: tuple[int, ...] | None = None
    """By which whole numbers its summands are divided, where it is a sum that nothing divides as a whole."""
    undivided: str = ""
    """The operation of a summand that was not divided, where another one was; else empty."""
    classes: int = 0
    """The number of classes by which a summand is divided, as a mean over products with log-probabilities."""
    classes_at: Place | None = None
    """The one line that computes a divergence, else that of the loss."""
    summed: SummedRows | None = None
    """A summand that sums over the rows of a batch where another one is their mean; looked at in the first passes of a
    line."""
    contrast: int = 0
    """Rows of the square table of similarities by which the loss tells each row from the others; 0 for none."""
    critic: tuple[str, ...] = ()
    """Parameters of the value that weighs a log-probability in this loss, where that value has a graph."""
    critic_at: Place | None = None
    """The line of the product of the two, where the text shows it."""
    flat_ratio: bool = False
    """Whether the loss holds a ratio of probabilities, new to old, and all entries of it are 1."""
    ratio_cancels: bool = False
    """Whether both sides of that ratio have a graph and reach the same parameters, equally often."""
    ratio_at: Place | None = None
    """The line that computes the old probabilities anew in the loop of the steps, where the text shows one."""
    squashed: str = ""
    """`softmax` or `sigmoid`, where this loss takes what that gave for scores and applies another one to it."""
    squashed_at: Place | None = None
    """The one line that applies it first, where the text shows one, else that of the loss."""
    ignored_at: Place | None = None
    """Where a `backward` of the user's own returns, which never reads the gradient it is given, though that was not 1
    and what it returned not zero."""
    unreversed_at: Place | None = None
    """Where a layer that should reverse gradients, by its name, computed one that points as the one it was given."""
    read_inside: bool = False
    """Whether the user's code read the gradient of something computed that it went through, as of a layer's output."""
    reaches: tuple[Reach, ...] = ()
    """Where it reaches parameters on a way that is seldom meant; looked at for the first passes of a line."""
    idle_summand: str = ""
    """The text of a summand of the loss that has no graph; empty where there is none."""
    idle_value: float | None = None
    """What that summand was worth, where the text tells which variable it is."""
    idle_cut: bool = False
    """Whether the text shows that it left the graph: by `no_grad()`, `detach()` or the like."""
    idle_inner: bool = False
    """Whether it stands in the loss under a square or in a function of its own, beside what has a graph."""
    idle_at: Place | None = None
    """The line where it got its value, or where what another summand is made of leaves its graph for this one."""
    idle_cut_at: Place | None = None
    """The one line that may take it out of its graph in the functions that it was computed by, by the text."""
    idle_names: tuple[str, ...] = ()
    """The parameters that it reaches, where it has a graph after all: none of them is in an optimizer of what the rest
    of the loss reaches."""
    graphless_grad: Place | None = None
    """The call of `torch.autograd.grad` without `create_graph` that it was computed with."""
    apart: tuple[str, ...] = ()
    """Parameters of a value, one number a row from a last layer, that the loss adds as it is, where nothing else in
    the loss reaches them and none of their optimizers holds anything that the rest of it reaches."""
    apart_at: Place | None = None
    """The line that draws what that value was given without a graph, or that detaches it; else that of the loss."""
    adapted: tuple[int, ...] = ()
    """Earlier passes whose gradients were added, inside this loss's graph, to what they are the gradients of."""
    last_at: Place | None = None
    """Where the text takes the last of the losses that a loop computed, and divides it by how often the loop ran."""
    last_of: int | None = None
    """By what it was divided there."""
    gradient: bool = False
    """Whether it began with a gradient the caller gave."""
    by_itself: bool = False
    """Whether that is the loss itself, a single number."""
    retain_graph: bool = False
    """Whether the graph stays for another pass."""
    scaled: bool = False
    """Whether the loss came from a gradient scaler."""
    scaled_twice: Place | None = None
    """Where a gradient scaler was given a loss that had been scaled before; looked at for the first calls of a line."""
    part_unscaled: bool = False
    """Whether a summand with a graph stands beside what the scaler has scaled."""
    sync: bool | None = None
    """DDP: whether gradients are all-reduced in this pass; None for other models."""
    same_root: int | None = None
    """The earlier pass that began at the very same loss."""
    made_for: int | None = None
    """The last of the earlier passes for which all that this loss makes of trained weights was made, where some of
    these weights have changed since; looked at for the first passes of a line whose graph stays."""
    again: tuple[int, ...] = ()
    """Earlier passes through whose losses this one came again."""
    again_partly: tuple[int, ...] = ()
    """Those of which it came through some of the losses that they are made of, and not through all."""
    against: Mapping[int, int] = field(default_factory=dict)
    """Earlier passes that brought gradients to the same places of the graph, and to how many entries of one place this
    one brought the opposite sign, to all that were looked at; 0 where there is no such place. Looked at for the first
    passes of a line after one whose graph stayed."""
    part_of: str | None = None
    """The sum of losses, by the user's name for it, of which this loss is a part, while neither that nor another part
    goes backward; empty where there is none. None for passes not looked at."""
    of_gradients: tuple[str, ...] = ()
    """Parameters from whose gradients, with their graph, it was computed; asked for the first passes of a line."""
    forwards: int = 0
    """Training forwards since the last backward at the call that ran last, 0 below two."""
    held: int | None = None
    """At most so many of them are in this loss: how often its graph uses the least used parameter. None where that
    was not asked."""
    piled: bool = False
    """Whether, by the text, they are micro-batches: a loop computes a loss of each, sums or lists these, and hands
    nothing on to the next; asked where `held` is."""
    window_sum: int = 0
    """How often its graph uses the least used matrix, where the loss is by the text a sum that a loop adds losses to
    until a condition lets it go backward; 0 where it is none, looked at for the first such passes."""
    gathered: bool = False
    """Whether the loop around that call goes over the parts of a batch by its text, and this pass stands behind it."""
    looped: bool = False
    """Whether, by the text, a loop runs the call; asked where `held` is."""


@dataclass(frozen=True, kw_only=True)
class Accumulate(Event):
    """A backward pass added to the gradients of `names`."""

    kind: ClassVar[str] = "accumulate"

    pass_number: int
    onto_fresh: int = 0
    """How many of them held gradients that no step had used yet."""
    onto_used: tuple[str, ...] = ()
    """Those that held gradients a step had used."""
    onto_skipped: tuple[str, ...] = ()
    """Those that held the gradients of a skipped step."""
    moved: tuple[str, ...] = ()
    """Those of the fresh ones whose weights had been changed since the gradients they hold were computed."""
    moved_at: Place | None = None
    """The line of the pass's own function that led to the last look at those gradients, by a text that changes tensors
    in place."""


@dataclass(frozen=True, kw_only=True)
class Clear(Event):
    """Gradients were set to None or to zeros."""

    kind: ClassVar[str] = "clear"

    how: Literal["none", "zeros"]
    by: int | None = None
    """Number of the optimizer whose `zero_grad` it was."""
    full: int = 0
    """How many of them held anything but zeros."""
    lost: int = 0
    """Backward passes thrown away that no step had used, the most of any one gradient."""
    lost_names: tuple[str, ...] = ()
    """The parameters that lost some."""
    lost_trails: tuple[Trail, ...] = ()
    """Where those passes came from."""
    unread: tuple[str, ...] = ()
    """Those of them whose gradient nobody had read."""
    taken: bool = False
    """Whether the user's code had read what was thrown away: it may have put it elsewhere."""
    after_step: bool = False
    """Whether some optimizer had stepped since those passes."""
    nonfinite: bool = False
    """Whether inf or nan was among what was thrown away."""
    idle_edits: tuple[str, ...] = ()
    """The parameters whose gradients the user's code had changed after a step, with no pass, no step and no look at
    them since."""
    edited_at: Place | None = None
    """The line that had changed the first of them, which does nothing else by its text."""
    edited_by: Place | None = None
    """Where that line stands in a function: the call of it that follows the step."""
    hooked: bool = False
    """Whether a module or a parameter has a hook on its backward, which may have kept what a pass computed; looked at
    the first few times that something is thrown away."""


@dataclass(frozen=True, kw_only=True)
class Clip(Event):
    """`clip_grad_norm_`, `clip_grad_value_` or one of their parts was called."""

    kind: ClassVar[str] = "clip"

    function: str
    limit: float | None = None
    limit_is_product: bool = False
    """Whether that is worked out by a multiplication in the text."""
    order: float | None = None
    """The kind of norm."""
    status: Mapping[str, int] = field(default_factory=dict)
    """How many gradients were `empty`, `zero`, `fresh`, `used`, `skipped`, or `orphan`: old, and no optimizer's."""
    scaled: bool = False
    """Whether any of them carried the loss scale."""
    scale: float | None = None
    """The loss scale at that time."""
    measured: bool = False
    """Whether norms were taken: only the first few times."""
    square: float = 0.0
    """Sum of squares of all of them before clipping."""
    largest: float = 0.0
    """Largest absolute value, for `clip_grad_value_`."""
    first_group: int | None = None
    """The optimizer whose first group it was given, by a text that reads `param_groups[0]`, or its last one, by the
    name that a loop over them has left; None where that optimizer has no other groups, or the text reads otherwise."""
    whole_at: Place | None = None
    """Another call in the same function that clips all of the model by the same limit, where this one was given a part
    of it, by the text."""
    spent: bool = False
    """Whether it was given an iterator that had nothing left to give."""
    strangers: int = 0
    """Tensors it was given that have no gradient and belong to no model and no optimizer that was met, where it was
    given nothing else."""


@dataclass(frozen=True, kw_only=True)
class Edit(Event):
    """Gradients were changed by the user's code."""

    kind: ClassVar[str] = "edit"

    how: Literal["in place", "assigned", "hidden", "shared"]
    """`hidden`: without a trace in the version counter. `shared`: another parameter holds the same tensor."""
    status: str = ""
    """What the first of them held before: `empty`, `zero`, `fresh`, `used` or `skipped`."""
    factors: tuple[float, ...] = ()
    """By what the norms changed, where they were taken."""
    adds_gradient: bool = False
    """Whether the text of the line adds a `.grad` in place to something: to itself, if it is this one that changed."""
    kept_at: Place | None = None
    """The line that keeps a gradient as it is, and no copy of it, by the text of the function that changed these, which
    adds gradients in place to what it has kept."""
    scaled: bool = False
    """Whether any of them carried the loss scale."""
    norms: tuple[float, float] | None = None
    """Norm of one of them before and after, for hidden ones, and those that were to be measured."""
    measured_at: Place | None = None
    """The line that changes a NumPy view of them in place which is read after that, where no version counter moved."""
    copy_changed_at: Place | None = None
    """The same for one that is not read after that, and that was taken by way of `.cpu()`."""
    overwrote: tuple[str, ...] = ()
    """Parameters whose gradient had been assigned before, and neither used nor read since."""
    meant: bool = False
    """Whether the line says in so many words that it writes behind autograd's back."""
    carried: Literal["", "all", "last"] = ""
    """For one that was thrown away piece by piece and is put back: all of the pieces, or the last alone."""


@dataclass(frozen=True, kw_only=True)
class Unscale(Event):
    """`scaler.unscale_(optimizer)` divided the gradients by the loss scale."""

    kind: ClassVar[str] = "unscale"

    optimizer: int


@dataclass(frozen=True)
class Crossing:
    """Gradients of two backward passes with another optimizer's step between them."""

    names: tuple[str, ...]
    """The parameters that hold both."""
    numbers: tuple[int, ...]
    """The passes."""
    first: Place | None
    """The line of the first pass."""
    first_trail: Trail
    """Who called for the first pass."""
    last_trail: Trail
    """Who called for the last one."""


@dataclass(frozen=True)
class Comparison:
    """What a step used, against the reference the user gave."""

    right: bool
    """Whether both agree to the precision of the gradient."""
    norm: float
    """Of what the step used."""
    reference_norm: float
    """Of what it should have used."""
    ratio: float
    """Norm over reference norm."""
    cosine: float
    """Of the angle between the two."""
    relative_error: float
    """Norm of the difference over the reference norm."""
    weights: tuple[float, ...] = ()
    """The weights with which the passes' own gradients make up the reference; empty where that was not asked."""
    left_over: float = 1.0
    """Norm of what is then left of the reference, relative."""


@dataclass(frozen=True)
class Rounded:
    """What a step did to a sample of half-precision weights."""

    names: tuple[str, ...]
    """The matrices that the sample is of."""
    dtype: str
    """`bfloat16` or `float16`."""
    rate: float
    """Their learning rate at this step."""
    entries: int
    """Entries of the sample whose gradient was not zero."""
    still: int
    """Those of them that held the same number after the step."""


@dataclass(frozen=True)
class Evaluated:
    """Parts of a model that ran in eval mode, without gradients or where nothing trains them, after they had been
    trained in train mode."""

    parts: tuple[str, ...]
    """Those that compute something else in train mode, such as dropout, with their classes."""
    where: Place | None
    """The line that put them into eval mode."""
    stays: bool
    """Whether they are still in it at this step, which trains them; else they are in train mode again."""
    begins_at: Place | None = None
    """The first line of the function that trains them, where another one evaluates and the text calls `train()`
    nowhere."""
    saved: bool = False
    """Whether they did not run: their state was taken for a checkpoint, by the function that put them into it."""


@dataclass(frozen=True, kw_only=True)
class Ending(Event):
    """What ends a window: a step, or one that a scaler skipped. `names` are the parameters with fresh gradients."""

    optimizer: int | None = None
    """Its number; None for a step written by hand."""
    inside: int | None = None
    """Number of the optimizer in whose own step this one was taken; None for one of the user's."""
    inside_backward: bool = False
    """Whether it happened inside a backward pass, from a hook."""
    closure_calls: int | None = None
    """How often the closure ran; None without one."""
    closure_idle: int = 0
    """How often it ran again and left no new gradient."""
    by_scaler: bool = False
    """Whether a gradient scaler took it."""
    scale: float | None = None
    """The loss scale, where a scaler took it."""
    updated_at: Place | None = None
    """Where that scaler was updated between the first of its passes and the step."""
    rescaled: float | None = None
    """How many times as large the scale was at that pass as at the step; None where it was the same."""
    rate: float | None = None
    """Learning rate of the first group."""
    first_rate_alone: bool = False
    """Whether that of the first of several groups has left the one with which all were met, and no other's; looked at
    during steps 1, 2, 3, 5, 9 and so on."""
    at_rest: bool = False
    """Whether a schedule has set that of all its groups to 0, in an optimizer of torch: nothing moves."""
    rate_shifts: int = 0
    """How often the learning rate was another one at the next pass of the window, whatever set it."""
    moved_rates: int = 0
    """At how many of its passes the learning rate was another one than at the pass before, where a schedule of the
    user's own moves on in the loop around them."""
    scheduled_at: Place | None = None
    """Where it does so, if this step stands outside of that loop."""
    region: int | None = None
    """Number of the autocast block it stands in."""
    region_at: Place | None = None
    """The line that opens it, where that stands in the same function."""
    under: Place | None = None
    """The `if` it stands under; None where there is none."""
    condition: str = ""
    """The text of that `if`'s test."""
    never_last: str = ""
    """The part of it that asks whether the loop is at its last turn, and that its counter never fulfils."""
    reported: Place | None = None
    """The line where the loss that is shown is divided by the size of the window, if the text has one."""
    unread: tuple[str, Place] | None = None
    """A name that holds the size of a window, which nothing in the step's function reads, and where it is made."""
    gathers: bool = False
    """Whether the text gathers micro-batches for this step, and divides nothing but losses by their number."""
    counted_to: int = 0
    """The number whose remainder that `if` takes, as the user's variables have it; asked for the first steps of an
    optimizer, 0 where none was found."""
    passed_over: Place | None = None
    """The last `continue` before that `if` in the same loop, or `return` in the same function."""
    behind: Place | None = None
    """The head of the `for` that it stands behind, in the same block, where each turn of that clears, goes backward and
    steps nothing."""
    turned_at: Place | None = None
    """The `if` around it whose remainder must not be 0 for it to be taken."""
    on_last_of: Place | None = None
    """The head of the `for` that it and a backward() stand behind, in the same block, where each turn of that trains
    something, and the loss behind it is made of what the last turn was given."""
    restored: Place | None = None
    """Where this optimizer's state was loaded from a checkpoint since its last step."""

    fresh: int = 0
    """Parameters with gradients no step has used."""
    none: tuple[str, ...] = ()
    """Parameters whose gradient is None."""
    zeros: tuple[str, ...] = ()
    """Parameters whose gradient was cleared to zeros and not added to since."""
    stale: tuple[str, ...] = ()
    """Parameters whose gradient an earlier step has used, with nothing added since."""
    frozen: tuple[str, ...] = ()
    """Those of the stale ones that need no gradient any more."""
    skipped: tuple[str, ...] = ()
    """Parameters that still hold the gradients of a skipped step."""
    used_by: tuple[int, ...] = ()
    """The optimizers that had used the stale ones; -1 for a step by hand."""
    mixed: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Under `used` and `skipped`: parameters whose fresh gradients were added onto such ones."""
    rewound: bool = False
    """Whether parameters with stale gradients were changed by hand since."""
    assigned: bool = False
    """Whether any fresh gradient was put there by the user's code."""
    finite: bool = True
    """False where inf or nan was seen among what the step uses."""

    passes: int = 0
    """Backward passes in the fullest gradient."""
    pass_numbers: tuple[int, ...] = ()
    """The numbers of those passes."""
    trails: tuple[Trail, ...] = ()
    """Where those passes came from, one by one."""
    scaled: tuple[bool, ...] = ()
    """Whether their losses were scaled: none, one or both of False and True."""
    last_pass_at: Place | None = None
    """The line of the last of them."""
    crossed: Crossing | None = None
    """Where gradients from before and after another optimizer's step are in it together."""
    kept_as_state: tuple[str, ...] = ()
    """Parameters whose very gradient the optimizer keeps as its state; looked at after the first few steps."""
    kept_at: Place | None = None
    """Where the optimizer's code took hold of them."""
    one_memory: tuple[str, ...] = ()
    """Two parameters that lie in one place, both with a gradient; looked at during steps 1, 2, 3, 5, 9, …, and not
    where an optimizer's steps by two gradients are one step by their sum."""
    listed_twice: tuple[str, ...] = ()
    """Parameters that stand more than once among those it steps; looked at as often."""
    joined_at: Place | None = None
    """The line that gives one of them the memory of the other, where the text shows one."""
    made_of_one: bool = False
    """Whether the text makes both of one tensor, at that line and an earlier one."""
    low_precision: str = ""
    """`bfloat16` or `float16` where several passes were summed in it."""
    norm: float | None = None
    """Norm of what it used, taken at the first few steps."""
    rounded: Rounded | None = None
    """What it did to weights of half precision; looked at after 8, 16, 32, … steps of torch's own optimizers."""
    unfilled: Mapping[str, float] = field(default_factory=dict)
    """Parameters whose momentum was made by a fused step that was skipped, and filled by nothing since, and the
    largest number in it; looked at before the first step that is taken."""
    evaluated: tuple[Evaluated, ...] = ()
    """What was put into eval mode before it: at the step that finds it in train mode again, and at all that do not."""
    idle_moved: Mapping[str, float] = field(default_factory=dict)
    """Parameters that moved on a gradient of zeros, and how far; looked at during the first few steps."""
    none_moved: Mapping[str, float] = field(default_factory=dict)
    """Parameters that had no gradient at all, and that an optimizer of the user's own moved, and how far; looked at
    during the first few steps."""
    idle_by: tuple[str, ...] | None = None
    """What moves parameters on a gradient of zeros, by the settings of an optimizer of torch's own: `momentum`, `weight
    decay`; None for other optimizers, and where no gradient was zeros."""
    batch_norm: int = 0
    """Training calls of the busiest BatchNorm in this window, 0 below two."""
    batch_norm_names: tuple[str, ...] = ()
    """A few of the BatchNorms that ran more than once."""
    batch_norm_at: Place | None = None
    """Where the first of them was first called."""
    hooks: Mapping[str, int] = field(default_factory=dict)
    """Parameters that carry more gradient hooks than at any step before, and how many."""
    hooks_scale: bool = False
    """Whether the text of the last hook multiplies or divides by a number: twice the hook is twice the effect."""
    hooked_at: Place | None = None
    """Where a gradient hook was last registered."""
    reference: Comparison | None = None
    """What it used against the user's reference, where one was given."""

    @property
    def lines(self) -> int:
        """How many different places its backward passes came from."""
        return len(set(self.trails))


@dataclass(frozen=True, kw_only=True)
class Step(Ending):
    """An optimizer stepped, or parameters were stepped by hand."""

    kind: ClassVar[str] = "step"


@dataclass(frozen=True, kw_only=True)
class SkippedStep(Ending):
    """A gradient scaler left a step out, because of inf or nan."""

    kind: ClassVar[str] = "skipped step"


@dataclass(frozen=True, kw_only=True)
class SchedulerStep(Event):
    """A learning-rate scheduler stepped."""

    kind: ClassVar[str] = "scheduler"

    scheduler: str
    """Its class."""
    which: int
    """Tells one scheduler from another."""
    optimizer: int | None = None
    pending: int = 0
    """Backward passes of its optimizer that no step had used yet."""
    after_skip: bool = False
    """Whether the last step was skipped."""
    rate: float | None = None
    """The learning rate it set."""
    told: bool = False
    """Whether it was told where training stands, as in `step(epoch + i / batches)`: then it counts nothing."""
    in_epochs: str = ""
    """What says when it lowers the rate, where that counts epochs by its names, or by being no more than there are."""
    outside: bool = False
    """Whether no line of the user's that led to it stands in a loop."""
    loop: Place | None = None
    """The head of the innermost `for` around it, where that was found."""
    in_steps: str = ""
    """The function that sets the rate, where its text counts optimizer steps."""
    in_rates: str = ""
    """The function of a `LambdaLR`, where its text gives a learning rate by the name of something in it."""
    in_rates_at: Place | None = None
    """Where that returns it."""
    base: float | None = None
    """The rate that such a function's value is multiplied with."""
    made_at: Place | None = None
    """The user's line that made it."""


@dataclass(frozen=True, kw_only=True)
class ScalerUpdate(Event):
    """A gradient scaler updated its scale."""

    kind: ClassVar[str] = "scaler update"

    before: float | None
    after: float | None


@dataclass(frozen=True, kw_only=True)
class OwnLoad(Event):
    """A model was given its own weights to load, in place of those that a snapshot was to keep."""

    kind: ClassVar[str] = "own weights loaded"

    kept_at: Place | None = None
    """The `state_dict()` that gave them."""
    steps: int = 0
    """Optimizer steps taken since."""
    replaced_at: Place | None = None
    """Where other weights were loaded since, if it was not a step that changed them."""
    computed: bool = False
    """Whether what was loaded is computed from such a snapshot, and no tensor of it."""
    at_once: bool = False
    """Whether the line that loads them takes them from the model, too, so that it meant another one."""
    besides: bool = False
    """Whether that line has copied from one model to another, too."""


@dataclass(frozen=True, kw_only=True)
class InputGradient(Event):
    """The gradient of a tensor that is no parameter was read: an attack, a saliency map."""

    kind: ClassVar[str] = "input gradient"

    backward: int
    """The pass it came from."""
    onto_read: bool = False
    """Whether that pass added to what had been read before, and the tensor has changed since."""
    as_number: bool = False
    """Whether the line makes a number of it, as for a log."""


@dataclass(frozen=True, kw_only=True)
class Taken(Event):
    """The user's code took hold of gradients that a pass had added to ones which a step had used before."""

    kind: ClassVar[str] = "taken"

    backward: int
    """The last pass in them."""


@dataclass(frozen=True, kw_only=True)
class DataPass(Event):
    """A DataLoader was asked for its batches from the start."""

    kind: ClassVar[str] = "pass over data"

    pending: int = 0
    """Backward passes that no step had used yet, the most of any gradient."""


@dataclass(frozen=True, kw_only=True)
class StateSaved(Event):
    """The state of an optimizer was asked for to be saved, by the text, while gradients waited for its step."""

    kind: ClassVar[str] = "state saved"

    optimizer: int
    """Number of the optimizer."""
    pending: int
    """Backward passes that none of its steps had used yet, the most of any of its gradients."""


@dataclass(frozen=True, kw_only=True)
class AverageUpdate(Event):
    """A running average of the weights was updated: tensors moved towards parameters that are trained."""

    kind: ClassVar[str] = "average"

    pending: int = 0
    """Backward passes that no step had used yet, the most of any gradient."""
    trained: bool = False
    """Whether an optimizer holds the average itself."""
    mutual: bool = False
    """Whether what it moved towards was moved towards it as well."""
    again: bool = False
    """Whether it is one of torch's averages, and has taken in these weights before: no step was taken since."""
    update_at: Place | None = None
    """The user's line that updates one of torch's; the event stands at that of the training loop."""


@dataclass(frozen=True, kw_only=True)
class LocalNorm(Event):
    """The norm of those parts of sharded gradients was taken that this process holds."""

    kind: ClassVar[str] = "local norm"

    reduced: bool = False
    """Whether the user's code spoke with the other processes afterwards."""


KINDS: tuple[type[Event], ...] = (
    LocalNorm,
    Taken,
    Forward,
    Backward,
    Accumulate,
    Clear,
    Clip,
    Edit,
    Unscale,
    Step,
    SkippedStep,
    SchedulerStep,
    ScalerUpdate,
    OwnLoad,
    InputGradient,
    DataPass,
    StateSaved,
    AverageUpdate,
)
"""Every kind of event, in the order in which a reader meets them."""


@dataclass(frozen=True)
class Finding:
    """One cause of wrong, lost or wasted gradients: an id of the catalogue, where, the numbers, and the remedy."""

    misconception: str
    """Its id in the catalogue."""
    severity: Severity
    where: Place | None
    """The line to look at, where one is known."""
    evidence: Mapping[str, Any]
    """The numbers: which steps, how many backward passes, norms; `text` says them in one sentence."""
    remedy: str
    """Which line to move, or what to write."""
    called_at: Place | None = None
    """The line of a loop that calls the helper in which `where` stands, if it stands in one; or of the function that
    goes backward."""

    @property
    def text(self) -> str:
        """What was seen, in a sentence."""
        return str(self.evidence.get("text", ""))

    @property
    def beside(self) -> tuple[tuple[str, Place], ...]:
        """Further lines it speaks of, each behind its words (`made at`): the places of its evidence, by their keys."""
        told = (self.where, self.called_at)
        places = [(key, at) for key, at in self.evidence.items() if isinstance(at, Place) and at not in told]
        return tuple((key.replace("_", " "), at) for key, at in places)

    def plain(self) -> dict[str, Any]:
        """The finding as JSON."""
        return {
            "misconception": self.misconception,
            "severity": self.severity,
            "where": self.where.plain() if self.where else None,
            "called_at": self.called_at.plain() if self.called_at else None,
            "evidence": {key: _plain(value) for key, value in self.evidence.items()},
            "remedy": self.remedy,
        }


def _plain(value: Any) -> Any:
    if isinstance(value, Place):
        return value.plain()
    if is_dataclass(value):
        return {one.name: _plain(getattr(value, one.name)) for one in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_plain(item) for item in value]
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return str(value)  # JSON has no such numbers
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    return str(value)


@dataclass(frozen=True)
class ParameterFacts:
    """What the ledger knows of one parameter at the end."""

    name: str
    owners: tuple[int, ...]
    """Numbers of the optimizers that hold it, without those that were let go before they ever stepped."""
    deposits: int
    """How many backward passes added to it."""
    requires_grad: bool
    """Whether a gradient could be expected when we last looked."""
    ran: int
    """How often the module that holds it was called while it could have been trained."""
    given: bool
    """Whether the user's code ever put a gradient there itself."""
    is_parameter: bool
    """Whether it is an `nn.Parameter`, not a plain tensor."""
    in_model: bool
    """Whether a module seen running still holds it."""
    read: bool = False
    """Whether the user's code ever read its gradient, or had it clipped."""
    by_hand: bool = False
    """Whether it did so itself, not by torch's clipping."""
    shifted: bool = False
    """Whether it was written to between two passes that reached it, while an optimizer held it."""
    thawed: bool = False
    """Whether it got gradients since it required them again, and no optimizer that holds it has stepped since then."""
    stepped_by: tuple[int, ...] = ()
    """Numbers of the optimizers whose steps found a gradient on it, in windows that are not kept, too."""
    taken_frozen: bool = False
    """Whether it required no gradient when its first optimizer was made."""
    frozen_after: int | None = None
    """How many steps its optimizers had taken when it was last seen to be frozen anew."""
    came_back: bool = False
    """Whether it was seen to be frozen after its optimizers had trained it, and to require gradients again."""
    norm: bool = False
    """Whether a BatchNorm holds it."""
    in_own_class: bool = False
    """Whether the module that holds it has a forward of the user's own, which may run and leave it out."""
    stepped_past: tuple[int, ...] = ()
    """Numbers of the optimizers whose steps used a backward pass that had reached it, too, while none held it: such a
    pass was no probe."""
    rewritten: bool = False
    """Whether the user's code writes to the parameter itself, as to a running average or a copy, while no optimizer
    holds it, or its optimizer finds no gradient on it."""
    called_at: Place | None = None
    """Where the module that holds it was first called."""
    training: bool = False
    """Whether that module was in train mode when it last ran."""
    trained: bool = False
    """Whether that module was in train mode at a step when this had a new gradient."""
    cut_at: Place | None = None
    """Where its output left the graph, if it got no gradient and that was seen."""
    cut_called_at: Place | None = None
    """Where the function that it left the graph in was called by the one that went backward, if these are two."""
    dropped: bool = False
    """Whether what its module gives was gone before the loss went backward, so that nothing had been made of it, and it
    left no graph anywhere."""
    thrown_at: Place | None = None
    """The first call of its model, if it got no gradient and the text throws one of the outputs away there."""
    in_checkpoint: bool = False
    """Whether that first call stood inside a reentrant checkpoint."""
    made_at: Place | None = None
    """Where the module that holds it was made, or where it was put into one that had run without it, if that was
    seen."""
    made: int = 0
    """When, on the clock that also counts optimizers; 0 for before the ledger was opened."""
    made_by: tuple[Place, ...] = ()
    """The user's calls that made that module, or a model that never ran, innermost first."""
    lent: bool = False
    """Whether no optimizer holds it, and one steps another parameter by the very tensor in its `.grad`."""
    made_after: int = 0
    """How many steps had been taken before."""
    let_go_at: Place | None = None
    """Where an optimizer that held it was made, which was let go before it ever stepped."""
    position: int = -1
    """Its place among the parameters of its model."""
    model: str = ""
    """Label of the model that holds it, or held it; empty where none is known."""
    shape: tuple[int, ...] = ()
    """Its shape when the ledger met it."""
    listed_at: Place | None = None
    """The line that makes the plain list in which its model stands, where no optimizer holds it."""
    frozen_zero: bool = False
    """Whether it is a frozen matrix of zeros that no optimizer ever held."""
    dead: bool = False
    """Whether it is a matrix that held nothing but zeros from the first step to the end, as did every gradient of it
    that was looked at, and whose gradient no code of the user's touches; False where fewer than 17 steps were taken."""
    factors: tuple[str, ...] = ()
    """The dead matrices before it in its model that a loss multiplies with it."""
    zeroed_at: Place | None = None
    """The line that fills a dead matrix with zeros, where the text shows one."""
    misspelt: str = ""
    """The name that was set to False on it where `requires_grad` was meant, and that no line of the text reads."""
    misspelt_at: Place | None = None
    """The line that sets it, where the text shows one."""
    replaced_at: Place | None = None
    """The line that puts its model where another one was, by the text: the second to give a value to what is called.
    Asked of models that get gradients and are in no optimizer."""


@dataclass(frozen=True)
class PassedBy:
    """An optimizer of the user's own around another one, which stood still while that was stepped from outside."""

    kind: str
    """Its class."""
    where: Place | None
    """The outermost line that names the inner one where both are in sight."""


@dataclass(frozen=True)
class OptimizerFacts:
    """What the ledger knows of one optimizer at the end."""

    number: int
    """Optimizers are numbered from 0 as they are met."""
    label: str
    """Its class, with a number where there are several optimizers."""
    steps: int
    """How many it took."""
    made_at: Place | None
    """The line where it was asked for: the one that made it, or the one that called a helper which makes several."""
    made: int = 0
    """When, on the clock that also counts modules; 0 for before the ledger was opened."""
    first_event: int = 0
    """Number of the first event after it was made; 0 where it existed before the ledger."""
    made_by: tuple[Place, ...] = ()
    """The user's calls that made it, innermost first."""
    helper: Place | None = None
    """The line of a helper that made it, where that is another one and made other optimizers, too."""
    grouped_at: Place | None = None
    """The statement that put together what it was given, where that is one of its own in the same function."""
    filtered_at: Place | None = None
    """Where that was chosen by `requires_grad` before."""
    picked_at: Place | None = None
    """The loop over the parameters of a part of a model, by its text, that alone fills what it was given."""
    filled_in_vain: tuple[str, Place] | None = None
    """The list that a loop over parameters fills in that function, beside others, and that nothing reads, and where."""
    follows: int | None = None
    """The optimizer of the same line that took its last step on the same parameters right before this one's first, and
    whose moments or momentum this one does not have; None where there is none."""
    moved: bool = False
    """Whether it never stepped, and what it holds has changed since its first gradients."""
    passed_by: PassedBy | None = None
    """What was made around it, steps it by its text and does more, and knew nothing of its steps; looked for at its
    fifth step, and looked at until the end."""
    empty_group: bool = False
    """Whether one of its groups held nothing when it was met."""
    by_dimensions: bool = False
    """Whether the text that made it picks parameters by their number of dimensions, and no group holds the others."""
    without_gradients: bool = False
    """Whether its class is the user's own, and its step says nothing of gradients by its text, as a proximal operator
    does not."""
    used_up_at: Place | None = None
    """Where, by the text, a generator was gone through before, which that group was given."""


@dataclass(frozen=True)
class ScheduleFacts:
    """What the ledger knows of one learning-rate scheduler at the end."""

    scheduler: str
    """Its class."""
    optimizer: int
    """Number of the optimizer whose rate it sets."""
    length: int
    """How many steps it is made for."""
    steps: int
    """How many it took."""
    where: Place | None
    """The line that stepped it last."""
    named: bool = True
    """Whether it says itself how many; else that is the largest whole number that its function holds."""
    in_steps: str = ""
    """What the text gives it as its time, where it calls that a number of steps."""
    in_epochs: str = ""
    """Its function as `name(argument)`, where the argument is called an epoch."""
    made_at: Place | None = None
    """The user's line that made it."""


@dataclass(frozen=True)
class UnsteppedSchedule:
    """A scheduler of torch's own that was made and never stepped, nor any other of its optimizer."""

    scheduler: str
    """Its class."""
    optimizer: int
    """Number of the optimizer whose rate it would set."""
    where: Place
    """The user's line that made it."""
    said: bool
    """Whether the text steps a scheduler somewhere, where the run did not come by."""


@dataclass(frozen=True)
class DoubledSchedule:
    """Schedulers of one class that were all made for one optimizer, while there are others that have none."""

    scheduler: str
    """Their class."""
    optimizer: int
    """Number of the optimizer that they were made for."""
    bare: int
    """Number of the first optimizer that takes steps and has no scheduler."""
    where: tuple[Place, ...]
    """The user's lines that made them, in order."""
    which: tuple[int, ...]
    """What tells them from one another in `SchedulerStep`."""


@dataclass(frozen=True)
class ScheduleAnew:
    """A scheduler of a known length that a loop over epochs makes for one optimizer, again and again."""

    scheduler: str
    """Its class."""
    optimizer: int
    """Number of the optimizer that they are made for."""
    where: Place
    """The user's line that makes them."""
    made: int
    """How many were made."""
    steps: int
    """How many steps all of them took."""
    length: int
    """The steps that each of them is made for."""


@dataclass(frozen=True)
class RateByPasses:
    """A function that sets the rate, given the number of micro-batches where the text knows that of steps."""

    where: Place
    """The call."""
    name: str
    """The function."""
    given: str
    """What it is given, as it is written."""
    steps: str
    """What the text calls the number of steps elsewhere."""


@dataclass(frozen=True)
class ShownWith:
    """A call that each step needs, under a condition for what is shown now and then."""

    where: Place
    """The call."""
    condition: str
    """What it stands under, as it is written."""
    what: str
    """What it moves: the `optimizer`, a `schedule` or an `average`."""


@dataclass(frozen=True)
class LastAlone:
    """A line behind a loop over parameters that changes the last of them."""

    where: Place
    """The line."""
    name: str
    """What it changes, as the loop calls it."""
    loop: Place
    """The head of the loop."""


@dataclass(frozen=True)
class SumApart:
    """One of several sums of a loop, which nothing divides where the others are, and a loss of all of them."""

    where: Place
    """The line that puts them together."""
    name: str
    """The sum that is left as it is."""
    others: tuple[str, ...]
    """Those that are divided."""
    by: str
    """What they are divided by, as it is written."""


@dataclass(frozen=True)
class SummedRows:
    """A summand of a loss that is a sum over rows, beside a mean over rows of the same batch."""

    rows: int
    """How many rows it sums over."""
    alike: bool
    """Whether the other one is computed the same way up to its reduction, or is a sum divided by its rows."""
    again: bool = False
    """Whether it is a mean that is divided by the number of its rows, and no sum."""
    entries: int = 0
    """How many entries of each row it sums over, where it is divided by its rows and the other is a mean over them."""
    alone: bool = False
    """Whether the others are neither such a mean nor a sum of this kind."""
    where: Place | None = None
    """The one line with a sum that nothing divides, else that of the loss."""


@dataclass(frozen=True)
class UnreadWeight:
    """A weight of a loss that nothing reads, by the text, beside a sum that holds that loss as it is."""

    where: Place
    """The line of the sum."""
    name: str
    """That of the weight."""
    declared_at: Place
    """The line that names it."""
    summand: str
    """The loss, as it is written."""


@dataclass(frozen=True)
class CounterAnew:
    """A counter of all steps that begins anew in each epoch, or the number of a step that stands for an epoch."""

    where: Place
    """The line that sets it to 0, or that hands it over."""
    name: str
    """Its name."""
    handed_as: str = ""
    """What it is called where it is handed to, if that is the number of all steps."""
    still: bool = False
    """Whether it is the number of the epoch, and stands still while one lasts."""


@dataclass(frozen=True)
class UnsavedKey:
    """A state that the texts save, and do not load by its key."""

    where: Place
    """The condition that asks for another key, or the line that loads the model."""
    of: str
    """The name of the object whose state it is."""
    key: str
    """The key that is asked for; empty where none is."""
    saved: str
    """The one by which it is saved, and which nothing reads."""
    loaded_by: str = ""
    """The function that would load it, where it is given the object."""


@dataclass(frozen=True)
class EmptyNorms:
    """BatchNorms in eval mode whose statistics are those that they were made with, and whose weights have moved."""

    where: Place
    """The user's call of their model."""
    names: tuple[str, ...]
    """They."""
    times: int
    """How often one of them had run so when it was last looked at."""


@dataclass(frozen=True)
class Uncalled:
    """A function that no text of the user's calls, or a method that a statement names and does not call."""

    name: str
    """Its name."""
    where: Place
    """Where it is defined, or named."""


@dataclass(frozen=True)
class VainClear:
    """A function that clears gradients by its name, and none by its text."""

    name: str
    """Its name."""
    where: Place
    """What it says last of a gradient."""
    called_at: Place
    """Its first call."""


@dataclass(frozen=True)
class Returned:
    """A `return` at the end of a loop's turn, so that there is no second one, by the text."""

    name: str
    """What the loop adds to or fills, and was made before it."""
    where: Place
    """The line of the `return`."""
    called_at: Place
    """The first call of its function."""


@dataclass(frozen=True)
class TargetNetwork:
    """A target network, by its name, and the network that it follows, or should."""

    name: str
    """Its name."""
    where: Place
    """The line that makes it, or that does with it what it should not."""
    follows: str
    """The name of the network that it follows, or should."""
    instead: Place | None
    """The line that asks that one about a later state, where the text shows one."""


@dataclass(frozen=True)
class OtherFollowed:
    """An average, by its name, that is updated from another model than the one it was made from."""

    name: str
    """Its name."""
    begun: str
    """The name of the model that it was made from."""
    made_at: Place
    """The line that makes it."""
    follows: str
    """The name of the model that it is updated from."""
    where: Place
    """The first line that does so."""


@dataclass(frozen=True)
class GoneGradients:
    """A line of the user's that reads gradients, each time after they were cleared."""

    where: Place
    """The line."""
    name: str
    """The first parameter that it read."""
    times: int
    """How often it did so, with new backward passes before it each time."""


@dataclass(frozen=True)
class NoisyTeacher:
    """A teacher, by the user's name for it, that nothing trains or moves, and that ran in train mode each time."""

    name: str
    """Its name."""
    where: Place
    """The user's line that first called it."""
    calls: int
    """How often it ran."""
    kinds: tuple[str, ...]
    """The classes of its parts that compute something else in eval mode."""


@dataclass(frozen=True)
class StandIn:
    """A model that is to stand still by one of its names, and is trained, or was to be, by another."""

    role: str
    """The name of what stands still."""
    other: str
    """That of what is trained."""
    model: str
    """Its label."""
    where: Place
    """The one line that gives it the first name."""
    frozen: bool = False
    """All of it that an optimizer holds needs no gradient."""


@dataclass(frozen=True)
class OwnAverage:
    """A running average of weights that lies in their own memory."""

    names: tuple[str, ...]
    """The weights."""
    where: Place
    """The line that updates it."""
    kept_at: Place | None = None
    """The line that keeps the weights' memory as the average, where the text shows one."""


@dataclass(frozen=True)
class WeightAverage:
    """A running average of weights that took them in once a step, by its numbers."""

    names: tuple[str, ...]
    """A few of the weights."""
    where: Place
    """The line that updates it."""
    updates: int
    """How many updates in a row were seen."""
    share: float | None = None
    """How much of the newest weights each of all updates that were seen took in; None where they differed."""
    trained_on: int = 0
    """Evaluations with the average in the place of the weights, after which training went on from it."""
    evaluated_at: Place | None = None
    """The line of the training loop that the first of them came from."""
    grown: tuple[float, float] | None = None
    """From what share to what share, where each update took in as much as the one before it or more, and then most."""
    total: float | None = None
    """The sum of its two factors, where that is not 1."""
    begun_off: float | None = None
    """How far it was from the weights at its first update, in lengths of these, where that was seen, and it takes in
    little at a time."""
    once_at: Place | None = None
    """The line of a loop over epochs that updates it behind all steps of one, where it takes in little at a time."""
    dtype: str = ""
    """`bfloat16` or `float16` where it is one of these."""
    computed_in: str = ""
    """`bfloat16` or `float16` where it is another one, and was computed in one of these."""
    entries: int = 0
    """Of such an average: entries that updates were to move, over all updates that were seen."""
    still: int = 0
    """Those of them that an update left as they were."""
    falling_to: float | None = None
    """Of an average in half precision, of weights that are not: the share of the last update that was seen, where each
    takes in less than the one before."""


@dataclass(frozen=True)
class DrawnWeights:
    """Trained weights that a line draws to something that stands still: by more than a half each time, or to what is to
    follow them, by its name or by the names in a call."""

    names: tuple[str, ...]
    """A few of them."""
    where: Place
    """The line."""
    share: float
    """How much is left of them."""
    rest: float
    """How much it takes of the other."""
    drawn_to: str = ""
    """What the user's code calls the model or the dict that holds the other; empty where no name was found."""
    swapped_at: Place | None = None
    """The call that hands the two over in each other's place, by the names of its arguments, or because the function
    updates an average by its own."""


@dataclass(frozen=True)
class UnfrozenModule:
    """A module with an attribute `requires_grad`, which freezes nothing, and thaws nothing."""

    name: str
    where: Place | None
    """The line that sets it, where the text shows one."""
    names: tuple[str, ...] = ()
    """The parameters in it that can be trained, where it is False; where it is True, those that cannot."""
    thaws: bool = False
    """Whether it is True, and all that an optimizer holds of it is frozen."""


@dataclass(frozen=True)
class LowRank:
    """A trained matrix to whose product that of two narrow ones is added, which began at zero, as in LoRA."""

    base: str
    """Its name."""
    pair: tuple[str, ...]
    """Those of the two; all three stand in one group of an optimizer."""


@dataclass(frozen=True)
class FrozenMeanwhile:
    """A function of the text that freezes parameters, remembers them, and thaws what it has remembered."""

    frozen_at: Place
    """The line that freezes."""
    thawed_at: Place
    """The loop that thaws."""
    where: Place
    """The line by which it remembers too little, where the text shows one, else the one that freezes; or the loop that
    thaws, where that is over a part of the model alone."""
    a_part: bool = False
    """Whether that is what it thaws."""


@dataclass(frozen=True)
class CrossedRows:
    """A column and a vector in a loss, of which broadcasting makes a square."""

    where: Place
    """The line where they meet."""
    rows: int
    """Of the column; as many as the vector has entries."""


@dataclass(frozen=True)
class BareNorm:
    """Vectors of a loss that are divided by their norm, which has no graph."""

    where: Place
    """The line whose text takes the `.data`."""
    passes: int
    """Backward passes that came through such a division."""
    beside: bool
    """Whether the same loss also divides by norms that have their graph."""


@dataclass(frozen=True)
class GraphlessSummand:
    """A number without a graph that a line adds to a loss, another one each time."""

    where: Place
    """The line."""
    values: tuple[float, ...]
    """The numbers, in all passes looked at."""
    taken_out: bool = False
    """Whether the text of that line takes a number out of its graph, as `.item()` does."""
    cut_at: Place | None = None
    """The one line that may do so in the functions that it was computed by, by the text."""


@dataclass(frozen=True)
class TakenBack:
    """Parts of a model that were put into eval mode, and back into train mode before they had ever run."""

    where: Place | None
    """The line whose `train()` on the whole put them back."""
    parts: tuple[str, ...]
    """Those that compute something else in train mode and then ran so, with their classes."""


@dataclass(frozen=True)
class Withdrawn:
    """A model that was put into train mode, and by another function into eval mode before it ran; or into eval mode
    before the first step, for an evaluation or for a copy of it; and stayed in it."""

    where: Place | None
    """The line that put it into eval mode."""
    began_at: Place | None
    """The line that had put it into train mode; None where none did."""
    parts: tuple[str, ...]
    """Its parts that compute something else in train mode, with their classes."""
    steps: int
    """Steps that have trained it in eval mode."""
    meant: str = ""
    """Without a `train()`, what the `eval()` was for: "evaluation", or the name of the copy that it did not reach."""


@dataclass(frozen=True)
class LayerWithoutGraph:
    """A layer that runs under `no_grad()` in a model, on an input that has a graph, beside others that have one."""

    layer: str
    """Its name."""
    given: str
    """What the user's code calls its input."""
    where: Place
    """The line that calls it."""
    opened_at: Place
    """The line that switches graphs off."""


@dataclass(frozen=True)
class HandedState:
    """A recurrent network that begins with the state of another one, without its graph, in a loss that trains both."""

    giver: str
    """The network whose state it is."""
    taker: str
    """The one that begins with it."""
    where: Place | None
    """The line that takes the state out of its graph, else one that calls the taker."""
    passes: int
    """Backward passes looked at; in none of them the state had a graph."""


@dataclass(frozen=True)
class UnseenWrite:
    """A line that writes, through `.data`, into what a loss then goes backward through, or what its backward
    multiplies with."""

    where: Place
    """That line."""
    passes: int
    """Backward passes in which that was seen."""


@dataclass(frozen=True)
class HelperCall:
    """A line of a backward or a step that stands in no loop of its own function, and the one call of that in a loop."""

    where: Place
    """The line of the backward or the step."""
    called_at: Place
    """The line of the loop."""


@dataclass(frozen=True)
class LateHook:
    """Hooks of one line that read one variable, which was given another value before any of them had run."""

    where: Place
    """The line that put them on."""
    variable: str
    """Its name."""
    hooks: int
    """How many were put on."""
    values: int
    """How many values it had at those times."""


@dataclass(frozen=True)
class LooseLeaf:
    """A tensor that a loss trains, whose gradient piles up: nobody reads it, clears it or steps with it."""

    name: str
    """A variable or an attribute that holds it; empty where none was found."""
    where: Place | None
    """The line of the backward pass."""
    passes: int
    """Backward passes that were seen to add to its gradient."""
    in_module: bool = False
    """Whether a module holds it as a plain attribute, which `parameters()` does not know."""
    made_at: Place | None = None
    """The line that makes it one, where the text shows one alone."""


@dataclass(frozen=True)
class FreshLeaf:
    """A line whose losses each hold a leaf of their own that requires a gradient, which nobody looks at."""

    where: Place | None
    """The line of the backward pass."""
    made_at: Place | None
    """The one line that makes such leaves, where the text shows one."""
    looks: int
    """Passes that were looked at; each had another leaf."""


@dataclass(frozen=True)
class GrownGradients:
    """Gradients that were read after each pass of a line, held those of its earlier passes too, and were gone before
    any step could use them."""

    where: Place
    """The line of the passes."""
    names: tuple[str, ...]
    """The parameters that hold them."""
    passes: int
    """Passes that came onto what had been read."""


@dataclass(frozen=True)
class Log:
    """All that rules may look at: the events and the standing facts. Pure data."""

    events: tuple[Event, ...]
    parameters: tuple[ParameterFacts, ...] = ()
    optimizers: tuple[OptimizerFacts, ...] = ()
    schedules: tuple[ScheduleFacts, ...] = ()
    """Those that say how many steps they are made for."""
    unstepped_schedules: tuple[UnsteppedSchedule, ...] = ()
    """Schedulers that nothing stepped."""
    doubled_schedules: tuple[DoubledSchedule, ...] = ()
    """Optimizers with as many schedulers of one class as there are optimizers, the others having none."""
    schedules_anew: tuple[ScheduleAnew, ...] = ()
    """Schedulers that a loop over epochs makes anew, and that took no more than half of their steps each."""
    rate_by_passes: RateByPasses | None = None
    """What sets the rate by the number of micro-batches, by the text."""
    shown_with: ShownWith | None = None
    """What each step needs, and is done only where something is shown, by the text."""
    last_alone: LastAlone | None = None
    """A line that changes the last of several parameters, behind the loop over them, by the text."""
    counter_anew: CounterAnew | None = None
    """A counter of all steps, by its name, that each epoch sets to 0 and something goes by, by the text."""
    given_for_epochs: CounterAnew | None = None
    """The number of a step, by its name, that is handed to what sets the learning rate by an epoch, by the text."""
    unsaved_key: UnsavedKey | None = None
    """A state that is saved by one key and asked for by another, by the text."""
    left_in_checkpoint: UnsavedKey | None = None
    """The state of an optimizer that is saved, and left out where a run goes on from the rest, by the text."""
    empty_norms: EmptyNorms | None = None
    """Normalisations that ran in eval mode with statistics that nobody filled."""
    shallow_copies: tuple[str, ...] = ()
    """Models that were made by a shallow copy of another one: all that is in them is that one's own."""
    copied_at: Place | None = None
    """The one line that makes a shallow copy, by the text."""
    halved_alone: SumApart | None = None
    """Of two losses of a kind that a line adds, the one that it does not halve, by the text."""
    sum_apart: SumApart | None = None
    """A sum that is left undivided beside others, by the text."""
    drawn_beside: tuple[Place, Place] | None = None
    """Where `sample()` gives a name its value, and where `rsample()` does, by the text."""
    uncalled_update: Uncalled | None = None
    """What should let an average or a target network follow, and is called nowhere; None where there is no such thing,
    or another text lets one follow."""
    unmoved_average: Uncalled | None = None
    """The class of an average of weights that the user's text makes and calls no update of, and where it is made."""
    never_asked: TargetNetwork | None = None
    """A target network that is kept up to date and never called."""
    other_followed: OtherFollowed | None = None
    """An average that is updated from another model than the one it was made from, by the text."""
    copied_back: TargetNetwork | None = None
    """A target network that is loaded into the one it should follow, and the line that does so."""
    led_by_another: OtherFollowed | None = None
    """A target that is updated from a network with another number than its own, by their names."""
    under_two_names: TargetNetwork | None = None
    """What an object keeps under two names, and a function of its writes from one to the other."""
    left_behind: Uncalled | None = None
    """A network that should follow others, by its name, which the user's text makes as a copy and never changes."""
    uncalled_schedule: Uncalled | None = None
    """What should set the learning rate; None, too, where another text sets one, or steps what may be a scheduler."""
    uncalled_freeze: Uncalled | None = None
    """What should freeze; None, too, where another function of the user's freezes something."""
    rate_set_at: Place | None = None
    """The one line of the user's that sets the rate of a parameter group."""
    rate_called_at: Place | None = None
    """The one line that calls the function which does so."""
    thawed_again: tuple[tuple[Place, Place], ...] = ()
    """Lines of loops that make all parameters require gradients which a loop before had frozen some of; and where."""
    returned_at_once: tuple[Returned, ...] = ()
    """Loops that add to something and return at the end of their first turn."""
    averaged_each_turn: Place | None = None
    """The line that updates an average, by its name, in the loop around the last pass, where each turn makes one, and
    under no condition that may wait for a step."""
    puts_zeros_at: Place | None = None
    """The first line of a `step` that gives a parameter a gradient of zeros, by the text."""
    loop_at: Place | None = None
    """The head of the outermost loop that the last backward pass ran in; asked where one of these is found."""
    window: int | None = None
    """Micro-batches meant per step, if the user said so."""
    pending: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    """Parameters with gradients that no step has used at the end: the lines of the backward passes, one by one."""
    pending_finite: bool = True
    """Whether those gradients were free of inf and nan, as far as that was looked at."""
    pending_at: Place | None = None
    """The line of the last backward pass."""
    finished: bool = True
    """False while the ledger is still open, or when it was stopped in mid-run: an open window is no fault then."""
    error: str = ""
    """Type and message of the exception that ended the run, if one did."""
    error_at: Place | None = None
    """The user's line it came from."""
    distributed: Mapping[str, Any] = field(default_factory=dict)
    """`world`, the number of processes, and `fsdp`, where there are several or sharded models."""
    dropped: int = 0
    """Windows left out because the run was long and they were like earlier ones."""
    bare_states: Mapping[str, Place | None] = field(default_factory=dict)
    """Recurrent cells whose state never had a graph behind the first call of a sequence, and the line that cuts
    it where the text shows one, else that of the call."""
    bare_norms: tuple[BareNorm, ...] = ()
    """Norms without a graph, by the text's `.data`, that vectors of a loss are divided by."""
    graphless: tuple[GraphlessSummand, ...] = ()
    """Numbers without a graph that losses add."""
    taken_back: tuple[TakenBack, ...] = ()
    """Parts that `train()` on the whole put back into train mode before their eval mode had mattered."""
    withdrawn: tuple[Withdrawn, ...] = ()
    """Models put into train mode, and into eval mode before they were trained so."""
    noisy_teachers: tuple[NoisyTeacher, ...] = ()
    """Teachers in train mode."""
    unseen_writes: tuple[UnseenWrite, ...] = ()
    """Writes through `.data` into results and inputs, before their backward."""
    idle_scaler: bool = False
    """Whether models ran under autocast to float16, and a gradient scaler that is switched on was never used."""
    scaler_made_at: Place | None = None
    """The one line of the user's that makes a gradient scaler."""
    without_graph: tuple[LayerWithoutGraph, ...] = ()
    """Layers inside models that run under `no_grad()`, on inputs that have a graph."""
    handed: tuple[HandedState, ...] = ()
    """States that recurrent networks hand to others without their graph."""
    own_averages: tuple[OwnAverage, ...] = ()
    """Running averages that lie in the memory of the weights themselves."""
    drawn_back: tuple[DrawnWeights, ...] = ()
    """Trained weights that are drawn to something that stands still."""
    averages: tuple[WeightAverage, ...] = ()
    """Running averages that are updated once a step."""
    low_rank: tuple[LowRank, ...] = ()
    """Matrices with an adapter beside them, where no adapter stands beside anything else."""
    grown: tuple[GrownGradients, ...] = ()
    """Gradients of several passes, read one after another, that were never cleared in between."""
    fresh: tuple[FreshLeaf, ...] = ()
    """Losses with a leaf that was made for each of them."""
    crossed: tuple[CrossedRows, ...] = ()
    """Losses in which every row meets every other."""
    loose: tuple[LooseLeaf, ...] = ()
    """Tensors outside all models that a loss trains and nobody steps."""
    drawn_at: Place | None = None
    """The line of a `sample()` of a distribution that has a graph, and what it is for is a code: a divergence of
    the distribution is taken, or a layer of the loss was given the sample."""
    unchanged: tuple[Place, ...] = ()
    """Lines that bind the name of a gradient to something made of it, which nothing reads."""
    thrown_away: tuple[Place, ...] = ()
    """Lines that make something new of a gradient, and do nothing with it."""
    overwritten: tuple[Place, ...] = ()
    """Lines that bind the name of a loss to another one, before anything has read the first."""
    in_attributes: tuple[Place, ...] = ()
    """Lines that give an optimizer an attribute by the name of an option."""
    unwritten: tuple[Place, ...] = ()
    """Lines that compute a learning rate and show it, where no text sets one."""
    in_vain: tuple[Place, ...] = ()
    """Lines that make something new of a weight, and do nothing with it."""
    detached_whole: tuple[Place, ...] = ()
    """Lines that take a straight-through out of its graph as a whole."""
    residuals_cut: tuple[Place, ...] = ()
    """Lines that detach what goes around the layers of a module that has run, by the text."""
    rebound: tuple[Place, ...] = ()
    """Lines in loops over parameters that bind the loop's name to something new, which nothing reads."""
    stepped_in_vain: bool = False
    """Whether one of these lines reads a gradient: somebody wrote a step by hand, which moves nothing."""
    first_rate_at: Place | None = None
    """The one line that sets the learning rate of an optimizer's first group by that name."""
    averages_cast_at: tuple[Place, ...] = ()
    """The lines that make averages in half precision, by their names, or copies."""
    cast_low_at: Place | None = None
    """The one line that casts a model to half precision, by its text."""
    remainder_of_one: tuple[Place, ...] = ()
    """Lines of conditions with a remainder of 1, as `t + 1 % k == 0`."""
    given_memory: tuple[Place, ...] = ()
    """Lines that give the parameters of what is to follow another model the data of that one's, by the text."""
    backup_in_memory: tuple[Place, ...] = ()
    """Lines that keep the memory of weights, to be copied back when other values were copied there, by the text."""
    set_twice: tuple[Place, ...] = ()
    """Lines that set the learning rate of the very groups whose rate the statement before has set to something else."""
    gone: tuple[GoneGradients, ...] = ()
    """Who reads gradients that are cleared already, where the text around makes something of them."""
    stand_ins: tuple[StandIn, ...] = ()
    """Trained models that have the name of what stands still, too."""
    unloaded: tuple[Place, ...] = ()
    """Lines that put new values into the dictionary of a `state_dict()`, which nothing loads."""
    in_defaults: tuple[Place, ...] = ()
    """Lines that write a learning rate into an optimizer's defaults, and into none of its groups."""
    in_numbers: tuple[Place, ...] = ()
    """Lines that change what was a learning rate when the optimizer was made, and is only shown otherwise."""
    unprojected: tuple[Place, ...] = ()
    """Lines that bind the name of a loop over gradients to something new in an inner loop; nothing reads it behind."""
    counted: tuple[Place, ...] = ()
    """Lines of hand-written steps that count the steps once for each parameter, and correct a bias by the count."""
    forgotten: tuple[Place, ...] = ()
    """Lines of hand-written steps that give a buffer a new value, by a text that does not put it back."""
    unfrozen: tuple[UnfrozenModule, ...] = ()
    """Modules with an attribute `requires_grad = False`, whose parameters are trained all the same."""
    frozen_at: Place | None = None
    """The one line that freezes parameters."""
    norms_frozen_at: Place | None = None
    """The line that freezes the parameters of a norm where that is put into eval mode, too."""
    thawed_at: Place | None = None
    """The one line that makes parameters require gradients."""
    meanwhile: tuple[FrozenMeanwhile, ...] = ()
    """The one function that freezes parameters for a while, where no other text does so after training has begun."""
    helpers: tuple[HelperCall, ...] = ()
    """Lines in functions that a loop calls: what is to be mended may stand there, or where they are called."""
    hooks_scale: bool = False
    """Whether the text of a gradient hook multiplies or divides by a number: losses need not be divided then."""
    reads_scale: bool = False
    """Whether a line of the text may take the loss scale off a gradient by hand."""
    repeated_modules: tuple[Place, ...] = ()
    """The lines that make a list of one module times a number."""
    clears_under: tuple[Place, ...] = ()
    """The lines that call `zero_grad` under an `if`."""
    guarding_clears: tuple[Place, ...] = ()
    """Those of them whose condition asks whether something is finite."""
    clears_in_vain: tuple[VainClear, ...] = ()
    """The functions that clear gradients by their names, and none by their text."""
    named_only: tuple[Uncalled, ...] = ()
    """The statements that name a method, as `optimizer.zero_grad`, and do not call it."""
    unread_weight: UnreadWeight | None = None
    """The first weight of a loss that nothing reads."""
    late_hooks: tuple[LateHook, ...] = ()
    """Hooks that find another value of a variable than when they were put on."""
    redrawn_at: Place | None = None
    """A checkpoint that keeps no random state, and draws another dropout when it runs again."""
    steps_by_hand: int = 0
    """Steps that no optimizer took."""
    compiled: tuple[str, ...] = ()
    """What ran inside code compiled by `torch.compile`, unseen: `forward`, `step`; `graph` where anything was compiled
    in this process at all."""
    unknown_reference: tuple[str, ...] = ()
    """Names a reference gave when none of them belonged to any parameter."""
