"""What a recorder remembers: its books, its journal, how far training is, and what may still be looked at."""

from __future__ import annotations

import threading
import traceback
import weakref
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from torch import Tensor, nn
from torch.nn.parameter import is_lazy

from gradient_ledger.account import Account
from gradient_ledger.books import Books, EmptyNorm, ModuleAccount, OptimizerAccount
from gradient_ledger.budget import Budget
from gradient_ledger.compiled import run_as_it_is
from gradient_ledger.events import Event, LateHook, LayerWithoutGraph, Place, StandIn, Trail
from gradient_ledger.journal import Draft, Journal
from gradient_ledger.places import Call
from gradient_ledger.progress import Drawn, Gone, Grown, InputRead, Progress

if TYPE_CHECKING:
    from gradient_ledger.anew import Once
    from gradient_ledger.blends import Average, DrawnBack, Followed
    from gradient_ledger.closelook import CloseLook
    from gradient_ledger.handed import Handed, Link
    from gradient_ledger.hooked import Registered
    from gradient_ledger.loose import Fresh, Loose
    from gradient_ledger.memory import Loaded, Snapshot
    from gradient_ledger.midway import Before
    from gradient_ledger.modes import Evaluation
    from gradient_ledger.rhythm import Listener, Rhythm
    from gradient_ledger.undone import Begun, Undone
    from gradient_ledger.unseen import Unseen

_register: Any = Tensor.register_post_accumulate_grad_hook
"""As torch has it: the taps wrap the name."""


