"""Loads an exported model folder and runs it. It computes the logits of whole texts, and
generates texts in batches with a key/value cache and the same arithmetic as the program's
engine (temperature, then top-k and top-p on that distribution, one renormalization, one
draw from a SplitMix64 stream), so a seed gives the same text in both.
"""

import json
import math
import pathlib
import struct

import numpy as np
import torch
import torch.nn.functional as F

from bpe import Tokenizer
from model import Config, Model


def read_safetensors(path):
    data = path.read_bytes()
    n, = struct.unpack("<Q", data[:8])
    header = json.loads(data[8:8 + n])
    out = {}
    for name, h in header.items():
        if name == "__metadata__":
            continue
        a, b = h["data_offsets"]
        raw = data[8 + n + a:8 + n + b]
        if h["dtype"] == "BF16":
            t = torch.from_numpy(np.frombuffer(raw, dtype=np.int16).copy()).view(torch.bfloat16).float()
        else:
            t = torch.from_numpy(np.frombuffer(raw, dtype=np.float32).copy())
        out[name] = t.view(h["shape"])
    return out


class Pretrained:
    """An exported folder, with the attributes .model, .tok and .c."""

    def __init__(self, folder, device="cpu"):
        folder = pathlib.Path(folder)
        j = json.loads((folder / "config.json").read_text())
        self.c = Config(j["hidden_size"], j["num_hidden_layers"], j["num_attention_heads"], j["num_key_value_heads"], j["head_dim"],
                        j["intermediate_size"], j["vocab_size"], j["max_position_embeddings"], j["rope_theta"], j["rms_norm_eps"],
                        j["tie_word_embeddings"])
        t = read_safetensors(folder / "model.safetensors")
        state = {"embed": t["model.embed_tokens.weight"], "norm": t["model.norm.weight"]}
        if not self.c.tied:
            state["head"] = t["lm_head.weight"]
        for i in range(self.c.layers):
            g = lambda name: t[f"model.layers.{i}.{name}.weight"]
            state.update({f"blocks.{i}.input_norm": g("input_layernorm"), f"blocks.{i}.post_norm": g("post_attention_layernorm"),
                          f"blocks.{i}.qkv": torch.cat([g(f"self_attn.{x}_proj") for x in "qkv"]), f"blocks.{i}.o": g("self_attn.o_proj"),
                          f"blocks.{i}.gate_up": torch.cat([g("mlp.gate_proj"), g("mlp.up_proj")]), f"blocks.{i}.down": g("mlp.down_proj")})
        self.model = Model(self.c)
        self.model.load_state_dict(state)
        self.model.eval().to(device)
        self.device = device
        self.tok = Tokenizer(folder / "tokenizer.json")
        self.parameters = sum(p.numel() for p in self.model.parameters())

    @torch.no_grad()
    def logits(self, ids):
        """ids [n] -> [n, vocab] float32; every position attends to all before it."""
        return self.model.logits(torch.tensor([ids], device=self.device), isolate=False)[0].cpu()

    @torch.no_grad()
    def step(self, ids, t, cache):
        """Runs one position of a batch: ids [batch] at position t -> logits [batch, vocab]. It extends cache."""
        c, m, b = self.c, self.model, len(ids)
        cos, sin = m.cos[t], m.sin[t]

        def rotate(x):
            p, q = x.chunk(2, -1)
            return torch.cat((p * cos - q * sin, q * cos + p * sin), -1)

        def norm(x, w):
            return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + c.eps) * w

        x = m.embed[ids]
        for k, store in zip(m.blocks, cache):
            q, key, v = F.linear(norm(x, k.input_norm), k.qkv).view(b, -1, c.head_dim).split([c.heads, c.kv_heads, c.kv_heads], 1)
            store[0][:, :, t], store[1][:, :, t] = rotate(key), v
            q = rotate(q).view(b, c.kv_heads, -1, c.head_dim)
            a = torch.softmax(q @ store[0][:, :, :t + 1].transpose(2, 3) / math.sqrt(c.head_dim), -1)
            x = x + F.linear((a @ store[1][:, :, :t + 1]).reshape(b, -1), k.o)
            gate, up = F.linear(norm(x, k.post_norm), k.gate_up).chunk(2, -1)
            x = x + F.linear(F.silu(gate) * up, k.down)
        return F.linear(norm(x, m.norm), m.output)

    def generate(self, prompts, limit, temperature=0.7, top_k=0, top_p=1.0, seeds=None):
        """Returns (generated ids, whether the text ended) for each prompt. The ids omit the end-of-text token.

        Each row reads its prompt one position at a time and then its own tokens, so
        prompts of different lengths share a batch without padding.
        """
        ids = [[0, *self.tok.encode(p)] for p in prompts]
        limit_at = [min(len(i) + limit, self.c.context) for i in ids]
        seeds = seeds or list(range(1, len(ids) + 1))
        last = max(limit_at)
        cache = [[torch.zeros(len(ids), self.c.kv_heads, last, self.c.head_dim, device=self.device) for _ in "kv"] for _ in range(self.c.layers)]
        out, ended = [list(i) for i in ids], [False] * len(ids)
        rows = list(range(len(ids)))  # the prompts in the batch; finished ones are removed
        for t in range(last):
            z = self.step(torch.tensor([out[i][t] for i in rows], device=self.device), t, cache).double().cpu().numpy()
            stay = []
            for r, i in enumerate(rows):
                if t + 1 >= len(ids[i]):
                    new = choose(z[r], temperature, top_k, top_p, uniform(seeds[i], t + 2 - len(ids[i])))
                    ended[i] = new == 0
                    if not ended[i]:
                        out[i].append(new)
                    if ended[i] or len(out[i]) >= limit_at[i]:
                        continue
                stay.append(r)
            if not stay:
                break
            if len(stay) < len(rows):
                rows = [rows[r] for r in stay]
                cache = [[store[stay] for store in pair] for pair in cache]
        return [(o[len(i):], e) for o, i, e in zip(out, ids, ended)]

    def texts(self, *args, **settings):
        return [(self.tok.decode(ids), end) for ids, end in self.generate(*args, **settings)]


def uniform(seed, step):
    """Returns the step-th output of SplitMix64 with the given seed, as a number in [0, 1)."""
    mask = (1 << 64) - 1
    x = (seed + step * 0x9E3779B97F4A7C15) & mask
    x = ((x ^ x >> 30) * 0xBF58476D1CE4E5B9) & mask
    x = ((x ^ x >> 27) * 0x94D049BB133111EB) & mask
    return ((x ^ x >> 31) >> 11) / (1 << 53)


def choose(z, temperature, top_k, top_p, u):
    """Returns one token id drawn from logits z [vocab], float64."""
    if temperature == 0:
        return int(z.argmax())
    p = np.exp((z - z.max()) / temperature)
    p /= p.sum()
    order = np.argsort(-p, kind="stable")
    n = len(order)
    if top_p < 1:
        n = min(n, int(np.searchsorted(np.cumsum(p[order]), top_p)) + 1)
    if top_k:
        n = min(n, top_k)
    cum = np.cumsum(p[order[:n]])
    return int(order[min(n - 1, int(np.searchsorted(cum, u * cum[-1], side="right")))])
