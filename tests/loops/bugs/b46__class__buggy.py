# bug: B46
# id: closure-without-zeroing
import torch
from torch import nn


class Regression(nn.Module):
    def __init__(self, n_features):
        super().__init__()
        self.linear = nn.Linear(n_features, 1)

    def forward(self, x):
        return torch.sigmoid(self.linear(x))

    def fit(self, x, y, n_steps=6):
        opt = torch.optim.LBFGS(self.parameters(), max_iter=5, line_search_fn="strong_wolfe")
        bce = nn.BCELoss()
        opt.zero_grad()  # <-- bug

        def evaluate():
            objective = bce(self(x), y) + 1e-2 * self.linear.weight.square().sum()
            objective.backward()  # <-- bug
            return objective

        for _ in range(n_steps):
            opt.step(evaluate)  # <-- bug
        return evaluate().item()


torch.manual_seed(0)
features = torch.randn(30, 4)
labels = (features[:, :1] + 0.5 * torch.randn(30, 1) > 0).float()
print(Regression(4).fit(features, labels))
