"""Compiles kernels.c with the system's C compiler and wraps it for autograd.

Every Function here takes and returns CPU tensors: activations in bfloat16, and the
residual stream in float32. model.py uses them if they are available, and plain PyTorch
otherwise (on a GPU, or without a compiler). `python3 kernels.py` compares the values
and gradients of both.
"""

import ctypes
import hashlib
import math
import os
import pathlib
import subprocess
import tempfile

import torch
from torch.autograd import Function

SOURCE = pathlib.Path(__file__).with_name("kernels.c")
FLAGS = ["-O3", "-march=native", "-ffast-math", "-fopenmp", "-shared", "-fPIC"]


def load():
    """Returns the compiled library, or None if there is no compiler."""
    key = hashlib.sha256(SOURCE.read_bytes() + " ".join(FLAGS).encode()).hexdigest()[:16]
    path = pathlib.Path(tempfile.gettempdir()) / f"viz-train-{key}.so"
    if not path.exists():
        part = f"{path}.{os.getpid()}"
        try:
            subprocess.run([os.environ.get("CC", "cc"), *FLAGS, str(SOURCE), "-o", part, "-lm"], check=True)
        except (OSError, subprocess.CalledProcessError):
            return None
        os.replace(part, path)
    return ctypes.CDLL(str(path))


LIB = load()
BF16, F32 = torch.bfloat16, torch.float32


def call(name, *args):
    """Calls a C function. Tensors are passed by address, None as a null pointer, int as long, and float as float."""
    def convert(a):
        if isinstance(a, torch.Tensor):
            assert a.is_contiguous()
            return ctypes.c_void_p(a.data_ptr())
        return ctypes.c_void_p(None) if a is None else ctypes.c_float(a) if isinstance(a, float) else ctypes.c_long(a)
    getattr(LIB, name)(*map(convert, args))


def t_mm(a, b):
    """Returns a^T b for tall bf16 matrices [rows, m] and [rows, n], which is a weight's gradient, as float32 [m, n]."""
    return (a.t() @ b).float()


class AddNorm(Function):
    """(x [.., d] float32, r [.., d] bf16 or None, weight [d]) -> x + r, and its RMS norm in bf16."""

    @staticmethod
    def forward(ctx, x, r, weight, eps):
        d = x.shape[-1]
        rows = x.numel() // d
        total = torch.empty_like(x) if r is not None else x
        y, rstd = torch.empty(x.shape, dtype=BF16), torch.empty(rows)
        call("add_norm", x, r, weight, total, y, rstd, rows, d, float(eps))
        ctx.save_for_backward(total, weight, rstd)
        ctx.has_r = r is not None
        return (total if ctx.has_r else x.view_as(x)), y

    @staticmethod
    def backward(ctx, dsum, dy):
        total, weight, rstd = ctx.saved_tensors
        d = total.shape[-1]
        rows, threads = total.numel() // d, torch.get_num_threads()
        dx, dw = torch.empty_like(total), torch.zeros(threads, d)
        dr = torch.empty(total.shape, dtype=BF16) if ctx.has_r else None
        call("add_norm_back", dsum.contiguous() if dsum is not None else None, dy.contiguous(), total, weight, rstd,
             dx, dr, dw, rows, d, threads)
        return dx, dr, dw.sum(0), None


class Linear(Function):
    """bf16 activations times a float32 weight [out, in], multiplied in bf16."""

    @staticmethod
    def forward(ctx, x, weight):
        w = weight.to(BF16)
        ctx.save_for_backward(x, w)
        return x @ w.t()

    @staticmethod
    def backward(ctx, dy):
        x, w = ctx.saved_tensors
        dy = dy.contiguous()
        return dy @ w, t_mm(dy.view(-1, dy.shape[-1]), x.view(-1, x.shape[-1]))


