# needs: reference
"""Transformers' Trainer on sequences of unequal length, beside the mean over all tokens of the window at once."""

import tempfile
from typing import Any

import torch
from torch import nn
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainerCallback, TrainingArguments, logging

logging.set_verbosity_error()
CONFIG = GPT2Config(
    vocab_size=64,
    n_positions=16,
    n_embd=16,
    n_layer=2,
    n_head=2,
    bos_token_id=0,
    eos_token_id=0,
    resid_pdrop=0.0,
    embd_pdrop=0.0,
    attn_pdrop=0.0,
)
torch.manual_seed(0)
model = GPT2LMHeadModel(CONFIG)
window: list[dict[str, torch.Tensor]] = []


def collate(rows: list[torch.Tensor]) -> dict[str, torch.Tensor]:
    """Every batch has 12 columns, so that the batches of a window can be joined; what pads is no target.

    The first token is no target either. The loss shifts it out, but for some models, GPT-2 among them, the Trainer
    (5.23) counts it all the same, and the gradient comes out too small by its share.
    """
    tokens, labels = torch.zeros(len(rows), 12, dtype=torch.long), torch.full((len(rows), 12), -100)
    for row, sequence in enumerate(rows):
        tokens[row, : len(sequence)] = labels[row, : len(sequence)] = sequence
    labels[:, 0] = -100
    return {"input_ids": tokens, "labels": labels}


def reference() -> dict[str, torch.Tensor]:
    """The gradient of the mean loss per target token of the window."""
    batch = {name: torch.cat([inputs[name] for inputs in window]) for name in window[0]}
    names, parameters = zip(*model.named_parameters(), strict=True)
    with torch.enable_grad():
        return dict(zip(names, torch.autograd.grad(model(**batch).loss, parameters), strict=True))


class NewWindow(TrainerCallback):
    def on_step_begin(self, args: TrainingArguments, state: Any, control: Any, **kwargs: Any) -> None:
        window.clear()


class TokenTrainer(Trainer):
    def compute_loss(
        self,
        model: nn.Module,
        inputs: dict[str, Any],
        return_outputs: bool = False,
        num_items_in_batch: torch.Tensor | None = None,
    ) -> Any:
        window.append(dict(inputs))
        return super().compute_loss(model, inputs, return_outputs, num_items_in_batch)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        arguments = TrainingArguments(
            output_dir=folder,
            num_train_epochs=2,
            per_device_train_batch_size=2,
            gradient_accumulation_steps=4,
            max_grad_norm=0.0,
            learning_rate=1e-3,
            logging_strategy="no",
            save_strategy="no",
            report_to="none",
            disable_tqdm=True,
            use_cpu=True,
        )
        lengths = torch.randint(3, 13, (32,)).tolist()
        trainer = TokenTrainer(
            model=model,
            args=arguments,
            data_collator=collate,
            train_dataset=[torch.randint(0, 64, (length,)) for length in lengths],
            callbacks=[NewWindow()],
        )
        trainer.train()
