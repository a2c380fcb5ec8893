"""Writes small random models in ggml's quantized formats, and the results of running them.

Run it with Python 3, from any folder. It needs no packages, only ggml's library,
which rounds the weights (testdata/ggml/ask.c describes how to get it):

    python3 testdata/models/kquants.py package/bins/linux-x64/libggml-base.so

The files have the same metadata names and types as published models from
llama.cpp's converter and quantizer. llama-q4_k_m.gguf and
llama-q4_k_m-narrow.gguf have llama.cpp's choice of formats for "Q4_K_M". The
second one has rows whose length is not a multiple of 256, like SmolLM-135M's, so
its formats fall back to Q5_0 and Q8_0. llama-mixed.gguf has the remaining formats.

kquants.json.gz holds the same data for each file as make.py's logits.json.gz:
token ids, at every position the largest logit's token and the logits'
log-sum-exp, and all logits of the last position. The forward pass computes in
float64 with the numbers that ggml dequantizes; the two rows of a rotary pair are
adjacent.
"""

import ctypes
import gzip
import json
import math
import os
import random
import struct
import sys
from array import array

HERE = os.path.dirname(os.path.abspath(__file__))
rng = random.Random(20256)

# ggml's number of the type, and the values and bytes of a block
TYPES = {"F32": (0, 1, 4), "Q4_0": (2, 32, 18), "Q4_1": (3, 32, 20), "Q5_0": (6, 32, 22), "Q5_1": (7, 32, 24), "Q8_0": (8, 32, 34),
         "Q4_K": (12, 256, 144), "Q5_K": (13, 256, 176), "Q6_K": (14, 256, 210), "IQ4_NL": (20, 32, 18)}


def quantized(ggml, rows, columns, kind):
    """Random weights [rows][columns]: the bytes that ggml rounds them to, and
    the numbers that these bytes represent."""
    scale = 1 if columns == 1 else 1.5 / math.sqrt(columns)
    values = array("f", (1 + rng.gauss(0, 0.1) if rows == 1 else rng.gauss(0, scale) for _ in range(rows * columns)))
    number, block, size = TYPES[kind]
    if kind == "F32":
        data, wide = values.tobytes(), values
    else:
        assert columns % block == 0, (kind, columns)
        source = (ctypes.c_float * len(values)).from_buffer(values)
        to = ctypes.create_string_buffer(len(values) // block * size)
        ggml.ggml_quantize_chunk(number, source, to, ctypes.c_int64(0), ctypes.c_int64(rows), ctypes.c_int64(columns), None)
        wide = array("f", bytes(4 * len(values)))
        widen = getattr(ggml, "dequantize_row_" + kind.lower().replace("_k", "_K"))
        widen(to, (ctypes.c_float * len(wide)).from_buffer(wide), ctypes.c_int64(len(wide)))
        data = to.raw
    return data, [wide[r * columns:(r + 1) * columns].tolist() for r in range(rows)]


# ------------------------------------------------------------------------ GGUF


def text(s):
    return struct.pack("<Q", len(s.encode())) + s.encode()


def value(v):
    if isinstance(v, bool):
        return struct.pack("<IB", 7, v)
    if isinstance(v, int):
        return struct.pack("<II", 4, v)
    if isinstance(v, float):
        return struct.pack("<If", 6, v)
    if isinstance(v, str):
        return struct.pack("<I", 8) + text(v)
    if isinstance(v[0], str):
        return struct.pack("<IIQ", 9, 8, len(v)) + b"".join(text(s) for s in v)
    if isinstance(v[0], float):
        return struct.pack(f"<IIQ{len(v)}f", 9, 6, len(v), *v)
    return struct.pack(f"<IIQ{len(v)}i", 9, 5, len(v), *v)


def write(name, pairs, tensors):
    """tensors: name to (format, [columns, rows] or [values], bytes)."""
    head = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(pairs))
    blob = b""
    for key, v in pairs.items():
        head += text(key) + value(v)
    for tensor, (kind, dims, data) in tensors.items():
        head += text(tensor) + struct.pack(f"<I{len(dims)}QIQ", len(dims), *dims, TYPES[kind][0], len(blob))
        blob += data + b"\0" * (-len(data) % 32)
    with open(os.path.join(HERE, name), "wb") as f:
        f.write(head + b"\0" * (-len(head) % 32) + blob)


