# bug: B82
import torch
from torch import nn


def fit_codes(encoder, decoder, e_opt, d_opt, batches):
    for x in batches:
        e_opt.zero_grad()
        d_opt.zero_grad()
        loss = nn.functional.mse_loss(decoder(encoder(x)), x)
        loss.backward()
        e_opt.step()
        d_opt.step()


def fit_together(encoder, decoder, critic, e_opt, d_opt, c_opt, batches):
    for x in batches:
        e_opt.zero_grad()
        d_opt.zero_grad()
        code = encoder(x)
        loss = nn.functional.mse_loss(decoder(code), x) - 0.1 * critic(code).mean()
        loss.backward()
        e_opt.step()
        d_opt.step()
        c_opt.zero_grad()
        (critic(encoder(x).detach()).mean() - critic(torch.randn_like(code)).mean()).backward()
        c_opt.step()
    return loss.item()


torch.manual_seed(0)
encoder, decoder, critic = nn.Linear(6, 3), nn.Linear(3, 6), nn.Linear(3, 1)
e_opt, d_opt, c_opt = (torch.optim.Adam(m.parameters(), lr=1e-3) for m in (encoder, decoder, critic))
batches = torch.randn(12, 8, 6)
fit_codes(encoder, decoder, e_opt, d_opt, batches)
print(f"{fit_together(encoder, decoder, critic, e_opt, d_opt, c_opt, batches):.4f}")
