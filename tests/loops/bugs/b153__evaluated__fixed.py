# bug: B153
import torch
from torch import nn


class Solver:
    """Fits a model to all of its data with a line search."""

    def __init__(self, model, criterion):
        self.model, self.criterion = model, criterion
        self.optimizer = torch.optim.LBFGS(model.parameters(), max_iter=6, line_search_fn="strong_wolfe")

    def fit(self, x, y, rounds):
        for turn in range(rounds):

            def closure():
                self.optimizer.zero_grad()
                loss = self.criterion(self.model(x), y)
                loss.backward()
                return loss

            self.optimizer.step(closure)
            with torch.no_grad():
                found = self.criterion(self.model(x), y)
            print(turn, round(found.item(), 4))


torch.manual_seed(1)
angle = torch.linspace(-2, 2, 60).unsqueeze(1)
Solver(nn.Sequential(nn.Linear(1, 12), nn.Tanh(), nn.Linear(12, 1)), nn.MSELoss()).fit(angle, angle.sin(), 8)
