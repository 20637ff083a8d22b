# variant: gradient reversal layer (domain adaptation): one optimizer, one backward on two losses
import torch
from torch import nn


class ReverseLayerF(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x: torch.Tensor, alpha: float) -> torch.Tensor:
        ctx.alpha = alpha
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad_output: torch.Tensor) -> tuple[torch.Tensor, None]:
        return grad_output.neg() * ctx.alpha, None


torch.manual_seed(0)
feature = nn.Sequential(nn.Linear(6, 16), nn.ReLU())
class_classifier, domain_classifier = nn.Linear(16, 3), nn.Linear(16, 2)
my_net = nn.ModuleList([feature, class_classifier, domain_classifier])
optimizer = torch.optim.Adam(my_net.parameters(), lr=1e-3)
loss_class = nn.NLLLoss()
loss_domain = nn.NLLLoss()
for i in range(6):
    p = i / 6
    alpha = 2.0 / (1.0 + 2.718281828 ** (-10 * p)) - 1
    s_img, s_label, t_img = torch.randn(8, 6), torch.randint(0, 3, (8,)), torch.randn(8, 6) + 1
    my_net.zero_grad()
    f_s, f_t = feature(s_img), feature(t_img)
    err_s_label = loss_class(class_classifier(f_s).log_softmax(1), s_label)
    d_s = domain_classifier(ReverseLayerF.apply(f_s, alpha)).log_softmax(1)
    d_t = domain_classifier(ReverseLayerF.apply(f_t, alpha)).log_softmax(1)
    err_s_domain = loss_domain(d_s, torch.zeros(8, dtype=torch.long))
    err_t_domain = loss_domain(d_t, torch.ones(8, dtype=torch.long))
    err = err_t_domain + err_s_domain + err_s_label
    err.backward()
    optimizer.step()

print(f"{err.item():.4f}")
