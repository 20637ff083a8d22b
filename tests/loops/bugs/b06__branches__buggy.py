# bug: B06
# id: loss-not-divided
import torch
from torch import nn

torch.manual_seed(0)


def train(net, batches, optimizer, scaler=None, accum_steps=3):
    done = 0
    for images, texts in batches:
        if scaler:
            with torch.autocast("cpu", dtype=torch.float16):
                loss = agreement(net, images, texts)
                part = loss / accum_steps
            scaler.scale(part).backward()
        else:
            loss = agreement(net, images, texts)
            loss.backward()  # <-- bug
        done += 1
        if done % accum_steps == 0:
            if scaler:
                scaler.step(optimizer)
                scaler.update()
            else:
                optimizer.step()
            optimizer.zero_grad(set_to_none=True)
            print(f"{loss.item():.3f}")


def agreement(net, images, texts):
    return 1 - nn.functional.cosine_similarity(net["image"](images), net["text"](texts)).mean()


net = nn.ModuleDict({"image": nn.Linear(12, 6), "text": nn.Linear(8, 6)})
batches = [(torch.randn(10, 12), torch.randn(10, 8)) for _ in range(24)]
train(net, batches, torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9))
