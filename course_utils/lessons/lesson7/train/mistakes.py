"""What is often done instead in exercise 7.7."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

import torch
from torch import nn

from course_utils.checks.mistakes import mistake
from course_utils.lessons.training import Batch

Batches = Sequence[Batch]
Config = Mapping[str, Any]
Run = Callable[..., object]
Part = Literal["model", "parameters", "optimizer", "scaler", "schedule"]
Parts = Mapping[str, Any]
"""{name: what has a state_dict()}."""
ALL: tuple[Part, ...] = ("model", "optimizer", "scaler", "schedule")


def _beside(state: object, path: Path) -> None:
    torch.save(state, f"{path}.part")
    os.replace(f"{path}.part", path)


def _in_a_file(state: object, path: Path) -> None:
    with path.open("wb") as file:
        torch.save(state, file)


def _removed_first(state: object, path: Path) -> None:
    torch.save(state, f"{path}.part")
    path.unlink(missing_ok=True)
    os.rename(f"{path}.part", path)


def _weights_of(path: Path) -> Path:
    return path.with_name(f"{path.name}.weights")


def _in_two_files(state: Any, path: Path, weights_first: bool = True) -> None:
    rest = {name: part for name, part in state.items() if name != "model"}
    files = [(state["model"], _weights_of(path)), (rest, path)]
    for part, file in files if weights_first else reversed(files):
        _beside(part, file)


def _rest_first(state: Any, path: Path) -> None:
    _in_two_files(state, path, weights_first=False)


def _from_two_files(path: Path) -> Any:
    return {**torch.load(path), "model": torch.load(_weights_of(path))}


def _seed(number: int) -> None:
    # torch.manual_seed also writes down where it was called, which takes longer than a window here.
    torch.default_generator.manual_seed(number)


def _by_window(config: Config, window: int) -> None:
    _seed(100_000 * config["seed"] + window)


def _half() -> AbstractContextManager[Any]:
    return torch.autocast("cpu", dtype=torch.float16)


def _with_checkpoint(spec: Mapping[str, Any]) -> bool:
    return bool(spec.get("kills") or spec.get("saves"))


def _killed_in_a_save(spec: Mapping[str, Any]) -> bool:
    return bool(spec.get("saves"))


def _with_a_fallen_scale(spec: Mapping[str, Any]) -> bool:
    return spec["model"] == "hot"


def _with_dropout(spec: Mapping[str, Any]) -> bool:
    return spec["model"] == "dropout"


@dataclass(frozen=True)
class _How:
    """A run, and what in it is otherwise than asked."""

    parts: tuple[Part, ...] = ALL
    """What is saved and loaded."""
    write: Callable[[object, Path], None] = _beside
    read: Callable[[Path], Any] = torch.load
    saves: Callable[[int, Config], bool] = lambda window, config: True
    """Whether it saves after that window."""
    first: Callable[[int, Config], int] = lambda saved, config: saved
    """The window to go on with, from the number of those that were saved."""
    finished: Literal["load", "leave"] = "load"
    seed_once: bool = False
    seed: Callable[[Config, int], None] = _by_window
    batch: Callable[[int, int, int, int], int] = lambda window, place, k, first: window * k + place
    factor: Callable[[int], float] = lambda k: 1 / k
    autocast: Callable[[], AbstractContextManager[Any]] = _half
    around: Callable[[], AbstractContextManager[Any]] = nullcontext
    clear: Literal["start", "end", "never", "not when skipped", "each"] = "start"
    clear_first: bool = False
    clip: Literal["unscaled", "scaled", "no", "each"] = "unscaled"
    schedule: Literal["steps", "windows", "micro-batches", "constant"] = "steps"
    schedule_last: bool = False
    """Whether the schedule is built on an optimizer that was loaded already, and sets its rate."""
    windows_are_steps: bool = False
    """Whether a resumed run takes the number of windows for the number of steps."""
    saves_skipped: bool = True
    train: Literal["no", "yes", "for the run"] = "no"
    """Whether the model is put into train mode, and out of it at the end."""
    counts_skipped: bool = True
    momentum: float = 0.9
    removes: bool = False
    """Whether a run that has come to its end deletes its checkpoint."""
    scaled: bool = True

    def but(self, **changes: Any) -> Run:
        """This run with other changes, as a learner would hand it in."""
        return replace(self, **changes)._run

    def _run(self, model: nn.Module, batches: Batches, config: Config, checkpoint: Path | None = None) -> object:
        k = config["window"]
        optimizer = torch.optim.SGD(model.parameters(), lr=config["lr"], momentum=self.momentum)
        scaler = torch.amp.GradScaler("cpu", enabled=self.scaled)
        share = (lambda s: 1.0) if self.schedule == "constant" else (lambda s: 1 - s / config["steps"])
        schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, share)
        every: Parts = {"model": model, "optimizer": optimizer, "scaler": scaler, "schedule": schedule}
        first = 0
        if self.seed_once:
            _seed(config["seed"])
        if checkpoint is not None and checkpoint.exists():
            state = self.read(checkpoint)
            if self.finished == "leave" and state["window"] >= config["steps"]:
                return None
            self._load(state, every)
            if self.schedule_last:
                optimizer.param_groups[0]["lr"] = config["lr"]
            if self.windows_are_steps:
                schedule.last_epoch = state["window"]
                optimizer.param_groups[0]["lr"] = config["lr"] * share(state["window"])
            first = self.first(state["window"], config)
        window = first
        if self.clear_first:
            optimizer.zero_grad()

        def goes_on() -> bool:
            if self.counts_skipped:
                return window < config["steps"]
            return schedule.last_epoch < config["steps"] and window < 3 * config["steps"]

        mode = model.training
        if self.train != "no":
            model.train()
        with self.around():
            while goes_on():
                self.seed(config, window)
                if self.clear in ("start", "each"):
                    optimizer.zero_grad()
                for place in range(k):
                    x, y = batches[self.batch(window, place, k, first) % len(batches)]
                    if self.clear == "each":
                        optimizer.zero_grad()
                    with self.autocast():
                        loss = nn.functional.cross_entropy(model(x), y) * self.factor(k)
                    scaler.scale(loss).backward()
                    if self.clip == "each":
                        nn.utils.clip_grad_norm_(model.parameters(), config["max_norm"] * scaler.get_scale())
                    if self.schedule == "micro-batches" and place < k - 1:
                        schedule.step()
                stepped = self._step(model, config, optimizer, scaler, schedule)
                window += 1
                saves = self.saves(window - 1, config) and (stepped or self.saves_skipped)
                if checkpoint is not None and saves:
                    self.write({**self._saved(every), "window": window}, checkpoint)
        if self.train == "for the run":
            model.train(mode)
        if self.removes and checkpoint is not None:
            checkpoint.unlink()
        return None

    def _saved(self, every: Parts) -> dict[str, Any]:
        state: dict[str, Any] = {name: every[name].state_dict() for name in self.parts if name != "parameters"}
        if "parameters" in self.parts:
            state["parameters"] = [p.detach() for p in every["model"].parameters()]
        return state

    def _load(self, state: Mapping[str, Any], every: Parts) -> None:
        for name in self.parts:
            if name == "parameters":
                with torch.no_grad():
                    for p, value in zip(every["model"].parameters(), state[name], strict=True):
                        p.copy_(value)
            else:
                every[name].load_state_dict(state[name])
        if "optimizer" not in self.parts and "schedule" in self.parts:
            every["optimizer"].param_groups[0]["lr"] = every["schedule"].get_last_lr()[0]

    def _step(self, model: nn.Module, config: Config, optimizer: Any, scaler: Any, schedule: Any) -> bool:
        if self.clip == "unscaled":
            scaler.unscale_(optimizer)
        if self.clip in ("unscaled", "scaled"):
            nn.utils.clip_grad_norm_(model.parameters(), config["max_norm"])
        scale = scaler.get_scale()
        scaler.step(optimizer)
        scaler.update()
        stepped = scaler.get_scale() >= scale
        if stepped or self.schedule in ("windows", "micro-batches"):
            schedule.step()
        if self.clear == "end" or (self.clear == "not when skipped" and stepped):
            optimizer.zero_grad()
        return bool(stepped)


AS_ASKED = _How()

# ------------------------------------------------------------------ going on


@mistake(
    "After every kill the run began anew",
    "It ends with the same bits, and all micro-batches that were behind it ran again; those of a finished run, too.",
    "Is the state of the run in the folder after the first window, and does a call look for it, under the same name?",
    "The end is the same, so it looks as if it went on. It is the time that is lost.",
    where=_with_checkpoint,
)
def never_saved(*args: Any, **more: Any) -> object:
    return AS_ASKED.but(saves=lambda window, config: False)(*args, **more)


@mistake(
    "Killed before its end, the run began anew",
    "All micro-batches that were behind it ran again. A finished run is known as one, so something is saved at the end.",
    "After which windows does your loop save? How far is the line that saves indented?",
    where=_with_checkpoint,
)
def saved_at_the_end_alone(*args: Any, **more: Any) -> object:
    return AS_ASKED.but(saves=lambda window, config: window == config["steps"] - 1)(*args, **more)


@mistake(
    "Not saved after every window",
    "The run that was killed went on from an older window than the last one: micro-batches that were behind it ran again.",
    "After which windows does your loop save?",
    where=_with_checkpoint,
)
def saved_now_and_then(*args: Any, **more: Any) -> object:
    return AS_ASKED.but(saves=lambda window, config: window % 2 == 1 or window == config["steps"] - 1)(*args, **more)


@mistake(
    "The momentum did not come along",
    "After the kill the run ended elsewhere: where it ends when the optimizer begins with an empty memory.",
    "What does SGD with momentum remember from step to step, and in whose state_dict() does it stand?",
    "The weights are what one saves first. The momentum has as many numbers as they have.",
    where=_with_checkpoint,
)
def optimizer_not_saved(*args: Any, **more: Any) -> object:
    return AS_ASKED.but(parts=("model", "scaler", "schedule"))(*args, **more)


@mistake(
    "The schedule began anew",
    "After the kill the run ended elsewhere: where it ends when the steps are counted from 0 again, so that the "
    "learning rate is too high.",
    "By what number is the learning rate made, and where is that number after a kill?",
    "The optimizer's state holds the rate of the next step, so the first one is right.",
    where=_with_checkpoint,
)
def schedule_not_saved(*args: Any, **more: Any) -> object:
    return AS_ASKED.but(parts=("model", "optimizer", "scaler"))(*args, **more)


@mistake(
    "The first step after a kill had the first learning rate",
    "After the kill the run ended elsewhere: where it ends when the first step that follows has the learning rate "
    "config['lr'], and the steps after it the right one.",
    "A schedule that is built sets the learning rate of its optimizer. Which comes first in your code, that or the "
    "loading of the optimizer's state?",
    "Each of the two lines is right, and their order looks like a matter of taste.",
    where=_with_checkpoint,
)
def schedule_built_after_loading(*args: Any, **more: Any) -> object:
    return AS_ASKED.but(schedule_last=True)(*args, **more)


@mistake(
    "The scale did not come along",
    "Where the scale had fallen before the kill, the run ended elsewhere: where it ends when the scaler begins with "
    "its first scale again, and skips once more.",
    "The scaler has learned something, too. In whose state_dict() does it stand?",
    "As long as nothing overflows, the scale cancels out and nobody misses it.",
    where=_with_a_fallen_scale,
)
def scaler_not_saved(*args: Any, **more: Any) -> object:
    return AS_ASKED.but(parts=("model", "optimizer", "schedule"))(*args, **more)


@mistake(
    "After a kill, skipped windows were counted as steps",
    "Where a window had been skipped before the kill, the run ended elsewhere: where it ends when the schedule goes "
    "on with the number of windows for its number of steps, and the learning rate is too low.",
    "Two numbers count here, windows and steps. Which of them does the checkpoint hold, and which one makes the learning "
    "rate?",
    "As long as no window is skipped, the two numbers are the same.",
    where=_with_a_fallen_scale,
)
def windows_taken_for_steps(*args: Any, **more: Any) -> object:
    return AS_ASKED.but(windows_are_steps=True)(*args, **more)


@mistake(
    "A skipped window was not saved",
    "The run ended with the same bits. Killed after a window that had been skipped, it ran that window again; elsewhere "
    "it did not.",
    "Your loop saves after some windows. After which ones does it not?",
    "A window without a step seems to change nothing. It changes the scale.",
    where=_with_a_fallen_scale,
)
def skipped_window_not_saved(*args: Any, **more: Any) -> object:
    return AS_ASKED.but(saves_skipped=False)(*args, **more)


@mistake(
    "The weights came along, and nothing else",
    "After the kill the run ended elsewhere: where it ends when optimizer and schedule begin anew at the right window.",
    "Which objects remember something from one window to the next? Each has a state_dict().",
    "A checkpoint for using a model holds its weights. One for training it must hold all that training changes.",
    also=(AS_ASKED.but(parts=("model", "scaler")),),
    where=_with_checkpoint,
)
def weights_alone_saved(*args: Any, **more: Any) -> object:
    return AS_ASKED.but(parts=("model",))(*args, **more)


@mistake(
    "The buffers did not come along",
    "After a kill batch norm's running statistics are not those of a run that was not killed: they began anew.",
    "What does model.state_dict() hold beside the parameters?",
    where=_with_checkpoint,
)
def buffers_not_saved(*args: Any, **more: Any) -> object:
    return AS_ASKED.but(parts=("parameters", "optimizer", "scaler", "schedule"))(*args, **more)


@mistake(
    "Dropout does not go on where it was",
    "With dropout, the run ended with other bits when it was killed after a save; when it was killed before any, it "
    "ended with the same.",
    "At what position of its random numbers does the resumed run begin, and at what position would the run have been?",
    "A seed at the beginning repeats a run from its beginning. In the middle it draws the first numbers again.",
    where=_with_dropout,
)
def dropout_not_resumed(*args: Any, **more: Any) -> object:
    return AS_ASKED.but(seed_once=True, seed=lambda config, window: None)(*args, **more)


@mistake(
    "Dropout draws from the random state that the call finds",
    "With dropout, a run begun again from nothing ended with other bits: in a new process the random state is another "
    "one.",
    "What must be said to the random generator, and when, so that window 3 draws the same in every process, and not what "
    "window 2 draws?",
    where=_with_dropout,
)
def found_random_state(*args: Any, **more: Any) -> object:
    return AS_ASKED.but(seed=lambda config, window: None)(*args, **more)


@mistake(
    "The seed plays no part",
    "With dropout, another config['seed'] gave the same run, bit for bit.",
    "From what are the seeds of the windows made?",
    also=(AS_ASKED.but(seed=lambda config, window: _seed(0)),),
    where=_with_dropout,
)
def seed_ignored(*args: Any, **more: Any) -> object:
    return AS_ASKED.but(seed=lambda config, window: _seed(window))(*args, **more)


@mistake(
    "Dropout drops the same values again and again",
    "Some micro-batches of the run lost the very same values to dropout. Every kill was survived, and another seed drew "
    "otherwise.",
    "What is handed to the random generator in one window, and what in the next? What is drawn between two micro-batches "
    "of one window?",
    "A seed that is set anew makes every kill harmless: nothing is left that could be out of step.",
    where=_with_dropout,
)
def same_dropout_again(*args: Any, **more: Any) -> object:
    return AS_ASKED.but(seed=lambda config, window: _seed(config["seed"]))(*args, **more)


@mistake(
    "Killed while it was saving, the run could not go on",
    "The call that should have gone on from the save before raised an exception: it found a file that was cut short, "
    "and no other that it could use.",
    "What stands under the checkpoint's name while its bytes are being written? Write them under another name.",
    "A save takes a moment, and a kill in that moment is rare. It happens all the same, and most often when a time "
    "limit ends the run.",
    also=(AS_ASKED.but(write=_in_a_file),),
    where=_killed_in_a_save,
)
def saved_in_place(*args: Any, **more: Any) -> object:
    return AS_ASKED.but(write=torch.save)(*args, **more)


@mistake(
    "For a moment there was no checkpoint",
    "Killed while it was saving, the run began anew, and all that was behind it ran again: the old checkpoint was gone, and the new one not "
    "there yet.",
    "os.replace takes the place of a file that is there, in one go. Must the old one be deleted first?",
    "os.rename refuses to overwrite on Windows, so one deletes first.",
    where=_killed_in_a_save,
)
def deleted_before_it_was_written(*args: Any, **more: Any) -> object:
    return AS_ASKED.but(write=_removed_first)(*args, **more)


@mistake(
    "Two files were replaced, one after the other",
    "Killed between the two, the run found the weights of one save and the rest of another: the window between them was "
    "trained twice, or not at all.",
    "os.replace puts one file there in one go. What has to be in that one file?",
    "Each of the two files is whole at any moment.",
    also=(AS_ASKED.but(write=_rest_first, read=_from_two_files),),
    where=_killed_in_a_save,
)
def saved_in_two_files(*args: Any, **more: Any) -> object:
    return AS_ASKED.but(write=_in_two_files, read=_from_two_files)(*args, **more)


@mistake(
    "A window that was saved ran again",
    "The run went on with a window whose step the saved weights already hold: it was taken twice.",
    "Is the number that you save that of the last window, or of the next one? What does the loop begin with?",
    "range counts from 0 and ends one before, and a save stands at the end of the loop.",
    where=_with_checkpoint,
)
def last_window_run_again(*args: Any, **more: Any) -> object:
    return AS_ASKED.but(first=lambda saved, config: saved - 1)(*args, **more)


@mistake(
    "Everything came along, and all windows ran again",
    "Weights, momentum, scale and schedule went on after a kill, and the windows began at 0: those that were saved ran "
    "again, on weights that hold their steps already. A finished run did the same.",
    "With which window does the loop begin after a kill, and where does that number come from?",
    "The number of the window is in no state_dict().",
    where=_with_checkpoint,
)
def windows_from_0_again(*args: Any, **more: Any) -> object:
    return AS_ASKED.but(first=lambda saved, config: 0)(*args, **more)


@mistake(
    "A window was left out",
    "The run went on one window too late: the one that was under way when it was killed never ran.",
    "Is the number that you save that of the last window, or of the next one? What does the loop begin with?",
    where=_with_checkpoint,
)
def a_window_left_out(*args: Any, **more: Any) -> object:
    return AS_ASKED.but(first=lambda saved, config: saved + 1)(*args, **more)


@mistake(
    "After a kill the data began from the first batch",
    "The run went on at the right window, with the micro-batches of the first ones.",
    "From what number is the position in the list made: windows since the call, or windows of the run?",
    "An iterator over the list begins at its beginning, whoever asks.",
    where=_with_checkpoint,
)
def data_from_the_start(*args: Any, **more: Any) -> object:
    return AS_ASKED.but(batch=lambda window, place, k, first: (window - first) * k + place)(*args, **more)


@mistake(
    "A finished run trained again",
    "Called once more after its end, the run made forward passes: it trained on.",
    "What does the checkpoint of a finished run say, and how many windows are left then?",
    also=(AS_ASKED.but(first=lambda saved, config: min(saved, config["steps"] - 1)),),
    where=_with_checkpoint,
)
def finished_run_trains_on(*args: Any, **more: Any) -> object:
    return AS_ASKED.but(first=lambda saved, config: saved % config["steps"])(*args, **more)


@mistake(
    "The checkpoint of a finished run is gone",
    "The run was saved on its way and went on after a kill. Called again after its end, it began anew and trained all of it again.",
    "What stands under the checkpoint's name when your function has returned?",
    "A finished run seems to need no checkpoint any more.",
    where=_with_checkpoint,
)
def checkpoint_removed_at_the_end(*args: Any, **more: Any) -> object:
    return AS_ASKED.but(removes=True)(*args, **more)


@mistake(
    "A finished run hands back the first weights",
    "Called once more after its end, the run trained nothing, and the model was left with the weights that it came with.",
    "What should the caller find in the model, whether the run was finished now or yesterday?",
    where=_with_checkpoint,
)
def finished_run_returns_first_weights(*args: Any, **more: Any) -> object:
    return AS_ASKED.but(finished="leave")(*args, **more)


@mistake(
    "Written without a checkpoint",
    "With checkpoint None a file was written.",
    "Where nobody gave a path, nothing is to be saved.",
)
def written_without_a_checkpoint(
    model: nn.Module, batches: Batches, config: Config, checkpoint: Path | None = None
) -> object:
    result = AS_ASKED.but()(model, batches, config, checkpoint)
    if checkpoint is None:
        with TemporaryDirectory() as folder:
            torch.save(model.state_dict(), os.path.join(folder, "run.pt"))
    return result


# ------------------------------------------------------------------ the training itself


@mistake(
    "The micro-batches of a window were added up",
    "Each step used the sum of the window's gradients, not their mean. Where the gradient is clipped it hardly shows.",
    "The loss is a mean of one micro-batch. What are k of them, added up?",
    also=(AS_ASKED.but(factor=lambda k: 1.0, clip="no"),),
)
def not_divided(*args: Any, **more: Any) -> object:
    return AS_ASKED.but(factor=lambda k: 1.0)(*args, **more)


@mistake(
    "Clipped while the gradients were scaled",
    "The gradient was measured times the scale, so that it was always too long: each step used one much shorter than "
    "max_norm.",
    "In what unit is .grad between scaler.scale(loss).backward() and the step?",
)
def clipped_while_scaled(*args: Any, **more: Any) -> object:
    return AS_ASKED.but(clip="scaled")(*args, **more)


@mistake(
    "Not clipped",
    "Where the gradient is longer than max_norm, the step used it as it was.",
    "Which line shortens the gradient, between unscaling and the step?",
)
def not_clipped(*args: Any, **more: Any) -> object:
    return AS_ASKED.but(clip="no")(*args, **more)


@mistake(
    "The steps had no momentum",
    "Every step was that of SGD without momentum.",
    "Which arguments does the optimizer have in the text of the exercise?",
)
def without_momentum(*args: Any, **more: Any) -> object:
    return AS_ASKED.but(momentum=0.0)(*args, **more)


@mistake(
    "The learning rate moved with a window that was skipped",
    "After a window whose gradient was not finite, the learning rate was that of one step more than the optimizer had "
    "made.",
    "How can you tell whether scaler.step made a step? What does the scale do when it did not?",
    "The number of windows and the number of steps are the same until a window is skipped.",
)
def schedule_moves_with_a_skipped_window(*args: Any, **more: Any) -> object:
    return AS_ASKED.but(schedule="windows")(*args, **more)


@mistake(
    "The learning rate moved with every micro-batch",
    "The learning rate fell once for each micro-batch, not once for each step.",
    "How far is the schedule's line indented?",
)
def schedule_moves_with_every_micro_batch(*args: Any, **more: Any) -> object:
    return AS_ASKED.but(schedule="micro-batches")(*args, **more)


@mistake(
    "The learning rate never changed",
    "Every step had the learning rate config['lr'].",
    "The rate of step s is lr * (1 - s / steps). Which line sets it?",
)
def no_schedule(*args: Any, **more: Any) -> object:
    return AS_ASKED.but(schedule="constant")(*args, **more)


@mistake(
    "A skipped window was not counted",
    "After a window that was skipped the run went on until it had made config['steps'] steps: more windows than asked.",
    "Asked are steps windows, and a skipped one is one of them.",
)
def skipped_window_not_counted(*args: Any, **more: Any) -> object:
    return AS_ASKED.but(counts_skipped=False)(*args, **more)


@mistake(
    "Nothing was cleared",
    "Each window added its gradient to those of the windows before it, and to what .grad held before the call.",
    "Which line empties .grad, and how often does it run?",
    "It hardly shows: what was left is unscaled, and the next gradients are added to it times the scale.",
)
def never_cleared(*args: Any, **more: Any) -> object:
    return AS_ASKED.but(clear="never")(*args, **more)


@mistake(
    "The first window used what .grad held before the call",
    "Windows after the first began clean. The first one found gradients in .grad and used them, too.",
    "Nobody promises that .grad is empty when the function begins.",
)
def first_window_on_old_gradients(*args: Any, **more: Any) -> object:
    return AS_ASKED.but(clear="end")(*args, **more)


@mistake(
    "What a skipped window left was used by the next one",
    "A window whose gradient was not finite left it in .grad. Added to the next window's it made that one not finite, "
    "too, and so on: no window after it made a step.",
    "When the scaler makes no step, does your loop still empty .grad?",
    "Clearing belongs to the step, so it is put where the step is; but a skipped window needs it most.",
    also=(AS_ASKED.but(clear="not when skipped", clear_first=True),),
)
def not_cleared_after_a_skipped_window(*args: Any, **more: Any) -> object:
    return AS_ASKED.but(clear="not when skipped")(*args, **more)


@mistake(
    "The scaler does nothing",
    "Where a gradient is not finite the step was made all the same, and the weights are not finite. That is what runs "
    "without a scaler, or with one that is switched off.",
    "For which device was the scaler made? Without one that exists it switches itself off, with no more than a warning.",
    "GradScaler() without a device is one for CUDA.",
)
def scaler_switched_off(*args: Any, **more: Any) -> object:
    return AS_ASKED.but(scaled=False)(*args, **more)


@mistake(
    "Cleared for every micro-batch",
    "Each step used what the last micro-batch of its window left.",
    "How often should .grad be emptied between two steps?",
)
def cleared_for_each_micro_batch(*args: Any, **more: Any) -> object:
    return AS_ASKED.but(clear="each")(*args, **more)


@mistake(
    "The forward passes did not run in float16",
    "The logits of a float32 model did not come out as float16.",
    "What must stand around the forward pass, and with which dtype? On the CPU autocast's default is bfloat16.",
    also=(AS_ASKED.but(autocast=lambda: torch.autocast("cpu", dtype=torch.bfloat16)),),
)
def not_in_float16(*args: Any, **more: Any) -> object:
    return AS_ASKED.but(autocast=nullcontext)(*args, **more)


@mistake(
    "The steps did not reach the forward passes",
    "The float32 model ran as with one autocast block around the whole loop. Autocast keeps the half-precision copies of the weights until its "
    "block ends, so every forward used those of the first one.",
    "Where does the autocast block begin, and where does it end? It is meant for one forward pass and its loss.",
    "One block around everything is shorter, and nothing raises.",
)
def one_autocast_block(*args: Any, **more: Any) -> object:
    return AS_ASKED.but(around=_half, autocast=nullcontext)(*args, **more)


@mistake(
    "Every window began at the first batch",
    "All windows used the same micro-batches, the first of the list.",
    "Micro-batch j of window w has a position in the whole run. Which?",
)
def windows_begin_at_the_first_batch(*args: Any, **more: Any) -> object:
    return AS_ASKED.but(batch=lambda window, place, k, first: place)(*args, **more)


@mistake(
    "Windows that overlap",
    "Each window began one micro-batch after the window before it, not where that one ended.",
    "How many micro-batches of the run are behind it when window w begins?",
    "w + j counts up, too. With windows of one micro-batch it is right.",
)
def windows_overlap(*args: Any, **more: Any) -> object:
    return AS_ASKED.but(batch=lambda window, place, k, first: window + place)(*args, **more)


@mistake(
    "The model was put into train mode",
    "Where the model came in eval mode, its forward passes ran in train mode, and the steps are those of train mode.",
    "The mode is the caller's choice: leave train() out.",
    also=(AS_ASKED.but(train="for the run"),),
    where=lambda spec: bool(spec.get("eval")),
)
def put_into_train_mode(*args: Any, **more: Any) -> object:
    return AS_ASKED.but(train="yes")(*args, **more)
