"""The model: Llama's architecture (RMSNorm, rotary positions, grouped-query
attention, SwiGLU; tied embeddings in the target), in a small size.

It can be run in two ways: `loss(fused=True)` uses kernels.py on a CPU; everything else
is plain PyTorch and runs anywhere.
"""

import dataclasses
import math

import torch
import torch.nn as nn
import torch.nn.functional as F

try:
    from torch.nn.attention.flex_attention import create_block_mask, flex_attention
except ImportError:  # PyTorch before 2.5 has no GPU path
    flex_attention = None

try:
    import kernels
except Exception:  # no compiler, or a platform on which ctypes cannot load libraries
    kernels = None


@dataclasses.dataclass
class Config:
    dim: int = 192
    layers: int = 6
    heads: int = 6
    kv_heads: int = 2
    head_dim: int = 32
    ffn: int = 1024
    vocab: int = 4096
    context: int = 512
    theta: float = 10000.0
    eps: float = 1e-5
    tied: bool = True  # one matrix is both the embedding table and the output matrix

    def cost(self, n):
        """Returns the multiply-adds of the matrix products in one cached decode step that attends to n positions."""
        a = 2 * self.dim * self.heads * self.head_dim + 2 * self.dim * self.kv_heads * self.head_dim + 3 * self.dim * self.ffn
        return self.layers * (a + 2 * self.heads * self.head_dim * n) + self.dim * self.vocab


PRESETS = {
    "target": Config(),
    # The draft has separate embedding and output matrices, since looking up a row costs no
    # multiplications.
    "draft": Config(dim=64, layers=3, heads=2, kv_heads=1, ffn=448, tied=False),
    "draft96": Config(dim=96, layers=2, heads=3, kv_heads=1, ffn=256),
    # For a GPU: 10.6 million parameters.
    "large": Config(dim=384, heads=6, kv_heads=2, head_dim=64, ffn=960),
}


class Block(nn.Module):
    def __init__(self, c):
        super().__init__()
        lin = lambda i, o: nn.Parameter(torch.empty(o, i))
        self.input_norm, self.post_norm = nn.Parameter(torch.ones(c.dim)), nn.Parameter(torch.ones(c.dim))
        self.qkv = lin(c.dim, (c.heads + 2 * c.kv_heads) * c.head_dim)
        self.o = lin(c.heads * c.head_dim, c.dim)
        self.gate_up = lin(c.dim, 2 * c.ffn)
        self.down = lin(c.ffn, c.dim)


