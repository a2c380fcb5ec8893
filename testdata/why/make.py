#!/usr/bin/env python3
"""Writes plain PyTorch's results for 'Why this token?': contributions, parts switched off, streams carried over.

Needs Python 3, numpy and torch (written with 1.13; nothing newer is used). From
the top of the repository:

    python3 testdata/why/make.py testdata/why/why.json.gz

A test compares the Go engine with these numbers. One pass in float64 covers all
architectures. It calls hooks with the output of every part: a hook can record the
output, replace it with zeros or with its mean over the positions, or replace it
with another text's stream. It shares only the code that reads files and encodes
texts, with testdata/reference/make.py.

The output has, for each model: its ids; the contributions to a token's score
(`over` is -1) or to its lead over a second token; and, for each change, logits of
the last position: the 8 largest and 24 others, as [id, logit]. `other` is the
text that a patch comes from.
"""

import gzip
import importlib.util
import json
import math
import os
import sys

import numpy as np
import torch

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
spec = importlib.util.spec_from_file_location("reference", os.path.join(ROOT, "testdata", "reference", "make.py"))
reference = importlib.util.module_from_spec(spec)
spec.loader.exec_module(reference)

FIXTURES = ["gpt2", "gpt2-gelu", "tinyllama", "mistral-window", "qwen2", "qwen2-window", "qwen3", "gemma3", "smollm3", "olmo2"]
BUNDLED = [("The capital of France is", "The capital of Italy is"),
           ("Once upon a time there was a little girl named", "Once upon a time there was a little boy named")]


