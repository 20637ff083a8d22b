"""Attempts at exercise 6.6, make_accumulation_safe: what learners write, and what the check must say of it."""

import copy
import types

import torch
from torch import nn
from torch.nn import functional as F

from course_utils.authoring.attempts import raised, right, wrong
from course_utils.checks import effects
from course_utils.lessons.lesson6.make_accumulation_safe import mistakes

BATCH_NORM = (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)


@right
def calls_itself(model):
    def walk(module, like):
        for name, child in module.named_children():
            if isinstance(child, BATCH_NORM):
                setattr(module, name, nn.GroupNorm(1, child.num_features).to(like))
            else:
                walk(child, like)

    walk(model, next(model.parameters()))
    return model


@right
def by_path(model):
    for path, module in list(model.named_modules()):
        if isinstance(module, nn.modules.batchnorm._BatchNorm):
            parent, _, name = path.rpartition(".")
            setattr(model.get_submodule(parent), name, nn.Identity())


@right
def statistics_that_stand_still(model):
    """As one fine-tunes, and where there are no statistics nothing takes their place."""
    for module in model.modules():
        for name, child in list(module._modules.items()):
            if isinstance(child, BATCH_NORM):
                if child.running_mean is None:
                    module._modules[name] = nn.Identity()
                else:
                    child.eval()
                    child.train = types.MethodType(lambda self, mode=True: self, child)


@right
def forward_of_the_object(model):
    """The layer stays, with its scale and shift, and computes another way."""
    for module in model.modules():
        if isinstance(module, BATCH_NORM):
            module.forward = lambda x, m=module: F.group_norm(x, 1, m.weight, m.bias, m.eps)


class RowNorm(nn.Module):
    def forward(self, x):
        dims = tuple(range(1, x.dim()))
        return (x - x.mean(dims, keepdim=True)) / (x.var(dims, keepdim=True, unbiased=False) + 1e-5).sqrt()


@right
def a_norm_of_my_own(model):
    def swap(module):
        for name, child in module.named_children():
            module.add_module(name, RowNorm() if isinstance(child, BATCH_NORM) else swap(child))
        return module

    swap(model)


class Still(nn.Module):
    def __init__(self, bn, like):
        super().__init__()
        n = bn.num_features
        mean = bn.running_mean if bn.running_mean is not None else like.new_zeros(n)
        var = bn.running_var if bn.running_var is not None else like.new_ones(n)
        self.register_buffer("mean", mean.clone())
        self.register_buffer("std", (var + bn.eps).sqrt())
        self.weight, self.bias = bn.weight, bn.bias

    def forward(self, x):
        shape = (1, -1) + (1,) * (x.dim() - 2)
        x = (x - self.mean.view(shape)) / self.std.view(shape)
        return x if self.weight is None else x * self.weight.view(shape) + self.bias.view(shape)


@right
def frozen_module_as_in_detection(model):
    like = next(model.parameters()).detach()
    for module in list(model.modules()):
        for name, child in module.named_children():
            if isinstance(child, BATCH_NORM):
                setattr(module, name, Still(child, like))


class Affine(nn.BatchNorm1d):
    def _check_input_dim(self, x):
        pass

    def forward(self, x):
        return x if self.weight is None else x * self.weight.view(1, -1, *[1] * (x.dim() - 2))


@right
def another_class_for_the_same_object(model):
    for module in model.modules():
        if isinstance(module, BATCH_NORM):
            module.__class__ = Affine


@right
def train_of_the_model(model):
    """The model's own train() puts batch norm back into eval mode."""
    like = next(model.parameters()).detach()
    norms = [m for m in model.modules() if isinstance(m, BATCH_NORM)]
    for bn in norms:
        if bn.running_mean is None:
            bn.track_running_stats = True
            bn.running_mean, bn.running_var = like.new_zeros(bn.num_features), like.new_ones(bn.num_features)
        bn.eval()

    def train(self, mode=True):
        type(self).train(self, mode)
        for bn in norms:
            bn.eval()
        return self

    model.train = types.MethodType(train, model)


@right
def hook_before_the_forward(model):
    like = next(model.parameters()).detach()
    for bn in model.modules():
        if isinstance(bn, BATCH_NORM):
            if bn.running_mean is None:
                bn.running_mean, bn.running_var = like.new_zeros(bn.num_features), like.new_ones(bn.num_features)
            bn.register_forward_pre_hook(lambda m, args: m.eval() and None)


@right
def groups_where_they_fit(model):
    like = next(model.parameters())
    for module in list(model.modules()):
        for name, child in module.named_children():
            if isinstance(child, BATCH_NORM):
                groups = next(
                    g for g in (2, 1) if child.num_features % g == 0 and child.num_features // g > 2 or g == 1
                )
                norm = nn.GroupNorm(groups, child.num_features, affine=child.affine)
                setattr(module, name, norm.to(like.dtype))