WORDS = ["▁", "e", "t", "a", "o", "n", "i", "s", "h", "r", "d", "l", "u", "m", "w", "c", "g", "y", "f", "p", ".", "▁t", "he", "▁the", "▁a", "in",
         "er", "▁w", "re", "on", "an", "▁s", "at", "▁c", "nd", "▁and", "ou", "▁cat", "en", "it", "▁of"]
TOKENS = ["<unk>", "<s>", "</s>"] + [f"<0x{b:02X}>" for b in range(256)] + WORDS


def pairs(c, kind):
    return {
        "general.architecture": "llama", "general.type": "model", "general.name": "Random 400K Instruct", "general.finetune": "Instruct",
        "general.basename": "Random", "general.size_label": "400K", "general.license": "mit",
        "general.tags": ["text-generation"], "general.languages": ["en"],
        "llama.block_count": c["layers"], "llama.context_length": 128, "llama.embedding_length": c["width"],
        "llama.feed_forward_length": c["ffn"], "llama.attention.head_count": c["heads"], "llama.attention.head_count_kv": c["kv"],
        "llama.rope.freq_base": 10000.0, "llama.attention.layer_norm_rms_epsilon": 1e-5, "llama.vocab_size": len(TOKENS),
        "llama.rope.dimension_count": c["width"] // c["heads"],
        "tokenizer.ggml.model": "llama", "tokenizer.ggml.pre": "default", "tokenizer.ggml.tokens": TOKENS,
        "tokenizer.ggml.scores": [-1000.0] * 3 + [0.0] * 256 + [-float(i) for i in range(len(WORDS))],
        "tokenizer.ggml.token_type": [2, 3, 3] + [6] * 256 + [1] * len(WORDS),
        "tokenizer.ggml.bos_token_id": 1, "tokenizer.ggml.eos_token_id": 2, "tokenizer.ggml.unknown_token_id": 0,
        "tokenizer.ggml.padding_token_id": 2, "tokenizer.ggml.add_bos_token": True, "tokenizer.ggml.add_eos_token": False,
        "tokenizer.chat_template": "{% for message in messages %}{{ '<s>' + message['role'] + '\\n' + message['content'] + '</s>' + '\\n' }}{% endfor %}",
        "general.quantization_version": 2, "general.file_type": kind,
        "quantize.imatrix.file": "/models/random.imatrix", "quantize.imatrix.dataset": "/data/calibration.txt",
        "quantize.imatrix.entries_count": 7 * c["layers"], "quantize.imatrix.chunks_count": 64,
    }


# ---------------------------------------------------------------- forward pass


def dot(a, b):
    return math.fsum(x * y for x, y in zip(a, b))


def times(matrix, x):
    return [dot(row, x) for row in matrix]


def norm(x, g):
    scale = 1 / math.sqrt(dot(x, x) / len(x) + 1e-5)
    return [v * scale * w for v, w in zip(x, g[0])]


def rotate(x, size, position):
    out = list(x)
    for at in range(0, len(x), 2):
        angle = position * 10000.0 ** (-(at % size) / size)
        c, s = math.cos(angle), math.sin(angle)
        out[at], out[at + 1] = x[at] * c - x[at + 1] * s, x[at] * s + x[at + 1] * c
    return out


