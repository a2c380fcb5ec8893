"""Muon for the hidden matrices, AdamW for the embeddings and the norms.

Muon (Jordan et al. 2024) replaces a matrix's momentum with the nearest
semi-orthogonal matrix, which a few Newton-Schulz steps approximate. It was chosen because it
is reported to need far fewer tokens than AdamW for the same loss. The two were not compared here.
"""

import torch


def orthogonalise(m, steps=5):
    """m [n, rows, cols] -> approximately its polar factor, with singular values of about 0.7 to 1.2."""
    a, b, c = 3.4445, -4.7750, 2.0315
    x = m.to(torch.bfloat16)
    tall = x.shape[1] > x.shape[2]
    if tall:
        x = x.transpose(1, 2).contiguous()
    x = x / (x.float().flatten(1).norm(dim=1)[:, None, None] + 1e-7).to(x.dtype)
    for _ in range(steps):
        g = x @ x.transpose(1, 2)
        x = a * x + (b * g + c * (g @ g)) @ x
    return (x.transpose(1, 2) if tall else x).float()


class Optimizer:
    """Updates every parameter of a Model. lr is the schedule's factor, 0 to 1."""

    def __init__(self, model, muon_lr=0.02, adam_lr=0.006, weight_decay=0.05, momentum=0.95, betas=(0.9, 0.97)):
        self.muon_lr, self.adam_lr, self.weight_decay, self.momentum, self.betas = muon_lr, adam_lr, weight_decay, momentum, betas
        self.count = 0
        c = model.c
        parts = {"qkv": [c.heads * c.head_dim, c.kv_heads * c.head_dim, c.kv_heads * c.head_dim], "gate_up": [c.ffn, c.ffn]}
        self.adam, matrices = [], []
        for name, p in model.named_parameters():
            if name in ("embed", "head") or p.dim() < 2:
                self.adam.append(p)
            else:  # projections that share a tensor are still separate matrices
                matrices.append((p, parts.get(name.split(".")[-1], [p.shape[0]])))
        self.m = [torch.zeros_like(p) for p in self.adam]
        self.v = [torch.zeros_like(p) for p in self.adam]
        self.velocity = [torch.zeros_like(p) for p, _ in matrices]
        self.matrices = matrices

    @torch.no_grad()
    def step(self, lr, clip=1.0):
        """Makes one update and returns the gradient's norm before clipping. Clipping affects only AdamW,
        since Muon's update does not depend on the gradient's scale."""
        self.count += 1
        norm = torch.sqrt(sum(p.grad.pow(2).sum() for p in self.adam))
        scale = (clip / (norm + 1e-6)).clamp(max=1.0)  # stays on its device, so that a GPU need not wait for it
        b1, b2 = self.betas
        for p, m, v in zip(self.adam, self.m, self.v):
            g = p.grad * scale
            m.lerp_(g, 1 - b1)
            v.mul_(b2).addcmul_(g, g, value=1 - b2)
            update = (m / (1 - b1**self.count)) / ((v / (1 - b2**self.count)).sqrt() + 1e-8)
            p.add_(update, alpha=-lr * self.adam_lr)

        momentum = min(self.momentum, 0.85 + 0.1 * self.count / 300)
        by_shape = {}
        for (p, rows), u in zip(self.matrices, self.velocity):
            u.lerp_(p.grad, 1 - momentum)
            look = p.grad.lerp(u, momentum)  # Nesterov
            p.mul_(1 - lr * self.muon_lr * self.weight_decay)
            for target, part in zip(p.split(rows), look.split(rows)):
                flip = part.shape[0] > part.shape[1]
                by_shape.setdefault(tuple(sorted(part.shape)), []).append((target, part.t() if flip else part, flip))
        for group in by_shape.values():
            for (target, _, flip), o in zip(group, orthogonalise(torch.stack([part for _, part, _ in group]))):
                o = o.t() if flip else o
                target.add_(o, alpha=-lr * self.muon_lr * max(1.0, target.shape[0] / target.shape[1]) ** 0.5)
        return norm

    def state(self):
        return {"count": self.count, "m": self.m, "v": self.v, "velocity": self.velocity}

    def load(self, state):
        self.count = state["count"]
        for mine, theirs in ((self.m, state["m"]), (self.v, state["v"]), (self.velocity, state["velocity"])):
            for a, b in zip(mine, theirs):
                a.copy_(b)
