#!/usr/bin/env python3
"""Writes reference logits of a Llama model, computed with plain PyTorch.

Needs Python 3, numpy and torch (written with 1.13; nothing newer is used).
From the top of the repository:

    python3 testdata/reference/make.py infer/bundled/target \
        testdata/reference/target.json.gz

A test compares the Go engine with these numbers, so this file shares no code with
it: it has its own safetensors reader and byte-pair encoder, and the formulas work
on whole matrices instead of one position at a time. README.md describes the
output.
"""

import gzip
import hashlib
import json
import os
import re
import struct
import sys
import unicodedata

import numpy as np
import torch

PROMPTS = [
    ("facts", "The capital of France is"),
    ("story", "Once upon a time there was a little girl named Lucy. She lived in a small "
              "house near the woods with her"),
    ("dialogue", "User: What is the capital of Italy?\nAssistant: The capital of Italy is Rome.\n"
                 "User: What is the capital of Japan?\nAssistant:"),
    ("digits", "3 + 4 = 7\n12 + 30 = 42\n2026 - 1969 = 57\n100 x 25 ="),
    ("non-ascii", "Zoë’s café in São Paulo — «très joli» — served 東京 ramen for 9½ €\t\t and  tea 🙂 ²³ to"),
    ("long", "The old miller had three sons, and when he grew too weak to lift a sack of flour he "
             "called them to his chair by the fire. \"The mill is small,\" he said, \"and it cannot "
             "feed three families. Go out into the world for one year and a day, and whoever brings "
             "home the most useful thing shall have the wheel, the stones and the stream.\"\n\n"
             "The eldest went to the sea and learned to build boats. The second went to the city and "
             "learned to count money. But the youngest, whose name was Peter, walked only as far as "
             "the next valley, for there he met a woman whose donkey had fallen into a ditch. He "
             "didn't hurry on. He pulled the donkey out, mended the cart, and carried the woman's "
             "apples to market; and she'd have paid him, but he asked her instead to tell him "
             "everything she knew about the weather.\n\n"
             "When the year and the day had passed, the three brothers came home. \"What have you "
             "brought?\" asked the father. The eldest said"),
]
SAMPLED, TOP = 64, 8  # logits kept at every position: at fixed ids, and the largest


# --- the files -------------------------------------------------------------

def read_safetensors(path):
    """Returns {name: float32 array}; BF16 is the upper half of a float32."""
    with open(path, "rb") as f:
        data = f.read()
    (length,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8:8 + length])
    header.pop("__metadata__", None)
    tensors = {}
    for name, t in header.items():
        begin, end = t["data_offsets"]
        raw = data[8 + length + begin:8 + length + end]
        if t["dtype"] == "BF16":
            values = (np.frombuffer(raw, "<u2").astype(np.uint32) << 16).view(np.float32)
        elif t["dtype"] == "F16":
            values = np.frombuffer(raw, "<f2").astype(np.float32)
        elif t["dtype"] == "F32":
            values = np.frombuffer(raw, "<f4")
        else:
            sys.exit(f"{name}: dtype {t['dtype']} is not read")
        tensors[name] = values.reshape(t["shape"])
    return tensors