def logits(w, ids, c):
    size = c["width"] // c["heads"]
    keys, values = [[] for _ in range(c["layers"])], [[] for _ in range(c["layers"])]
    for position, token in enumerate(ids):
        x = w["token_embd"][token]
        for l in range(c["layers"]):
            b = lambda part: w[f"blk.{l}.{part}"]
            h = norm(x, b("attn_norm"))
            q = rotate(times(b("attn_q"), h), size, position)
            keys[l].append(rotate(times(b("attn_k"), h), size, position))
            values[l].append(times(b("attn_v"), h))
            mixed = []
            for head in range(c["heads"]):
                at = head // (c["heads"] // c["kv"]) * size
                scores = [dot(q[head * size:(head + 1) * size], k[at:at + size]) / math.sqrt(size) for k in keys[l]]
                most = max(scores)
                weights = [math.exp(s - most) for s in scores]
                total = math.fsum(weights)
                mixed += [math.fsum(p * v[at + i] for p, v in zip(weights, values[l])) / total for i in range(size)]
            x = [a + d for a, d in zip(x, times(b("attn_output"), mixed))]
            h = norm(x, b("ffn_norm"))
            gate, up = times(b("ffn_gate"), h), times(b("ffn_up"), h)
            x = [a + d for a, d in zip(x, times(b("ffn_down"), [g / (1 + math.exp(-g)) * u for g, u in zip(gate, up)]))]
        yield times(w["token_embd"], norm(x, w["output_norm"]))


def model(ggml, name, c, kind, formats):
    d, f, kv = c["width"], c["ffn"], c["width"] // c["heads"] * c["kv"]
    shapes = {"token_embd": (len(TOKENS), d)}
    for l in range(c["layers"]):
        for part, shape in {"attn_norm": (1, d), "ffn_down": (d, f), "ffn_gate": (f, d), "ffn_up": (f, d), "ffn_norm": (1, d),
                            "attn_k": (kv, d), "attn_output": (d, d), "attn_q": (d, d), "attn_v": (kv, d)}.items():
            shapes[f"blk.{l}.{part}"] = shape
    shapes["output_norm"] = (1, d)
    tensors, wide = {}, {}
    for tensor, (rows, columns) in shapes.items():
        chosen = "F32" if rows == 1 else formats[tensor.split(".")[-1]]
        data, wide[tensor] = quantized(ggml, rows, columns, chosen)
        tensors[tensor + ".weight"] = (chosen, [columns] if rows == 1 else [columns, rows], data)
    write(name, pairs(c, kind), tensors)
    ids = [1] + [rng.randrange(3, len(TOKENS)) for _ in range(11)]
    rows = list(logits(wide, ids, c))
    lse = lambda z: max(z) + math.log(math.fsum(math.exp(v - max(z)) for v in z))
    return {"ids": ids, "argmax": [z.index(max(z)) for z in rows], "logsumexp": [round(lse(z), 6) for z in rows],
            "last": [round(v, 6) for v in rows[-1]]}


def main():
    ggml = ctypes.CDLL(sys.argv[1])
    q4_k_m = {"token_embd": "Q6_K", "attn_q": "Q4_K", "attn_k": "Q4_K", "attn_v": "Q6_K", "attn_output": "Q4_K",
              "ffn_gate": "Q4_K", "ffn_up": "Q4_K", "ffn_down": "Q6_K"}
    narrow = {"token_embd": "Q8_0", "attn_q": "Q5_0", "attn_k": "Q5_0", "attn_v": "Q8_0", "attn_output": "Q5_0",
              "ffn_gate": "Q5_0", "ffn_up": "Q5_0", "ffn_down": "Q4_K"}
    mixed = {"token_embd": "Q4_0", "attn_q": "Q5_1", "attn_k": "Q4_1", "attn_v": "IQ4_NL", "attn_output": "Q4_1",
             "ffn_gate": "IQ4_NL", "ffn_up": "Q5_1", "ffn_down": "Q5_K"}
    small = {"width": 96, "ffn": 256, "heads": 3, "kv": 1, "layers": 1}
    found = {
        "llama-q4_k_m.gguf": model(ggml, "llama-q4_k_m.gguf", {"width": 256, "ffn": 256, "heads": 4, "kv": 2, "layers": 1}, 15, q4_k_m),
        "llama-q4_k_m-narrow.gguf": model(ggml, "llama-q4_k_m-narrow.gguf", small, 15, narrow),
        "llama-mixed.gguf": model(ggml, "llama-mixed.gguf", small, 9, mixed),
    }
    with open(os.path.join(HERE, "kquants.json.gz"), "wb") as f, gzip.GzipFile("", "wb", 9, f, mtime=0) as z:
        z.write(json.dumps(found, separators=(",", ":")).encode())


main()
