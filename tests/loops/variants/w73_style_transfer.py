# variant: style transfer on an image with LBFGS, style and content losses in one closure
import torch
from torch import nn

torch.manual_seed(0)
vgg = nn.Sequential(nn.Conv2d(1, 4, 3, padding=1), nn.ReLU(), nn.Conv2d(4, 4, 3, padding=1)).requires_grad_(False)
content, style = torch.rand(1, 1, 8, 8), torch.rand(1, 1, 8, 8)


def gram_matrix(feat: torch.Tensor) -> torch.Tensor:
    a, b, c, d = feat.size()
    features = feat.view(a * b, c * d)
    return torch.mm(features, features.t()).div(a * b * c * d)


target_content, target_style = vgg(content), gram_matrix(vgg[:2](style))
input_img = content.clone()
input_img.requires_grad_(True)
optimizer = torch.optim.LBFGS([input_img], max_iter=4)
run = [0]
while run[0] <= 12:

    def closure() -> torch.Tensor:
        with torch.no_grad():
            input_img.clamp_(0, 1)
        optimizer.zero_grad()
        style_score = 100.0 * nn.functional.mse_loss(gram_matrix(vgg[:2](input_img)), target_style)
        content_score = nn.functional.mse_loss(vgg(input_img), target_content)
        loss = style_score + content_score
        loss.backward()
        run[0] += 1
        return loss

    final = optimizer.step(closure)

print(f"{final.item():.5f}")
