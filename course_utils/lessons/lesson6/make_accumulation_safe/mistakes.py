"""What is often done instead in exercise 6.6."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from functools import partial
from typing import Any

import torch
from torch import nn

from course_utils.checks.mistakes import mistake
from course_utils.lessons.lesson6.make_accumulation_safe.task import (
    ACTIVE,
    BATCH_NORMS,
    DOTTED,
    NORM_MODES,
    NORMS_LEFT,
    RETURNED,
)

Code = Callable[[nn.Module], object]
Make = Callable[[Any], nn.Module]


def _nothing(norm: Any) -> nn.Module:
    return nn.Identity()


def _one_group(norm: Any, like: torch.Tensor) -> nn.Module:
    return nn.GroupNorm(1, norm.num_features, device=like.device, dtype=like.dtype)


def _replace(model: nn.Module, make: Make, kinds: tuple[type[nn.Module], ...] = BATCH_NORMS) -> None:
    for module in list(model.modules()):
        for name, part in module.named_children():
            if isinstance(part, kinds):
                setattr(module, name, make(part))


def _norms(model: nn.Module) -> list[Any]:
    return [part for part in model.modules() if isinstance(part, BATCH_NORMS)]


# ------------------------------------------------------------------ nothing, or not everything


@mistake(
    "Batch norm is as it was",
    "Batch norm stands in the model as before. In train mode it still takes mean and variance from the micro-batch that "
    "it sees.",
    "What does your code change in the model itself? A name bound to a new layer in a loop changes nothing there.",
    signs=(NORMS_LEFT, RETURNED, DOTTED),
)
def nothing_changed(model: nn.Module) -> None:
    pass


@mistake(
    "Another module was changed, not this one",
    "A module came back, and it is not the one that was passed in. That one is as it was.",
    "The exercise asks for a change in place. Who holds the layers that are to go?",
    signs=(NORMS_LEFT, RETURNED),
)
def another_model_changed(model: nn.Module) -> object:
    other = deepcopy(model)
    _replace(other, _nothing)
    return other


def _direct(model: nn.Module) -> None:
    for name, part in model.named_children():
        if isinstance(part, BATCH_NORMS):
            setattr(model, name, nn.Identity())


@mistake(
    "Batch norm inside of parts was left",
    "Batch norm that lies in the model directly is gone. In parts of the model it is still there.",
    "named_children() and _modules show one level. How do you come to the parts of the parts?",
    signs=(ACTIVE, DOTTED),
)
def one_level_alone(model: nn.Module) -> None:
    _direct(model)


@mistake(
    "New layers were hung beside the old ones",
    "The model has parts now whose name has a dot in it, and batch norm in its parts is still there. setattr knows "
    "no path: a name such as 0.1 is one more part of the model itself.",
    "named_modules() gives paths. Which module holds the layer, and what is the layer's name in there?",
    "The path of a layer looks like its name.",
    also=(lambda model: _set_under_path(model, _nothing),),
    signs=(DOTTED,),
)
def set_under_its_path(model: nn.Module) -> None:
    like = next(model.parameters())
    _set_under_path(model, lambda norm: _one_group(norm, like))


def _set_under_path(model: nn.Module, make: Make) -> None:
    for name, part in list(model.named_modules()):
        if isinstance(part, BATCH_NORMS):
            setattr(model, name, make(part))


@mistake(
    "Batch norm deep inside was left",
    "Batch norm in the model and in its parts is gone. In the parts of the parts it is still there.",
    "How many levels may there be? A walk over model.modules(), or a function that calls itself, needs no number.",
    signs=(ACTIVE,),
)
def two_levels_alone(model: nn.Module) -> None:
    for part in (model, *model.children()):
        _direct(part)


@mistake(
    "One kind of batch norm was left",
    "Of BatchNorm1d, BatchNorm2d and BatchNorm3d some are gone, and of another kind all are still there.",
    "isinstance takes a tuple of classes, too. Which ones does the exercise name?",
    also=(
        partial(_replace, make=_nothing, kinds=(nn.BatchNorm2d,)),
        partial(_replace, make=_nothing, kinds=(nn.BatchNorm1d, nn.BatchNorm2d)),
        partial(_replace, make=_nothing, kinds=(nn.BatchNorm2d, nn.BatchNorm3d)),
    ),
    signs=(ACTIVE,),
)
def one_kind_left(model: nn.Module) -> None:
    _replace(model, _nothing, (nn.BatchNorm1d,))


# ------------------------------------------------------------------ switches of batch norm


def _in_eval(model: nn.Module, freeze: bool) -> None:
    for norm in _norms(model):
        norm.eval()
        if freeze:
            norm.requires_grad_(False)


@mistake(
    "model.train() undid it",
    "Batch norm was in eval mode when your function returned. model.train() reached it, as it reaches every part, and in "
    "train mode it computes with the micro-batch.",
    "What can you do to the layer, or put in its place, that a later train() does not change?",
    "Fine-tuning code often says bn.eval() once, right before the loop that says model.train().",
    also=(partial(_in_eval, freeze=True),),
    signs=(NORM_MODES, ACTIVE),
)
def undone_by_train(model: nn.Module) -> None:
    _in_eval(model, freeze=False)


def _some_in_eval(model: nn.Module, kinds: tuple[type[nn.Module], ...], freeze: bool = False) -> None:
    for norm in _norms(model):
        if isinstance(norm, kinds):
            norm.eval()
            if freeze:
                norm.requires_grad_(False)


@mistake(
    "model.train() undid it, and one kind was not even reached",
    "Of BatchNorm1d, BatchNorm2d and BatchNorm3d some were in eval mode when your function returned, and of another kind "
    "none was. model.train() reached them all, and in train mode they compute with the micro-batch.",
    "What can you do to a layer, or put in its place, that a later train() does not change? And which kinds of batch norm "
    "does the exercise name?",
    "Fine-tuning code often says bn.eval() once, right before the loop that says model.train().",
    also=(
        partial(_some_in_eval, kinds=(nn.BatchNorm1d,), freeze=True),
        partial(_some_in_eval, kinds=(nn.BatchNorm2d,)),
        partial(_some_in_eval, kinds=(nn.BatchNorm1d, nn.BatchNorm2d)),
        partial(_some_in_eval, kinds=(nn.BatchNorm1d, nn.BatchNorm2d), freeze=True),
    ),
    signs=(NORM_MODES, ACTIVE),
)
def some_undone_by_train(model: nn.Module) -> None:
    _some_in_eval(model, (nn.BatchNorm1d,))


def _whole_in_eval(model: nn.Module) -> None:
    model.eval()
    for norm in _norms(model):
        norm.requires_grad_(False)


@mistake(
    "The whole model was put into eval mode",
    "Every layer was in eval mode when your function returned; the mode of other layers was to stay. And model.train() "
    "undid it for batch norm, too.",
    "Leave the mode of the model to the caller. What can you do to batch norm that a later train() does not change?",
    also=(_whole_in_eval,),
    signs=(NORM_MODES, ACTIVE),
)
def model_in_eval(model: nn.Module) -> object:
    return model.eval()


def _with_momentum(model: nn.Module, momentum: float | None, freeze: bool = False) -> None:
    for norm in _norms(model):
        norm.momentum = momentum
        if freeze:
            norm.requires_grad_(False)


@mistake(
    "momentum is about the running statistics alone",
    "The momentum of batch norm was changed. In train mode it still computes with mean and variance of the micro-batch: "
    "momentum says how the running statistics follow, and they are used in eval mode.",
    "Which numbers does batch norm compute with in train mode?",
    "With momentum 0 something does stand still. It is not what train mode computes with.",
    also=tuple(
        partial(_with_momentum, momentum=momentum, freeze=freeze)
        for momentum, freeze in ((None, False), (1.0, False), (0.0, True), (None, True), (1.0, True))
    ),
    signs=(NORMS_LEFT,),
)
def momentum_changed(model: nn.Module) -> None:
    _with_momentum(model, 0.0)


@mistake(
    "Without running statistics only the micro-batch is left",
    "track_running_stats was set to False. In train mode batch norm computes with the micro-batch, as before.",
    "With which mean and variance would a row come out the same, whatever else is in its micro-batch?",
    "It sounds as if batch norm would stop collecting, and it does. It goes on normalizing.",
    signs=(NORMS_LEFT,),
)
def tracking_switched_off(model: nn.Module) -> None:
    for norm in _norms(model):
        norm.track_running_stats = False


@mistake(
    "Frozen parameters do not freeze the statistics",
    "Scale and shift of batch norm are frozen. Mean and variance are no parameters, and in train mode they still come from "
    "the micro-batch.",
    "Which numbers does batch norm compute with in train mode, and what do they depend on?",
    signs=(NORMS_LEFT,),
)
def parameters_frozen(model: nn.Module) -> None:
    for norm in _norms(model):
        norm.requires_grad_(False)


@mistake(
    "Batch norm without running statistics was forgotten",
    "Where batch norm keeps running statistics they are used now. Where it keeps none it still takes mean and variance from "
    "the micro-batch, in eval mode, too.",
    "What can stand in place of a layer that has no statistics to hold still?",
    "In eval mode most batch norms use their running statistics. With track_running_stats=False there are none.",
    signs=(ACTIVE,),
)
def no_statistics_to_hold(model: nn.Module) -> None:
    for norm in _norms(model):
        norm.eval()
        norm.train = lambda mode=True, norm=norm: norm


def _batch_norm_again(model: nn.Module) -> None:
    like = next(model.parameters())
    _replace(model, lambda norm: type(norm)(norm.num_features, affine=False, device=like.device, dtype=like.dtype))


@mistake(
    "New batch norm is batch norm",
    "There is batch norm again where batch norm was, and it takes mean and variance from the micro-batch.",
    "What is to be normalized over, so that a row has no part in the others?",
    also=(
        _batch_norm_again,
        partial(
            _replace, make=lambda norm: type(norm)(norm.num_features, track_running_stats=False, dtype=torch.float64)
        ),
    ),
    signs=(NORMS_LEFT,),
)
def batch_norm_again(model: nn.Module) -> None:
    like = next(model.parameters())
    _replace(model, lambda norm: type(norm)(norm.num_features, device=like.device, dtype=like.dtype))


@mistake(
    "SyncBatchNorm is batch norm, too",
    "SyncBatchNorm stands where batch norm stood. It joins the statistics of several devices in one pass, and not those of "
    "micro-batches that come one after the other.",
    "What normalizes each row by itself?",
    "Over several devices it is the answer to small batches on each of them.",
    signs=(NORMS_LEFT,),
)
def synchronized(model: nn.Module) -> object:
    return nn.SyncBatchNorm.convert_sync_batchnorm(model)


# ------------------------------------------------------------------ what was put there


def _layer_norm(norm: Any, like: torch.Tensor) -> nn.Module:
    return nn.LayerNorm(norm.num_features, device=like.device, dtype=like.dtype)


@mistake(
    "nn.LayerNorm of the features does not fit images",
    "nn.LayerNorm(num_features) normalizes over the last dimension. Where a row has further dimensions after the features, "
    "that is another one: it refuses them.",
    "Which normalization knows that the features are dimension 1, whatever comes after it?",
    "After a linear layer the features are the last dimension.",
    where=lambda spec: spec["model"] in ("images", "pooled", "volumes", "sequences", "both"),
)
def layer_norm_of_the_features(model: nn.Module) -> None:
    like = next(model.parameters())
    _replace(model, lambda norm: _layer_norm(norm, like))


def _group_each(norm: Any, like: torch.Tensor) -> nn.Module:
    return nn.GroupNorm(norm.num_features, norm.num_features, device=like.device, dtype=like.dtype)


@mistake(
    "Each feature was normalized by itself",
    "For vectors each group holds a single number. Minus its mean it is 0, whatever comes in: nothing that "
    "lies in front gets a gradient any more. So it is for images where the mean over all places follows.",
    "How many numbers of one row are there to normalize over? One group takes all features together.",
    "For images one group for each channel is instance norm. It works as long as no mean over the places follows.",
)
def group_of_one_number(model: nn.Module) -> None:
    like = next(model.parameters())
    _replace(model, lambda norm: _group_each(norm, like))


_INSTANCE_NORMS = {
    nn.BatchNorm1d: nn.InstanceNorm1d,
    nn.BatchNorm2d: nn.InstanceNorm2d,
    nn.BatchNorm3d: nn.InstanceNorm3d,
}


def _instance_norm(norm: Any, affine: bool, like: torch.Tensor) -> nn.Module:
    made = _INSTANCE_NORMS[type(norm)]
    return made(norm.num_features, affine=affine, device=like.device, dtype=like.dtype)


def _with_instance_norm_of_images(model: nn.Module, affine: bool) -> None:
    like = next(model.parameters())
    _replace(
        model,
        lambda norm: (
            nn.GroupNorm(1, norm.num_features, device=like.device, dtype=like.dtype)
            if isinstance(norm, nn.BatchNorm1d)
            else _instance_norm(norm, affine, like)
        ),
    )


@mistake(
    "Each channel of each row was normalized by itself",
    "Where the mean over all places follows, that mean is the same for every row, whatever came in: nothing that lies in "
    "front gets a gradient any more. So it is with instance norm.",
    "Over what can a row be normalized, so that the means of its channels still depend on the row?",
    "Instance norm treats each row by itself, and where the places go on one by one it works.",
    also=(
        partial(_with_instance_norm_of_images, affine=False),
        partial(_with_instance_norm_of_images, affine=True),
    ),
    where=lambda spec: spec["model"] == "pooled",
)
def each_channel_by_itself(model: nn.Module) -> None:
    like = next(model.parameters())
    _replace(model, lambda norm: _instance_norm(norm, affine=False, like=like))


def _in_groups(model: nn.Module, groups: int) -> None:
    like = next(model.parameters())
    _replace(model, lambda norm: nn.GroupNorm(groups, norm.num_features, device=like.device, dtype=like.dtype))


@mistake(
    "The groups do not divide the features",
    "A group norm was to be made with a number of groups that does not divide the number of features, and PyTorch refuses.",
    "The number of features may be a prime. Which numbers of groups fit any number of features, and which of them leaves "
    "more than one number in each group?",
    "In large image models 32 groups are usual, and their layers have hundreds of channels.",
    also=tuple(partial(_in_groups, groups=groups) for groups in (2, 3, 4)),
)
def groups_do_not_divide(model: nn.Module) -> None:
    _in_groups(model, 32)


@mistake(
    "The new layers are float32",
    "Where the model is float64, the parameters of the new layers are of another dtype than what comes in, and the pass "
    "ends in an error.",
    "New layers get the default dtype. Where can you see the dtype that the model has?",
    where=lambda spec: spec.get("dtype") != "float32" and spec["model"] != "row by row",
)
def made_in_float32(model: nn.Module) -> None:
    _replace(model, lambda norm: nn.GroupNorm(1, norm.num_features))


@mistake(
    "The new layers are float64",
    "Where the model is float32, the parameters of the new layers are of another dtype than what comes in, and the pass "
    "ends in an error.",
    "The dtype is not the same for every model. Where can you see the one that this model has?",
    where=lambda spec: spec.get("dtype") == "float32",
)
def made_in_float64(model: nn.Module) -> None:
    _replace(model, lambda norm: nn.GroupNorm(1, norm.num_features, dtype=torch.float64))


# ------------------------------------------------------------------ what else was changed


def _dropout_off(model: nn.Module) -> None:
    _replace(model, _nothing)
    for part in model.modules():
        if isinstance(part, nn.Dropout):
            part.p = 0.0


@mistake(
    "Dropout was taken out, too",
    "Dropout was to stay as it is, and it is gone, or has another probability.",
    "Dropout draws for each row by itself. Which layers let one row have a say in the others?",
    "With dropout two passes never agree, so it seems to be in the way as well.",
    also=(_dropout_off,),
    where=lambda spec: spec["model"] == "dropout",
)
def dropout_taken_out(model: nn.Module) -> None:
    _replace(model, _nothing, (*BATCH_NORMS, nn.Dropout))


@mistake(
    "Normalizations that were right were replaced",
    "A layer norm, group norm or instance norm is gone from the model. It normalizes each row by itself and was to "
    "stay.",
    "Which classes does your condition let through? nn.BatchNorm2d and nn.InstanceNorm2d, for one, have a common base.",
    also=(
        partial(
            _replace,
            make=_nothing,
            kinds=(*BATCH_NORMS, nn.LayerNorm, nn.GroupNorm, nn.InstanceNorm1d, nn.InstanceNorm2d, nn.InstanceNorm3d),
        ),
        partial(_replace, make=_nothing, kinds=(*BATCH_NORMS, nn.LayerNorm, nn.GroupNorm)),
        partial(_replace, make=_nothing, kinds=(*BATCH_NORMS, nn.LayerNorm)),
    ),
    where=lambda spec: spec["model"] in ("row by row", "both"),
)
def other_norms_replaced(model: nn.Module) -> None:
    instances = (nn.InstanceNorm1d, nn.InstanceNorm2d, nn.InstanceNorm3d)
    _replace(model, _nothing, (*BATCH_NORMS, *instances))


def _held(model: nn.Module) -> None:
    model.eval()
    model.train = lambda mode=True: model  # type: ignore[method-assign]


def _held_without_batch_norm(model: nn.Module) -> None:
    _replace(model, _nothing)
    _held(model)


@mistake(
    "The model can no longer be put into train mode",
    "model.train() does not reach the other layers any more: they stay in eval mode, dropout included.",
    "Hold still what has to stand still, the statistics of batch norm. All else follows the caller.",
    "In eval mode accumulated gradients are right, and so the model seems to be safe.",
    also=(_held_without_batch_norm,),
)
def held_in_eval(model: nn.Module) -> None:
    _held(model)


def _frozen_and_replaced(model: nn.Module) -> None:
    _replace(model, _nothing)
    model.requires_grad_(False)


@mistake(
    "The model cannot learn any more",
    "No parameter requires gradients any more, so backward has nothing to do. Parameters outside of batch norm were to stay "
    "as they were.",
    "Leave requires_grad alone. What does accumulation have to do with mean and variance of batch norm?",
    also=(_frozen_and_replaced,),
)
def everything_frozen(model: nn.Module) -> object:
    return model.requires_grad_(False)