class Tokenizer:
    """Byte-level BPE with GPT-2's split pattern; text is always plain text."""

    def __init__(self, path):
        with open(path, encoding="utf-8") as f:
            model = json.load(f)["model"]
        self.vocab = model["vocab"]
        pairs = [m.split(" ") if isinstance(m, str) else m for m in model["merges"]]
        self.rank = {tuple(pair): i for i, pair in enumerate(pairs)}
        # GPT-2's alphabet: printable bytes represent themselves; the others are
        # represented by the code points from 256 on, in order.
        printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
        others = [b for b in range(256) if b not in printable]
        self.char = {b: chr(b) for b in printable} | {b: chr(256 + i) for i, b in enumerate(others)}
        self.byte = {c: b for b, c in self.char.items()}
        self.names = {i: name for name, i in self.vocab.items()}

    def split(self, text):
        """GPT-2's pattern, applied to one class letter per character: L letter,
        N number, W the space, S other white space, O anything else."""
        def kind(c):
            category = unicodedata.category(c)
            if c == " ":
                return "W"
            if c in "\t\n\v\f\r\x85" or category[0] == "Z":
                return "S"
            return category[0] if category[0] in "LN" else "O"
        kinds = "".join(map(kind, text))
        contraction = re.compile("'(?:s|t|re|ve|m|ll|d)")
        run = re.compile("W?L+|W?N+|W?O+|[WS]+(?![LNO])|[WS]+")
        at = 0
        while at < len(text):
            match = contraction.match(text, at) or run.match(kinds, at)
            yield text[at:match.end()]
            at = match.end()

    def encode(self, text):
        ids = []
        for piece in self.split(text):
            parts = [self.char[b] for b in piece.encode("utf-8")]
            while len(parts) > 1:
                ranks = [self.rank.get(pair, len(self.rank)) for pair in zip(parts, parts[1:])]
                best = min(ranks)
                if best == len(self.rank):
                    break
                i = ranks.index(best)
                parts[i:i + 2] = [parts[i] + parts[i + 1]]
            ids += [self.vocab[p] for p in parts]
        return ids

    def show(self, token):
        return bytes(self.byte.get(c, 63) for c in self.names[token]).decode("utf-8", "replace")


# --- the model -------------------------------------------------------------

