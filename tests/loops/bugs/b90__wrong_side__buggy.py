# bug: B90
# id: summand-without-graph
import torch
from torch import nn

torch.manual_seed(9)
x, y = torch.randn(48, 5), torch.randn(48, 1)
teacher = nn.Sequential(nn.Linear(5, 30), nn.ReLU(), nn.Linear(30, 1))
student = nn.Linear(5, 1)


def fit(model, loss_of, epochs):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for _ in range(epochs):
        for at in range(0, 48, 12):
            optimizer.zero_grad()
            loss = loss_of(x[at : at + 12], y[at : at + 12])
            loss.backward()
            optimizer.step()


def student_loss(inputs, labels):
    said = student(inputs)
    taught = (said.detach() - teacher(inputs)).square().mean()  # <-- bug
    return 0.5 * taught + nn.functional.mse_loss(said, labels)  # <-- bug


fit(teacher, lambda inputs, labels: nn.functional.mse_loss(teacher(inputs), labels), 3)
fit(student, student_loss, 3)
