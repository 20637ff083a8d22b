# id: layer-replaced-after-optimizer
"""A callback exchanges the head when training begins, after the Trainer made its optimizer."""

import tempfile
from typing import Any

import torch
from torch import nn
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainerCallback, TrainingArguments, logging

logging.set_verbosity_error()
CONFIG = GPT2Config(vocab_size=64, n_positions=16, n_embd=16, n_layer=2, n_head=2, bos_token_id=0, eos_token_id=0)
CONFIG.tie_word_embeddings = False


def collate(rows: list[torch.Tensor]) -> dict[str, torch.Tensor]:
    tokens = torch.stack(rows)
    return {"input_ids": tokens, "labels": tokens.clone()}


class Rates(TrainerCallback):
    """Keeps the learning rate of every step."""

    def __init__(self) -> None:
        self.rates: list[float] = []

    def on_train_begin(self, args: TrainingArguments, state: Any, control: Any, **kwargs: Any) -> None:
        kwargs["model"].lm_head = nn.Linear(16, 64, bias=False)  # <-- bug

    def on_step_end(self, args: TrainingArguments, state: Any, control: Any, **kwargs: Any) -> None:
        self.rates.append(kwargs["optimizer"].param_groups[0]["lr"])


class CurveTrainer(Trainer):
    """Keeps the loss of every micro-batch."""

    curve: list[float]

    def training_step(
        self, model: nn.Module, inputs: dict[str, Any], num_items_in_batch: torch.Tensor | None = None
    ) -> torch.Tensor:
        loss = super().training_step(model, inputs, num_items_in_batch)
        self.curve = [*getattr(self, "curve", []), loss.item()]
        return loss


if __name__ == "__main__":
    torch.manual_seed(0)
    with tempfile.TemporaryDirectory() as folder:
        arguments = TrainingArguments(
            output_dir=folder,
            num_train_epochs=2,
            per_device_train_batch_size=4,
            gradient_accumulation_steps=2,
            max_grad_norm=0.5,
            learning_rate=1e-3,
            logging_strategy="no",
            save_strategy="no",
            report_to="none",
            disable_tqdm=True,
            use_cpu=True,
        )
        trainer = CurveTrainer(
            model=GPT2LMHeadModel(CONFIG),
            args=arguments,
            data_collator=collate,
            train_dataset=list(torch.randint(0, 64, (32, 12))),
            callbacks=[Rates()],
        )
        trainer.train()  # <-- bug
