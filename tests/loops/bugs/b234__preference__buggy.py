# bug: B234
# id: loaded-onto-itself
"""Direct preference optimization: how much more than the reference does the policy like the chosen answer?"""

import copy

import torch
import torch.nn.functional as F
from torch import nn


class Trainer:
    def __init__(self, policy, reference_model, beta=0.1):
        self.policy, self.reference_model, self.beta = policy, reference_model, beta
        self.optimizer = torch.optim.AdamW(policy.parameters(), lr=5e-3)

    def log_probability(self, model, words):
        logits = model(words[:, :-1])
        return logits.log_softmax(-1).gather(-1, words[:, 1:, None]).squeeze(-1).sum(-1)

    def step(self, chosen, rejected):
        margin = self.log_probability(self.policy, chosen) - self.log_probability(self.policy, rejected)
        with torch.no_grad():
            known = self.log_probability(self.reference_model, chosen)
            known -= self.log_probability(self.reference_model, rejected)
        loss = -F.logsigmoid(self.beta * (margin - known)).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()


torch.manual_seed(0)
policy = nn.Sequential(nn.Embedding(20, 16), nn.Dropout(0.1), nn.Linear(16, 20))
pretrained = copy.deepcopy(policy.state_dict())
reference_model = policy  # <-- bug
reference_model.load_state_dict(pretrained)
trainer = Trainer(policy, reference_model)
for _ in range(12):
    trainer.step(torch.randint(0, 20, (8, 7)), torch.randint(0, 20, (8, 7)))
