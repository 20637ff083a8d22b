# truth: clean
import torch
import torch.nn.functional as F
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(0)
"""Encoder, policy head and value head with an optimizer each; the encoder takes both losses' gradient at once."""
enc, pi, vf = nn.Sequential(nn.Linear(6, 16), nn.Tanh()), nn.Linear(16, 3), nn.Linear(16, 1)
opt_enc = torch.optim.Adam(enc.parameters(), 1e-3)
opt_pi = torch.optim.Adam(pi.parameters(), 1e-3)
opt_vf = torch.optim.Adam(vf.parameters(), 1e-2)
for it in range(10):
    obs, act, ret = torch.randn(16, 6), torch.randint(0, 3, (16,)), torch.randn(16)
    opt_enc.zero_grad()
    v_loss = F.mse_loss(vf(enc(obs)).squeeze(1), ret)
    opt_vf.zero_grad()
    v_loss.backward()
    opt_vf.step()
    adv = (ret - vf(enc(obs)).squeeze(1)).detach()
    p_loss = (F.cross_entropy(pi(enc(obs)), act, reduction="none") * adv).mean()
    opt_pi.zero_grad()
    p_loss.backward()
    opt_pi.step()
    opt_enc.step()  # both losses train the encoder
print(v_loss.item())