@right
def sequential_made_anew(model):
    """The containers are new ones, the layers are the old ones."""

    def made(module):
        if isinstance(module, BATCH_NORM):
            return nn.Identity()
        if type(module) is nn.Sequential:
            return nn.Sequential(*map(made, module))
        for name, child in module.named_children():
            setattr(module, name, made(child))
        return module

    for name, child in model.named_children():
        setattr(model, name, made(child))


# ------------------------------------------------------------------ wrong


@wrong(mistakes.nothing_changed)
def a_name_in_a_loop(model):
    for module in model.modules():
        if isinstance(module, BATCH_NORM):
            module = nn.GroupNorm(1, module.num_features)
    return None


@wrong(mistakes.another_model_changed)
def a_copy(model):
    model = copy.deepcopy(model)
    like = next(model.parameters())
    for module in list(model.modules()):
        for name, child in module.named_children():
            if isinstance(child, BATCH_NORM):
                setattr(module, name, nn.GroupNorm(1, child.num_features).to(like))
    return model


@wrong(mistakes.one_level_alone)
def children_alone(model):
    for name, child in model.named_children():
        if isinstance(child, BATCH_NORM):
            setattr(model, name, nn.GroupNorm(1, child.num_features).to(next(model.parameters())))


@wrong(mistakes.two_levels_alone)
def children_and_their_children(model):
    for name, child in model.named_children():
        if isinstance(child, BATCH_NORM):
            setattr(model, name, nn.Identity())
        for inner, grandchild in child.named_children():
            if isinstance(grandchild, BATCH_NORM):
                setattr(child, inner, nn.Identity())


@wrong(mistakes.set_under_its_path)
def setattr_with_a_path(model):
    like = next(model.parameters())
    for name, module in list(model.named_modules()):
        if isinstance(module, BATCH_NORM):
            setattr(model, name, nn.GroupNorm(1, module.num_features).to(like))


@wrong(mistakes.one_kind_left)
def one_d_alone(model):
    for module in list(model.modules()):
        for name, child in module.named_children():
            if isinstance(child, nn.BatchNorm1d):
                setattr(module, name, nn.Identity())


@wrong(mistakes.undone_by_train)
def eval_of_batch_norm(model):
    for module in model.modules():
        if isinstance(module, BATCH_NORM):
            module.eval()


@wrong(mistakes.made_in_float64)
def always_double(model):
    for module in list(model.modules()):
        for name, part in module.named_children():
            if isinstance(part, (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)):
                setattr(module, name, nn.GroupNorm(1, part.num_features).double())


@wrong(mistakes.some_undone_by_train)
def eval_of_one_kind(model):
    for module in model.modules():
        if isinstance(module, nn.BatchNorm1d):
            module.eval()


@wrong(mistakes.some_undone_by_train)
def eval_of_two_kinds(model):
    for module in model.modules():
        if isinstance(module, (nn.BatchNorm1d, nn.BatchNorm2d)):
            module.eval()


@wrong(mistakes.undone_by_train)
def all_the_switches(model):
    for module in model.modules():
        if isinstance(module, BATCH_NORM):
            module.eval()
            module.momentum = 0.0
            module.requires_grad_(False)


@raised(mistakes.groups_do_not_divide)
def two_groups(model):
    like = next(model.parameters())
    for module in list(model.modules()):
        for name, child in module.named_children():
            if isinstance(child, BATCH_NORM):
                setattr(module, name, nn.GroupNorm(2, child.num_features).to(like))


class Moving(nn.Module):
    """Normalizes by running statistics that each pass moves on."""

    def __init__(self, features, like):
        super().__init__()
        self.register_buffer("mean", like.new_zeros(features))

    def forward(self, x):
        out = x - self.mean.view(1, -1, *[1] * (x.dim() - 2))
        if self.training:
            with torch.no_grad():
                self.mean.lerp_(x.mean([d for d in range(x.dim()) if d != 1]), 0.1)
        return out


@wrong(says="a Moving")
def statistics_that_go_on(model):
    like = next(model.parameters()).detach()
    for module in list(model.modules()):
        for name, child in module.named_children():
            if isinstance(child, BATCH_NORM):
                setattr(module, name, Moving(child.num_features, like))


@wrong(mistakes.model_in_eval)
def eval_of_the_model(model):
    model.eval()
    return model


@wrong(mistakes.momentum_changed)
def momentum_zero(model):
    for module in model.modules():
        if isinstance(module, BATCH_NORM):
            module.momentum = 0.0


@wrong(mistakes.tracking_switched_off)
def no_tracking(model):
    for module in model.modules():
        if isinstance(module, BATCH_NORM):
            module.track_running_stats = False
            module.running_mean = None
            module.running_var = None


@wrong(mistakes.parameters_frozen)
def frozen_weights(model):
    for module in model.modules():
        if isinstance(module, BATCH_NORM):
            for p in module.parameters():
                p.requires_grad = False