class State:
    """The accounts of one ledger, its events, and what it must remember between two of torch's doings."""

    def __init__(
        self,
        window: int | None,
        reference: Callable[[], Mapping[str, Tensor]] | None,
        digests: bool,
        deposited: Callable[[State, Account, Tensor], None],
    ):
        self.books = Books()
        self.journal = Journal()
        self.progress = Progress()
        self.budget = Budget()
        self.window = window
        self.reference = reference
        self.digests = digests
        self.on_step: Callable[[int], None] | None = None
        self.deposited = deposited
        self.lock = threading.RLock()
        self.threads: set[int] = set()
        """Every thread that has done anything we saw, until it is found dead."""
        self.finished = False
        self.pending_finite = True
        self.stopped = False
        self.error = ""
        self.error_at: Place | None = None
        self.muted = False
        """Whether what happens now is not written down: it is finished, or the user's reference runs."""
        self.trouble = ""
        """The traceback of a fault of the ledger's own, if it had one; it closes the ledger, not the training."""
        self.text_trouble = ""
        """The same of faults in reading texts: each cost one fact of the log."""
        self.reference_names: list[str] | None = []
        """Names a reference gave so far, none of which belonged to any parameter; None once one did."""
        self.reference_error: BaseException | None = None
        self.mark = f"gradient ledger {id(self)}: scaled"
        """Put on the graph of a scaled loss."""
        self.own_only = False
        self.listening = 0
        """To how many accounts' parameters we listen."""
        self.module_hooks = -1
        self.averaging: Place | None = None
        """The line at which an average by torch's class is about to take in the weights."""
        self.hooks_scale = self.any_hook_scales = False
        """Whether the text of the last gradient hook, or that of any, multiplies by a number."""
        self.rhythm: Rhythm | None = None
        """What is expected to happen, while every window repeats the one before."""
        self.listener: Listener | None = None
        """What finds that out."""
        self.retains = False
        """Whether a backward pass ever kept its graph for another one."""
        self.hooks_take = False
        """Whether a module or a parameter was seen with a hook on its backward while gradients were thrown away."""
        self.drawn: dict[int, Drawn] = {}
        """Distributions with a graph from which `sample()` has drawn without one."""
        self.drawn_at: list[Place | None] = []
        """Lines of such a `sample()` whose distribution is in a divergence, and in no log-probability."""
        self.factors: set[tuple[Account, Account]] = set()
        """Dead matrices that a loss multiplies with one another."""
        self.redrawn_at: Place | None = None
        self.rewritten = False
        """Whether weights were written in place between two steps of their optimizer."""
        self.own_averages: dict[Place | None, list[Account | None]] = {}
        """By line, the weights that were averaged into their own memory, None for a right average."""
        self.averages: dict[tuple[Account, Place | None], list[Average]] = {}
        """By parameter and line, what was made of the parameter and something else there, in closer looks."""
        self.drawn_back: dict[tuple[Account, Place], DrawnBack] = {}
        """By parameter and line, weights that were mixed with more of something else."""
        self.midway: dict[int, Before] = {}
        """By model, weights that may be written to before the backward of its last forward."""
        self.followed: dict[int, list[Followed]] = {}
        """By optimizer, the average of its weights whose value is computed along."""
        self.snapshots: dict[int, Snapshot] = {}
        """What `state_dict()` gave, by the `id` of the first tensor in it."""
        self.loaded: dict[int, Loaded] = {}
        """By the `id` of a model, the weights from elsewhere that it was given last."""
        self.loads_others: set[Place] = set()
        """Lines that have loaded what was not the model's own."""
        self.crossed: dict[Place, int] = {}
        """By line, the rows of a column that broadcasting beside a vector has made a square in a loss."""
        self.may_cross = False
        """Whether a loss had such a square, and it is not known yet where it was made."""
        self.idle: dict[Trail, list[Draft]] = {}
        """By line, the backward passes of a loss with a summand that had no graph whenever it was looked at."""
        self.anchors: dict[Account, float] = {}
        """Weights that a loss holds to a constant which was equal to them at each look, and their numbers at the
        first."""
        self.anchored: set[Account] = set()
        """Weights that a loss holds to numbers of their own."""
        self.gone: dict[Place, Gone | None] = {}
        """By line, who reads the gradients of trained parameters and finds none; None where some were there."""
        self.stand_ins: dict[tuple[str, str], StandIn] = {}
        """By its two names, a model that is to stand still and is trained."""
        self.low_rank: dict[Account | None, set[tuple[Account, Account]]] = {}
        """By trained matrix, the pairs of narrow ones whose product is added to its own and began at zero; under None
        those beside something else."""
        self.apart_from_pair: set[Account] = set()
        """Those of these matrices that are in another group of an optimizer than their pair, or in another one."""
        self.loose: dict[int, Loose] = {}
        """Leaves that a loss reaches and that have no account, by `id`."""
        self.grown: dict[Place | None, Grown] = {}
        """By the line of a backward pass, gradients that were read after each of its passes."""
        self.fresh: dict[Trail, Fresh] = {}
        """By line, losses with a leaf that was made for each of them."""
        self.hooked_at: Place | None = None
        self.hooks: dict[Place, Registered] = {}
        """By line, the hooks it has put on since the last backward pass."""
        self.late_hooks: dict[Place, LateHook] = {}
        self.evaluations: list[Evaluation] = []
        """Models that were trained and are in eval mode now, or were a step ago."""
        self.helped: set[Trail] = set()
        """The calls that led to each `zero_grad()`, and to each `eval()` of a trained model."""
        self.stepped_once: dict[tuple[Place, Account], Once] = {}
        """Optimizers that have taken one step, by their line and the first of their parameters."""
        self.sync: dict[str, Any] = {}
        self.inputs: dict[int, InputRead] = {}
        """By `id`, tensors that are no parameters and whose gradient was read and not cleared since."""
        self.leaves: dict[int, tuple[Any, ...]] = {}
        """Tensors that are no parameters, as they were when their gradient was read."""
        self.read_at: dict[Place | None, tuple[Place, ...]] = {}
        """Lines that took hold of a gradient, and the calls that led there the first time, innermost first."""
        self.imitated: list[ModuleAccount] = []
        """Models that are to stand still and ran in train mode."""
        self.held_on: dict[Place | None, list[int]] = {}
        """By line, the numbers of those gradients whose values are looked at on, where it takes hold of many."""
        self.edited_at: set[Place | None] = set()
        """Lines that changed gradients in place and left more than zeros."""
        self.assigned_at = -1
        self.sharing: dict[int, Place | None] = {}
        self.assigned: dict[int, tuple[weakref.ref[Tensor], Account]] = {}
        self.compiled: set[str] = set()
        """What ran inside code compiled by `torch.compile`, where nothing is seen: `forward`, `step`."""
        self.compiled_models: dict[int, ModuleAccount] = {}
        """By number, the models that were compiled as a whole: which of their parts run is not seen."""
        self.entering: dict[int, tuple[int, tuple[str, int] | None]] = {}
        """By thread: the compiled model that was called, and by which call."""
        self.handed: dict[tuple[ModuleAccount, ModuleAccount], Link] = {}
        """Recurrent networks that begin with the state of another one."""
        self.in_float16 = False
        """Whether a model has run under autocast to float16."""
        self.idle_scaler = False
        """Whether there was a gradient scaler then, at the first step, that had scaled nothing."""
        self.without_graph: dict[Place, LayerWithoutGraph] = {}
        """Layers that ran under `no_grad()` on inputs with a graph, by the line that calls them."""
        self.handing: Handed | None = None
        """What listens for them in a closer look."""
        self.unseen: Unseen | None = None
        """What listens in a closer look for writes through `.data`."""
        self.unseen_writes: dict[Place, set[int]] = {}
        """By the line that writes so, the passes that it has changed."""
        self.graphless: dict[tuple[Trail, Place], list[float]] = {}
        """What numbers without a graph the losses of a line add, by the line that adds them."""
        self.summed: dict[Trail, int] = {}
        """How many losses of a line were looked through for such."""
        self.norms_filled: set[ModuleAccount] = set()
        """BatchNorms whose running statistics were seen with something in them."""
        self.norms_empty: dict[ModuleAccount, EmptyNorm] = {}
        """Those that run in eval mode with nothing in them."""
        self.norms = 0
        """Vectors brought to unit length that a closer look has seen."""
        self.trained_at: set[tuple[str, int] | None] = set()
        """Where models were called in train mode, with gradients."""
        self.undone: list[Undone] = []
        """Parts that were put into eval mode, and back before they ran."""
        self.begun: list[Begun] = []
        """Models that were put into train mode, until they are put into eval mode."""
        self.withdrawn: list[Begun] = []
        """Those of them that had not run in between."""
        self.bare_norms: dict[Place, tuple[int, bool]] = {}
        """By the line that takes a norm out of its graph: backward passes through it, and whether their loss also
        divides by norms that have one."""
        self.averaged_at: weakref.WeakKeyDictionary[nn.Module, int] = weakref.WeakKeyDictionary()
        """The steps that had been taken when an average of torch's was updated last."""
        self.close_look: CloseLook | None = None
        """The extra taps that are in for a window or two."""

    def optimizer(self, optimizer: Any, made_by: tuple[Call, ...] = (), made: int = 0) -> OptimizerAccount:
        """The account of an optimizer, opened if new."""
        before = len(self.books.accounts)
        entry = self.books.optimizer(optimizer, made_by, made)
        if made and not entry.first_event:
            entry.first_event, entry.made_after = self.journal.number, self.progress.steps
        if len(self.books.accounts) != before:
            self.hook_up()
            for account in entry.accounts if self.loose else ():
                if (leaf := self.loose.get(id(account.ref()))) is not None:
                    leaf.out = True
        return entry

    def within_reach(self) -> Iterable[Account]:
        """The accounts whose gradients this thread may read.

        Autograd writes a gradient without holding Python's lock: reading one that another thread works on ends the
        process.
        """
        thread = threading.get_ident()
        if len(self.threads) > 1 or thread not in self.threads:
            self.threads &= {thread} | {one.ident for one in threading.enumerate() if one.ident is not None}
        if self.threads <= {thread}:
            return self.books.accounts
        return [account for account in self.books.accounts if account.thread == thread]

    def failed(self, error: Exception) -> None:
        """Close this ledger because its own code failed; training goes on."""
        if self.reference_error is error:
            raise error  # what the user's reference raised is the user's to see
        self.trouble = "".join(traceback.format_exception(error))
        self.rhythm = None
        self.finish()

    def write_all(self) -> None:
        """Write down what was only counted so far, since every window repeats the one before."""
        if self.rhythm is not None:
            self.rhythm.leave()

    def finish(self) -> None:
        """Write nothing down any more."""
        self.finished = self.muted = True

    def knows(self, optimizer: Any) -> bool:
        """Whether an optimizer belongs to what is watched: with things named, one that shares a parameter with them."""
        if not self.own_only or self.books.number_of(optimizer) is not None:
            return True
        return any(
            isinstance(p, Tensor) and self.books.find(p) is not None
            for group in getattr(optimizer, "param_groups", ())
            for p in group["params"]
        )

    def hook_up(self) -> None:
        """Listen to every parameter that has an account."""
        for account in self.books.accounts:
            if account.handle is None:
                self.hook(account)

    def hook(self, account: Account) -> None:
        """Listen to one parameter, as soon as it can get a gradient."""
        parameter = account.ref()
        if parameter is None or is_lazy(parameter):
            return  # a lazy module's, not made yet
        if not parameter.requires_grad or not parameter.is_leaf:
            return
        mine = weakref.ref(self)

        def deposited(p: Tensor) -> None:
            recorder = mine()
            if recorder is not None and not recorder.muted:
                with recorder.lock:
                    try:
                        rhythm = recorder.rhythm
                        if rhythm is None or not rhythm.deposited(account, p):
                            recorder.deposited(recorder, account, p)
                    except Exception as error:
                        recorder.failed(error)

        run_as_it_is(deposited)
        account.handle = _register(parameter, deposited)
        self.listening += 1

    def emit(self, kind: type[Event], place: Place | None, accounts: Iterable[Account] = (), **fields: Any) -> Draft:
        """Begin an event of its own."""
        progress = self.progress
        return self.journal.emit(kind, place, accounts, progress.steps, progress.most_steps, fields)

    def join(self, kind: type[Event], place: Place | None, account: Account, key: Any, **fields: Any) -> Draft:
        """Add to the open event of this kind, place and key, or open one.

        Clearing ten parameters is one event. Events stay open until a forward, a backward or a step.
        """
        whole = (kind, place and (place.file, place.line), key)
        draft = self.journal.groups.get(whole)
        if draft is None:
            draft = self.emit(kind, place, (), **fields)
            if account.owners:
                draft.window = account.owners[-1].steps
            self.journal.groups[whole] = draft
        if account.joined is not draft:
            account.joined = draft
            draft.accounts.append(account)
        return draft

    def say_step(self) -> None:
        """Tell whoever asked how far training is: steps of the optimizer that took most."""
        if self.on_step is not None:
            self.on_step(self.progress.most_steps)