def forward(config, tensors, ids, dtype):
    """Returns the logits [positions, vocab] after each of the ids."""
    weight = lambda name: torch.from_numpy(np.array(tensors[name])).to(dtype)
    width, heads = config["hidden_size"], config["num_attention_heads"]
    kv_heads = config.get("num_key_value_heads") or heads
    size = config.get("head_dim") or width // heads
    eps = config.get("rms_norm_eps", 1e-6)
    n = len(ids)

    def rms_norm(x, name):
        return x / torch.sqrt((x * x).mean(dim=-1, keepdim=True) + eps) * weight(name)

    # Rotary embedding: in each head, value i rotates with value i + size/2, by
    # position × theta^(-2i/size). The angles are exact before they are rounded.
    theta = (config.get("rope_parameters") or {}).get("rope_theta") or config.get("rope_theta", 10000.0)
    frequency = theta ** (-torch.arange(0, size, 2, dtype=torch.float64) / size)
    angle = torch.outer(torch.arange(n, dtype=torch.float64), frequency)  # [n, size/2]
    cos, sin = torch.cos(angle).to(dtype), torch.sin(angle).to(dtype)

    def rotate(x):  # [heads, n, size]
        a, b = x[..., :size // 2], x[..., size // 2:]
        return torch.cat([a * cos - b * sin, b * cos + a * sin], dim=-1)

    def split_heads(x, count):  # [n, count*size] -> [count, n, size]
        return x.view(n, count, size).transpose(0, 1)

    future = torch.triu(torch.ones(n, n, dtype=torch.bool), diagonal=1)
    embedding = weight("model.embed_tokens.weight")
    x = embedding[torch.tensor(ids)]  # [n, width]
    for layer in range(config["num_hidden_layers"]):
        at = f"model.layers.{layer}."
        h = rms_norm(x, at + "input_layernorm.weight")
        q = rotate(split_heads(h @ weight(at + "self_attn.q_proj.weight").T, heads))
        k = rotate(split_heads(h @ weight(at + "self_attn.k_proj.weight").T, kv_heads))
        v = split_heads(h @ weight(at + "self_attn.v_proj.weight").T, kv_heads)
        # Query heads share key and value heads in consecutive groups.
        k = k.repeat_interleave(heads // kv_heads, dim=0)
        v = v.repeat_interleave(heads // kv_heads, dim=0)
        scores = (q @ k.transpose(1, 2) / size ** 0.5).masked_fill(future, float("-inf"))
        mixed = torch.softmax(scores, dim=-1) @ v  # [heads, n, size]
        mixed = mixed.transpose(0, 1).reshape(n, heads * size)
        x = x + mixed @ weight(at + "self_attn.o_proj.weight").T

        h = rms_norm(x, at + "post_attention_layernorm.weight")
        gate = h @ weight(at + "mlp.gate_proj.weight").T
        up = h @ weight(at + "mlp.up_proj.weight").T
        x = x + (gate * torch.sigmoid(gate) * up) @ weight(at + "mlp.down_proj.weight").T

    tied = config.get("tie_word_embeddings", False)
    output = embedding if tied else weight("lm_head.weight")
    return rms_norm(x, "model.norm.weight") @ output.T


# --- the fixture -----------------------------------------------------------

def shortest(values):
    """float32 values as the shortest decimals that read back to the same bits."""
    return [float(str(np.float32(v))) for v in values]


def describe(name, text, ids, logits, sample_ids):
    top = torch.topk(logits, TOP, dim=-1)  # both [n, TOP]
    return {
        "name": name,
        "text": text,
        "ids": ids,
        "argmax": logits.argmax(dim=-1).tolist(),
        "logsumexp": shortest(torch.logsumexp(logits, dim=-1).numpy()),
        "sampled": [shortest(row) for row in logits[:, sample_ids].numpy()],
        "top_ids": top.indices.tolist(),
        "top_logits": [shortest(row) for row in top.values.numpy()],
        "last_logits": shortest(logits[-1].numpy()),
    }


def model_hash(folder):
    """The hash that identifies a model in links: the hash of the output of sha256sum."""
    lines = hashlib.sha256()
    for name in ("config.json", "model.safetensors", "tokenizer.json"):
        with open(os.path.join(folder, name), "rb") as f:
            lines.update(f"{hashlib.sha256(f.read()).hexdigest()}  {name}\n".encode())
    return lines.hexdigest()


def main(folder, out):
    torch.set_num_threads(1)  # so that the order of summation is always the same
    with open(os.path.join(folder, "config.json")) as f:
        config = json.load(f)
    tensors = read_safetensors(os.path.join(folder, "model.safetensors"))
    tokenizer = Tokenizer(os.path.join(folder, "tokenizer.json"))

    vocab = config["vocab_size"]
    sample_ids = sorted(np.random.RandomState(20).permutation(vocab)[:SAMPLED].tolist())
    prompts, worst = [], 0.0
    for name, text in PROMPTS:
        ids = [config["bos_token_id"]] + tokenizer.encode(text)
        logits = forward(config, tensors, ids, torch.float32)
        exact = forward(config, tensors, ids, torch.float64)
        worst = max(worst, (logits - exact).abs().max().item())
        two = torch.topk(logits, 2, dim=-1).values
        prompts.append(describe(name, text, ids, logits, sample_ids))
        best = prompts[-1]["argmax"][-1]
        probability = torch.softmax(logits[-1], dim=-1)[best].item()
        print(f"{name:9} {len(ids):3} positions  …{text[-24:]!r} -> {tokenizer.show(best)!r} "
              f"{probability:.3f}  (closest top two: {(two[:, 0] - two[:, 1]).min():.4f})")
    print(f"float32 against float64: logits differ by at most {worst:.2g}")

    fixture = {
        "model_hash": model_hash(folder),
        "vocab": vocab,
        "float64_difference": float(f"{worst:.2g}"),
        "sample_ids": sample_ids,
        "prompts": prompts,
    }
    text = json.dumps(fixture, ensure_ascii=False, separators=(",", ":"))
    with open(out, "wb") as f:  # no time and no name in the gzip header
        f.write(gzip.compress(text.encode("utf-8"), 9, mtime=0))
    print(f"{out}: {os.path.getsize(out)} bytes")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: make.py MODEL_FOLDER OUTPUT.json.gz")
    torch.set_grad_enabled(False)
    main(sys.argv[1], sys.argv[2])