@wrong(mistakes.no_statistics_to_hold)
def eval_for_good(model):
    for module in model.modules():
        if isinstance(module, BATCH_NORM):
            module.eval()
            module.train = lambda mode=True: None


@wrong(mistakes.layer_norm_of_the_features)
def layer_norm_everywhere(model):
    like = next(model.parameters())
    for module in list(model.modules()):
        for name, child in module.named_children():
            if isinstance(child, BATCH_NORM):
                setattr(module, name, nn.LayerNorm(child.num_features).to(like))


@wrong(mistakes.group_of_one_number)
def a_group_for_each_feature(model):
    like = next(model.parameters())
    for module in list(model.modules()):
        for name, child in module.named_children():
            if isinstance(child, BATCH_NORM):
                setattr(module, name, nn.GroupNorm(child.num_features, child.num_features).to(like))


@wrong(mistakes.made_in_float32)
def default_dtype(model):
    for name, child in model.named_children():
        if isinstance(child, BATCH_NORM):
            setattr(model, name, nn.GroupNorm(1, child.num_features))
        else:
            default_dtype(child)


@wrong(mistakes.dropout_taken_out)
def dropout_as_well(model):
    for module in list(model.modules()):
        for name, child in module.named_children():
            if isinstance(child, (*BATCH_NORM, nn.Dropout)):
                setattr(module, name, nn.Identity())


@wrong(mistakes.other_norms_replaced)
def whatever_is_called_norm(model):
    for module in list(model.modules()):
        for name, child in module.named_children():
            if "Norm" in type(child).__name__:
                setattr(module, name, nn.Identity())


@wrong(mistakes.other_norms_replaced)
def the_common_base(model):
    for module in list(model.modules()):
        for name, child in module.named_children():
            if isinstance(child, nn.modules.batchnorm._NormBase):
                setattr(module, name, nn.Identity())


@wrong(mistakes.synchronized)
def sync_batch_norm(model):
    return nn.SyncBatchNorm.convert_sync_batchnorm(model)


@wrong(mistakes.held_in_eval)
def no_train_mode_any_more(model):
    model.eval()
    model.train = lambda mode=True: model


@wrong(mistakes.batch_norm_again)
def without_affine(model):
    like = next(model.parameters())
    for module in list(model.modules()):
        for name, child in module.named_children():
            if isinstance(child, BATCH_NORM):
                setattr(module, name, type(child)(child.num_features, affine=False).to(like))


@wrong(mistakes.everything_frozen)
def everything_frozen(model):
    for module in list(model.modules()):
        for name, child in module.named_children():
            if isinstance(child, BATCH_NORM):
                setattr(module, name, nn.Identity())
    for p in model.parameters():
        p.requires_grad_(False)


@wrong(says="Gone from the model")
def new_linear_layers(model):
    """Batch norm is right, and the layers in front are made anew."""
    for module in list(model.modules()):
        for name, child in module.named_children():
            if isinstance(child, BATCH_NORM):
                setattr(module, name, nn.Identity())
            elif isinstance(child, nn.Linear):
                setattr(module, name, copy.deepcopy(child))


@raised(mistakes.groups_do_not_divide)
def thirty_two_groups(model):
    for module in list(model.modules()):
        for name, child in module.named_children():
            if isinstance(child, BATCH_NORM):
                setattr(module, name, nn.GroupNorm(32, child.num_features))


@raised(effects.undefined_name)
def no_walk(model):
    for name, _ in modules:
        setattr(model, name, torch.nn.Identity())


@wrong(mistakes.each_channel_by_itself)
def instance_norm(model):
    made = {nn.BatchNorm1d: nn.InstanceNorm1d, nn.BatchNorm2d: nn.InstanceNorm2d, nn.BatchNorm3d: nn.InstanceNorm3d}
    for module in list(model.modules()):
        for name, child in module.named_children():
            if type(child) in made:
                setattr(module, name, made[type(child)](child.num_features))


@wrong(mistakes.each_channel_by_itself)
def a_group_for_each_channel_of_images(model):
    like = next(model.parameters())
    for module in list(model.modules()):
        for name, child in module.named_children():
            if isinstance(child, BATCH_NORM):
                groups = 1 if isinstance(child, nn.BatchNorm1d) else child.num_features
                setattr(module, name, nn.GroupNorm(groups, child.num_features, device=like.device, dtype=like.dtype))


@wrong(mistakes.momentum_changed)
def no_momentum_and_frozen(model):
    for module in model.modules():
        if isinstance(module, BATCH_NORM):
            module.momentum = 0.0
            for p in module.parameters():
                p.requires_grad_(False)


@wrong(mistakes.set_under_its_path)
def nothing_under_its_path(model):
    for name, module in list(model.named_modules()):
        if isinstance(module, BATCH_NORM):
            setattr(model, name, nn.Identity())