class Model:
    def __init__(self, folder):
        with open(os.path.join(folder, "config.json")) as f:
            self.c = json.load(f)
        tensors = reference.read_safetensors(os.path.join(folder, "model.safetensors"))
        self.w = {n.removeprefix("transformer."): torch.from_numpy(np.array(v)).double() for n, v in tensors.items()}
        c = self.c
        self.kind = c["model_type"]
        self.gpt2 = self.kind == "gpt2"
        self.gemma = self.kind == "gemma3_text"
        if self.gpt2:
            self.layers, self.heads, self.groups, self.width = c["n_layer"], c["n_head"], c["n_head"], c["n_embd"]
            self.size, self.eps = self.width // self.heads, c["layer_norm_epsilon"]
            self.table = self.w["wte.weight"]
        else:
            self.layers, self.heads, self.groups = c["num_hidden_layers"], c["num_attention_heads"], c["num_key_value_heads"]
            self.width, self.eps = c["hidden_size"], c["rms_norm_eps"]
            self.size = c.get("head_dim") or self.width // self.heads
            self.table = self.w["model.embed_tokens.weight"]
            if self.gemma:
                self.w = {n: 1 + v if n.endswith("norm.weight") else v for n, v in self.w.items()}
        self.unembed = self.w.get("lm_head.weight", self.table)

    # Norms: each returns the factor by which to multiply after centering, so that a
    # part can be scaled as the norm scales the whole.

    def norm(self, x, name, whole=None, bias=True):
        whole = x if whole is None else whole
        if self.gpt2:
            scale = (((whole - whole.mean(-1, keepdim=True)) ** 2).mean(-1, keepdim=True) + self.eps).rsqrt()
            y = (x - x.mean(-1, keepdim=True)) * scale * self.w[name + ".weight"]
            return y + self.w[name + ".bias"] if bias else y
        scale = (whole.pow(2).mean(-1, keepdim=True) + self.eps).rsqrt()
        return x * scale * self.w[name + ".weight"]

    def line(self, x, name):
        if self.gpt2:
            return x @ self.w[name + ".weight"] + self.w[name + ".bias"]
        return x @ self.w[name + ".weight"].T + self.w.get(name + ".bias", 0)

    def turned(self, x, l):
        c, half = self.c, self.size // 2
        if self.kind == "smollm3" and not c["no_rope_layers"][l]:
            return x
        theta = c["rope_theta"]
        if self.gemma and c["layer_types"][l] == "sliding_attention":
            theta = c["rope_local_base_freq"]
        angle = torch.arange(len(x)).double()[:, None, None] * torch.tensor([theta ** (-i / half) for i in range(half)]).double()
        a, b = x[..., :half], x[..., half:]
        return torch.cat([a * angle.cos() - b * angle.sin(), b * angle.cos() + a * angle.sin()], -1)

    def window(self, l):
        c = self.c
        if self.gemma:
            return c["sliding_window"] if c["layer_types"][l] == "sliding_attention" else None
        if self.kind == "qwen2" and not (c.get("use_sliding_window") and l >= c["max_window_layers"]):
            return None
        return c.get("sliding_window")

    def qkv(self, x, l):
        n, at = len(x), f"model.layers.{l}."
        if self.gpt2:
            h = self.line(self.norm(x, f"h.{l}.ln_1"), f"h.{l}.attn.c_attn")
            return [t.view(n, self.heads, self.size) for t in h.split(self.width, -1)]
        h = x if self.kind == "olmo2" else self.norm(x, at + "input_layernorm")
        q, k, v = (self.line(h, at + f"self_attn.{p}_proj") for p in "qkv")
        split = lambda t: t.view(n, -1, self.size)
        if self.kind == "olmo2":
            q, k = self.norm(q, at + "self_attn.q_norm"), self.norm(k, at + "self_attn.k_norm")
        q, k, v = split(q), split(k), split(v)
        if self.kind == "qwen3" or self.gemma:
            q, k = self.norm(q, at + "self_attn.q_norm"), self.norm(k, at + "self_attn.k_norm")
        return self.turned(q, l), self.turned(k, l), v

    def attend(self, q, k, v, l, hidden):
        n = len(q)
        k, v = (t.repeat_interleave(self.heads // self.groups, 1) for t in (k, v))
        i, j = torch.arange(n)[:, None], torch.arange(n)[None]
        out = j > i
        if self.window(l):
            out = out | (i - j >= self.window(l))
        for p in hidden:
            out = out | ((j == p) & (i > p))
        scalar = self.c.get("query_pre_attn_scalar") or self.size
        scores = torch.einsum("ihd,jhd->hij", q, k) / math.sqrt(scalar)
        return torch.einsum("hij,jhd->ihd", scores.masked_fill(out, -math.inf).softmax(-1), v)  # [n, heads, size]

    def feed_forward(self, x, l):
        at = f"model.layers.{l}."
        if self.gpt2:
            h = self.line(self.norm(x, f"h.{l}.ln_2"), f"h.{l}.mlp.c_fc")
            approximate = "tanh" if self.c["activation_function"] == "gelu_new" else "none"
            return self.line(torch.nn.functional.gelu(h, approximate=approximate), f"h.{l}.mlp.c_proj")
        before = {"olmo2": None, "gemma3_text": "pre_feedforward_layernorm"}.get(self.kind, "post_attention_layernorm")
        h = self.norm(x, at + before) if before else x
        gate = self.line(h, at + "mlp.gate_proj")
        gate = torch.nn.functional.gelu(gate, approximate="tanh") if self.gemma else torch.nn.functional.silu(gate)
        out = self.line(gate * self.line(h, at + "mlp.up_proj"), at + "mlp.down_proj")
        return self.norm(out, at + "post_feedforward_layernorm") if self.posts() else out

    def posts(self):
        return self.kind in ("olmo2", "gemma3_text")

    def embedding(self, ids):
        x = self.table[torch.tensor(ids)]
        if self.gemma:
            x = x * math.sqrt(self.width)
        return {"embedding": x} | ({"positions": self.w["wpe.weight"][:len(ids)]} if self.gpt2 else {})

    def run(self, ids, hook=lambda name, x: x, hidden=()):
        """The stream after each block. hook gets, and can replace, the outputs L1.H1 … [n, size], L1.bias and L1.ffn
        [n, width], and the streams L0, L1 …; parts holds what each added [n, width]."""
        parts = self.embedding(ids)
        x = hook("L0", sum(parts.values()))
        for l in range(self.layers):
            name = f"L{l + 1}"
            mixed = self.attend(*self.qkv(x, l), l, hidden)
            mixed = torch.stack([hook(f"{name}.H{h + 1}", mixed[:, h]) for h in range(self.heads)], 1)
            out = self.w[f"h.{l}.attn.c_proj.weight"].T if self.gpt2 else self.w[f"model.layers.{l}.self_attn.o_proj.weight"]
            shares = {f"{name}.H{h + 1}": mixed[:, h] @ out[:, h * self.size:(h + 1) * self.size].T for h in range(self.heads)}
            bias = self.w.get(f"h.{l}.attn.c_proj.bias", self.w.get(f"model.layers.{l}.self_attn.o_proj.bias"))
            if bias is not None:
                shares[name + ".bias"] = hook(name + ".bias", bias.expand(len(ids), -1))
            if self.posts():
                whole = sum(shares.values())
                after = f"model.layers.{l}.post_attention_layernorm"
                shares = {n: self.norm(v, after, whole) for n, v in shares.items()}
            x = x + sum(shares.values())
            parts |= shares
            parts[name + ".ffn"] = hook(name + ".ffn", self.feed_forward(x, l))
            x = hook(name, x + parts[name + ".ffn"])
        final = "ln_f" if self.gpt2 else "model.norm"
        return {"parts": parts, "x": x, "logits": self.norm(x, final) @ self.unembed.T, "final": final}

    def contributions(self, ran, token, over):
        u = self.unembed[token] - (self.unembed[over] if over >= 0 else 0)
        whole = ran["x"][-1]
        all = {n: float(self.norm(v[-1], ran["final"], whole, bias=False) @ u) for n, v in ran["parts"].items()}
        if self.gpt2:
            all["final_bias"] = float(self.w["ln_f.bias"] @ u)
        return all

    def parts_of(self, block):
        return [f"L{block}.H{h + 1}" for h in range(self.heads)] + ([f"L{block}.bias"] if self.gpt2 else []) + [f"L{block}.ffn"]


def logits_of(z, rng):
    ids = torch.topk(z, 8).indices.tolist() + [int(i) for i in rng.permutation(len(z))[:24]]
    return [[i, round(float(z[i]), 6)] for i in ids]


def describe(m, ids, other, rng):
    base = m.run(ids)
    first, second = torch.topk(base["logits"][-1], 2).indices.tolist()
    out = {"ids": ids, "other": other, "contributions": [
        {"token": first, "over": over, "z": round(float(base["logits"][-1, first] - (base["logits"][-1, over] if over >= 0 else 0)), 8),
         "parts": {n: round(v, 8) for n, v in m.contributions(base, first, over).items()}} for over in (-1, second)]}
    last, changes = m.layers, []
    for off, mean, hidden in [(["L1.H2"], False, []), ([f"L{last}.ffn"], False, []), (["L1.ffn", f"L{last}.H1"], False, []),
                              (["L2.H1", "L2.ffn"], True, []), (m.parts_of(2), False, []), (m.parts_of(1), True, []),
                              ([], False, [2]), (["L1.H1"], False, [0, 3])]:
        seen = {}
        m.run(ids, lambda n, x: seen.setdefault(n, x))
        put = lambda n, x: x if n not in off else seen[n].mean(0, keepdim=True).expand(x.shape) if mean else torch.zeros_like(x)
        ran = m.run(ids, put, hidden)
        changes.append({"off": off, "mean": mean, "positions": hidden, "logits": logits_of(ran["logits"][-1], rng),
                        "parts": {n: round(v, 8) for n, v in m.contributions(ran, first, -1).items()}})
    out["changes"], out["patches"] = changes, []
    streams = {}
    m.run(other, lambda n, x: streams.setdefault(n, x))
    for height, position in [(0, len(ids) - 3), (1, len(ids) - 2), (last - 1, len(ids) - 1), (1, 0)]:
        def put(n, x):
            return torch.cat([x[:position], streams[n][position:position + 1], x[position + 1:]]) if n == f"L{height}" else x
        out["patches"].append({"height": height, "position": position, "logits": logits_of(m.run(ids, put)["logits"][-1], rng)})
    return out


def main(path):
    torch.set_grad_enabled(False)
    torch.set_num_threads(1)
    rng, results = np.random.RandomState(23), {}
    folder = os.path.join(ROOT, "infer", "bundled", "target")
    tokenizer = reference.Tokenizer(os.path.join(folder, "tokenizer.json"))
    target = Model(folder)
    for i, pair in enumerate(BUNDLED):
        ids, other = ([target.c["bos_token_id"]] + tokenizer.encode(text) for text in pair)
        results[f"bundled-{i + 1}"] = describe(target, ids, other, rng)
    for name in FIXTURES:
        m = Model(os.path.join(ROOT, "testdata", "models", name))
        vocab = len(m.table)
        ids, other = ([int(i) for i in rng.randint(0, vocab, 22)] for _ in range(2))
        results[name] = describe(m, ids, other, rng)
    data = json.dumps(results, separators=(",", ":")).encode()
    with open(path, "wb") as f:
        f.write(gzip.compress(data, 9, mtime=0))
    print(f"{path}: {len(results)} texts, {os.path.getsize(path)} bytes")


main(sys.argv[1])