class SwiGLU(Function):
    """[.., 2f] (gate, up) -> [.., f]."""

    @staticmethod
    def forward(ctx, gu):
        f = gu.shape[-1] // 2
        h = torch.empty(*gu.shape[:-1], f, dtype=BF16)
        call("swiglu", gu, h, h.numel() // f, f)
        ctx.save_for_backward(gu)
        return h

    @staticmethod
    def backward(ctx, dh):
        gu, = ctx.saved_tensors
        f = gu.shape[-1] // 2
        out = torch.empty_like(gu)
        call("swiglu_back", dh.contiguous(), gu, out, gu.numel() // (2 * f), f)
        return out


class Attention(Function):
    """qkv [batch, time, (h+2g)s] -> [batch, time, h*s]; position t sees start[t]..t.

    The h/g query heads that share a key/value head are stacked as rows of one product,
    so keys and values are never repeated in memory.
    """

    @staticmethod
    def forward(ctx, qkv, start, cos, sin, h, g, s):
        b, t, _ = qkv.shape
        q, k, v = torch.empty(b, h, t, s, dtype=BF16), torch.empty(b, g, t, s, dtype=BF16), torch.empty(b, g, t, s, dtype=BF16)
        call("rotary", qkv, q, k, v, cos, sin, b, t, h, g, s, 1 / math.sqrt(s), 0)
        q, k, v = q.view(b * g, -1, s), k.view(b * g, t, s), v.view(b * g, t, s)
        p = torch.bmm(q, k.transpose(1, 2))
        call("causal_softmax", p, start, b, h, t)
        o = torch.bmm(p, v).view(b, h, t, s)
        ctx.save_for_backward(q, k, v, p, start, cos, sin)
        ctx.shape = b, t, h, g, s
        return o.transpose(1, 2).reshape(b, t, h * s)

    @staticmethod
    def backward(ctx, do):
        q, k, v, p, start, cos, sin = ctx.saved_tensors
        b, t, h, g, s = ctx.shape
        do = do.view(b, t, h, s).transpose(1, 2).contiguous().view(b * g, -1, s)
        dv = torch.bmm(p.transpose(1, 2), do)
        dp = torch.bmm(do, v.transpose(1, 2))
        call("causal_softmax_back", p, dp, start, b, h, t)
        dq, dk = torch.bmm(dp, k), torch.bmm(dp.transpose(1, 2), q)
        out = torch.empty(b, t, (h + 2 * g) * s, dtype=BF16)
        call("rotary", out, dq.contiguous(), dk.contiguous(), dv.contiguous(), cos, sin, b, t, h, g, s, 1 / math.sqrt(s), 1)
        return out, None, None, None, None, None, None


class HeadLoss(Function):
    """Mean cross-entropy of h [n, d] bf16 against labels [n] through the output matrix [v, d].

    The loss and its gradient are computed together, in chunks, so that the logits stay in the
    processor's cache. teacher, if given, is called with a slice and returns the teacher's
    logits for it; share is the weight of the teacher's distribution.
    """

    CHUNK = 512

    @staticmethod
    def forward(ctx, h, embed, label, teacher=None, share=0.0):
        n, v = h.shape[0], embed.shape[0]
        w = embed.to(BF16)
        wt = w.t().contiguous()
        dh, dw, loss = torch.empty_like(h), torch.zeros_like(embed), torch.empty(n)
        for a in range(0, n, HeadLoss.CHUNK):
            part = slice(a, min(n, a + HeadLoss.CHUNK))
            z = h[part] @ wt
            tz = teacher(part) if teacher else None
            call("cross_entropy", z, tz, label[part], loss[part], z.shape[0], v, 1.0 / n, float(share))
            dh[part] = z @ w
            dw += t_mm(z, h[part])
        ctx.save_for_backward(dh, dw)
        return loss.mean()

    @staticmethod
    def backward(ctx, up):
        dh, dw = ctx.saved_tensors
        return dh * up.to(BF16), dw * up, None, None, None


def check():
    """Compares the fused model's values and gradients with plain PyTorch in float32."""
    from model import Config, Model
    torch.manual_seed(0)
    model = Model(Config(dim=64, layers=2, heads=4, kv_heads=2, head_dim=16, ffn=96, vocab=300, tied=False))
    ids = torch.randint(1, 300, (3, 41))
    ids[0, 7] = ids[1, 20] = 0
    result = []
    for fused in False, True:
        model.zero_grad(set_to_none=True)
        loss = model.loss(ids[:, :-1], ids[:, 1:], fused=fused)
        loss.backward()
        result.append((loss.item(), {k: p.grad.clone() for k, p in model.named_parameters()}))
    print("loss", result[0][0], result[1][0])
    for k in result[0][1]:
        a, b = result[0][1][k], result[1][1][k]
        print(f"{k:40s} relative difference of gradients {((a - b).norm() / a.norm()).item():.4f}")


if __name__ == "__main__":
    check()
