# variant: a loader maps its dataset through a global thread pool, a second pool writes the log; neither is shut down
import threading
from concurrent.futures import ThreadPoolExecutor

import torch
from torch import nn

IO_POOL = ThreadPoolExecutor(max_workers=4, thread_name_prefix="io")
LOG_POOL = ThreadPoolExecutor(max_workers=1, thread_name_prefix="log")


class PooledLoader:
    def __init__(self, dataset, batch_size):
        self.dataset, self.batch_size = dataset, batch_size

    def __len__(self):
        return (len(self.dataset) + self.batch_size - 1) // self.batch_size

    def __iter__(self):
        for start in range(0, len(self.dataset), self.batch_size):
            rows = range(start, min(start + self.batch_size, len(self.dataset)))
            xs, ys = zip(*IO_POOL.map(self.dataset.__getitem__, rows))
            yield torch.stack(xs), torch.stack(ys)


class Waves(torch.utils.data.Dataset):
    def __len__(self):
        return 44

    def __getitem__(self, i):
        t = torch.linspace(0, 3, 8) + i / 10
        return t.sin(), t[-1:].cos()


def train(model, loader, epochs, accumulate=2):
    lines = []
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    for epoch in range(epochs):
        for i, (x, y) in enumerate(loader):
            loss = nn.functional.mse_loss(model(x), y)
            (loss / accumulate).backward()
            if (i + 1) % accumulate == 0:
                optimizer.step()
                optimizer.zero_grad()
                LOG_POOL.submit(lines.append, (epoch, i, loss.item()))
    return LOG_POOL.submit(lambda: lines[-1]).result()


if __name__ == "__main__":
    torch.manual_seed(4)
    net = nn.Sequential(nn.Linear(8, 12), nn.Tanh(), nn.Linear(12, 1))
    epoch, i, value = train(net, PooledLoader(Waves(), 6), epochs=3)
    print(f"{epoch} {i} {value:.4f} threads {sum(t.name.startswith(('io', 'log')) for t in threading.enumerate()) > 0}")