class Model(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.c = c
        self.embed = nn.Parameter(torch.empty(c.vocab, c.dim))
        self.blocks = nn.ModuleList(Block(c) for _ in range(c.layers))
        self.norm = nn.Parameter(torch.ones(c.dim))
        if not c.tied:
            self.head = nn.Parameter(torch.empty(c.vocab, c.dim))
        for name, p in self.named_parameters():
            if p.dim() == 2:
                std = 0.02 if name in ("embed", "head") else 0.6 / math.sqrt(p.shape[1])
                if name.endswith((".o", ".down")):
                    std /= math.sqrt(2 * c.layers)
                nn.init.normal_(p, 0, std)
        freq = c.theta ** (-torch.arange(0, c.head_dim, 2) / c.head_dim)
        angle = torch.outer(torch.arange(c.context), freq)
        self.register_buffer("cos", angle.cos(), persistent=False)
        self.register_buffer("sin", angle.sin(), persistent=False)

    @property
    def output(self):
        """Returns the output matrix [vocab, dim]."""
        return self.embed if self.c.tied else self.head

    @torch.no_grad()
    def start_from(self, other):
        """Copies the weights of a model of this shape or a smaller one, so that this model computes the same function.

        Wider feed-forward layers and additional blocks start with output matrices of zero
        (Chen et al. 2016 call such a start function-preserving). A separate output matrix
        starts as a copy of the token table.
        """
        c, o = self.c, other.c
        assert dataclasses.replace(o, ffn=c.ffn, layers=c.layers, tied=c.tied) == c, "only feed-forward width and depth may differ"
        assert c.ffn >= o.ffn and c.layers >= o.layers and o.tied >= c.tied, "the other model must not be larger than this one"
        self.embed.copy_(other.embed)
        self.norm.copy_(other.norm)
        if not self.c.tied:
            self.head.copy_(other.output)
        for new, old in zip(self.blocks, other.blocks):
            for name in ("input_norm", "post_norm", "qkv", "o"):
                getattr(new, name).copy_(getattr(old, name))
            for mine, theirs in zip(new.gate_up.chunk(2), old.gate_up.chunk(2)):
                mine[:other.c.ffn] = theirs
            new.down.zero_()
            new.down[:, :other.c.ffn] = old.down
        for new in self.blocks[other.c.layers:]:
            new.o.zero_()
            new.down.zero_()

    @staticmethod
    def starts(ids):
        """Returns where each position's document begins, [batch, time] int32. A position attends to
        nothing before its document."""
        at = torch.arange(ids.shape[1], device=ids.device).expand_as(ids)
        return torch.where(ids == 0, at, torch.zeros_like(at)).cummax(1).values.int().contiguous()

    def attention(self, ids, isolate):
        """Returns the attention function of queries, keys and values [batch, heads, time, head size] for the device."""
        c, (b, t) = self.c, ids.shape
        lo = self.starts(ids) if isolate else torch.zeros_like(ids, dtype=torch.int)
        compiling = flex_attention and torch.compiler.is_compiling()
        if compiling and torch.is_grad_enabled():  # a single kernel that skips positions that are not attended to
            blocks = create_block_mask(lambda row, head, i, j: (j <= i) & (j >= lo[row, i]), b, None, t, t, device=ids.device)
            return lambda q, key, v: flex_attention(q, key, v, block_mask=blocks, enable_gqa=True)
        at = torch.arange(t, device=ids.device)
        seen = (at[None, None, :] <= at[None, :, None]) & (at[None, None, :] >= lo[:, :, None])
        rep = c.heads // c.kv_heads
        if compiling:  # for a teacher: PyTorch 2.11 could not compile the kernel above without gradients
            return lambda q, key, v: F.scaled_dot_product_attention(
                q, key.repeat_interleave(rep, 1), v.repeat_interleave(rep, 1), attn_mask=seen[:, None])
        mask = torch.zeros(b, 1, t, t, device=ids.device).masked_fill(~seen[:, None], -1e9)

        def attend(q, key, v):
            key, v = key.repeat_interleave(rep, 1), v.repeat_interleave(rep, 1)
            return torch.softmax(q @ key.transpose(-2, -1) / math.sqrt(c.head_dim) + mask, -1).to(v.dtype) @ v

        return attend

    def hidden(self, ids, isolate=True):
        """ids [batch, time] -> normalized last states [batch, time, dim], with plain PyTorch."""
        c, (b, t) = self.c, ids.shape
        attend = self.attention(ids, isolate)
        cos, sin = self.cos[:t], self.sin[:t]

        def rotate(x):
            p, q = x.chunk(2, -1)
            return torch.cat((p * cos - q * sin, q * cos + p * sin), -1)

        def norm(x, w):
            x = x.float()
            return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + c.eps) * w

        x = F.embedding(ids, self.embed)
        for k in self.blocks:
            q, key, v = F.linear(norm(x, k.input_norm), k.qkv).view(b, t, -1, c.head_dim).transpose(1, 2).split(
                [c.heads, c.kv_heads, c.kv_heads], 1)
            q, key = rotate(q).to(v.dtype), rotate(key).to(v.dtype)
            x = x + F.linear(attend(q, key, v).transpose(1, 2).reshape(b, t, -1), k.o)
            gate, up = F.linear(norm(x, k.post_norm), k.gate_up).chunk(2, -1)
            x = x + F.linear(F.silu(gate) * up, k.down)
        return norm(x, self.norm)

    def logits(self, ids, isolate=True):
        return F.linear(self.hidden(ids, isolate), self.output)

    def hidden_fused(self, ids):
        """Like hidden, but in bf16 with kernels.py."""
        c, t = self.c, ids.shape[1]
        start = self.starts(ids)
        cos, sin = self.cos[:t].contiguous(), self.sin[:t].contiguous()
        x, r = F.embedding(ids, self.embed), None
        for k in self.blocks:
            x, h = kernels.AddNorm.apply(x, r, k.input_norm, c.eps)
            h = kernels.Attention.apply(kernels.Linear.apply(h, k.qkv), start, cos, sin, c.heads, c.kv_heads, c.head_dim)
            x, h = kernels.AddNorm.apply(x, kernels.Linear.apply(h, k.o), k.post_norm, c.eps)
            r = kernels.Linear.apply(kernels.SwiGLU.apply(kernels.Linear.apply(h, k.gate_up)), k.down)
        return kernels.AddNorm.apply(x, r, self.norm, c.eps)[1]

    def loss(self, ids, labels, fused=None, teacher=None, share=0.0, hint=None):
        """Returns the mean cross-entropy in nats. With a teacher, it is mixed with the distance to the
        teacher's distribution. hint holds the teacher's logits [batch, time, vocab] if they are already known."""
        if fused is None:
            fused = kernels is not None and kernels.LIB is not None and ids.device.type == "cpu"
        if fused:
            hint = None  # returns the teacher's logits for a part of the positions
            if teacher is not None:
                with torch.no_grad():
                    th = teacher.hidden_fused(ids).view(-1, teacher.c.dim)
                    tw = teacher.output.to(torch.bfloat16).t().contiguous()
                hint = lambda part: th[part] @ tw
            h = self.hidden_fused(ids)
            return kernels.HeadLoss.apply(h.view(-1, self.c.dim), self.output, labels.reshape(-1).contiguous(), hint, share)
        z = self.logits(ids).float().view(-1, self.c.vocab)
        loss = F.cross_entropy(z, labels.reshape(-1))
        if teacher is not None and hint is None:
            with torch.no_grad():
                hint = teacher.logits(ids)
        if hint is not None:
            q = torch.softmax(hint.float().view(-1, self.c.vocab), -1)
            loss = (1 - share) * loss - share * (q * torch.log_softmax(z, -1)).sum(-1).mean()
        return loss
