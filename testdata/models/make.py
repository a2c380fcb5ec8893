"""Writes the small random models of this folder, and the results of running them in PyTorch.

Run it with Python 3, numpy and PyTorch 1.13 or later, from any folder:

    python3 testdata/models/make.py

Each model has a few tens of thousands of random weights, so its text is
meaningless, but every mechanism works. The code below that writes safetensors,
GGUF and llama2.c files, and the forward passes, are independent of the program:
the passes compute in float32 with exactly the numbers in a file, and rotate
queries and keys in the order in which that file stores them. logits.json.gz
holds, for each model, token ids and, at every position, the largest logit's token
and the logits' log-sum-exp; for the last position, it holds all logits. The seed
is fixed, so the same versions write the same files.
"""

import gzip
import json
import math
import os
import re
import shutil
import struct

import numpy as np
import torch

HERE = os.path.dirname(os.path.abspath(__file__))
rng = np.random.default_rng(20251)
torch.set_num_threads(1)

# ---------------------------------------------------------------- tokenizers

CORPUS = """Once upon a time there was a little girl who loved the garden. She said: "I'm happy, we'll play!"
The cat wasn't sad; it's 12:30 and they've found 1,234 apples for $9.99 in 2024. I'D GO, HE'S HERE, WE'RE OLD.
func main() {\n\tfmt.Println("hi")\n\n\treturn x == 1 || y != 2\n}\r\n\r\nfor (let i = 0; i < n; i++) { a[i] += 1; }
Größe naïve façade Ångström mañana привет мир λόγος こんにちは 日本語 你好 世界 안녕하세요 שלום مرحبا हिन्दी 😀😂👍
the the the and and was was there their then that this with his her    she   he  a  to of in on at
""" * 3

SPLITS = {
    "gpt2": None,
    "llama3": r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    "qwen2": r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    "smollm": None,
}


def alphabet():
    """GPT-2's spelling of the 256 bytes."""
    seen = [b for b in range(256) if 33 <= b <= 126 or 161 <= b <= 255 and b != 173]
    spelled, extra = {b: chr(b) for b in seen}, 0
    for b in range(256):
        if b not in spelled:
            spelled[b] = chr(256 + extra)
            extra += 1
    return spelled


def train(words, merges):
    """Byte-pair encoding by its definition, over lists of symbols."""
    rules = []
    for _ in range(merges):
        pairs = {}
        for word in words:
            for pair in zip(word, word[1:]):
                pairs[pair] = pairs.get(pair, 0) + 1
        if not pairs:
            break
        best = max(pairs, key=lambda p: (pairs[p], p))
        rules.append(best)
        for word in words:
            i = 0
            while i + 1 < len(word):
                if (word[i], word[i + 1]) == best:
                    word[i : i + 2] = [best[0] + best[1]]
                i += 1
    return rules


def byte_level(kind, specials, merges=260):
    """A tokenizer.json with the split pattern of a kind, trained on CORPUS."""
    spell = alphabet()
    rough = re.findall(r"'(?:[sdmtSDMT]|ll|ve|re)|[ \t]?[^\W\d_]+|\d{1,3}| ?[^\w\s]+[\r\n]*|\s*[\r\n]+|\s+", CORPUS)
    words = [[spell[b] for b in word.encode()] for word in rough]
    rules = train(words, merges)
    vocab = {spell[b]: i for i, b in enumerate(sorted(spell, key=lambda b: spell[b]))}
    for left, right in rules:
        vocab.setdefault(left + right, len(vocab))
    added = [{"id": len(vocab) + i, "content": s, "special": True, "normalized": False} for i, s in enumerate(specials)]
    level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    pre, normalizer, post = level, None, None
    if SPLITS[kind]:
        split = {"type": "Split", "pattern": {"Regex": SPLITS[kind]}, "behavior": "Isolated", "invert": False}
        pre = {"type": "Sequence", "pretokenizers": [split, dict(level, use_regex=False)]}
    if kind == "smollm":
        pre = {"type": "Sequence", "pretokenizers": [{"type": "Digits", "individual_digits": True}, level]}
    if kind == "qwen2":
        normalizer = {"type": "NFC"}
    if kind == "llama3":
        post = {"type": "Sequence", "processors": [dict(level), template(specials[0], added[0]["id"])]}
    return {
        "version": "1.0", "truncation": None, "padding": None, "added_tokens": added, "normalizer": normalizer,
        "pre_tokenizer": pre, "post_processor": post, "decoder": dict(level),
        "model": {
            "type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None, "end_of_word_suffix": None,
            "fuse_unk": False, "byte_fallback": False, "ignore_merges": kind == "llama3", "vocab": vocab,
            "merges": [f"{left} {right}" for left, right in rules] if kind == "gpt2" else [list(r) for r in rules],
        },
    }


def template(name, token):
    piece = lambda i: [{"SpecialToken": {"id": name, "type_id": i}}, {"Sequence": {"id": "AB"[i], "type_id": i}}]
    return {
        "type": "TemplateProcessing", "single": piece(0), "pair": piece(0) + piece(1),
        "special_tokens": {name: {"id": name, "ids": [token], "tokens": [name]}},
    }


def sentencepiece(metaspace=False):
    """A Llama-2 style tokenizer.json, and its pieces with their scores."""
    text = CORPUS.replace("\r", "")
    words = [list("▁" + word) for word in text.replace("\n", " ").split(" ")]
    chars = sorted({c for word in words for c in word})
    rules = train(words, 240)
    pieces = list(dict.fromkeys(left + right for left, right in rules))
    learned = pieces + chars
    tokens = ["<unk>", "<s>", "</s>"] + [f"<0x{b:02X}>" for b in range(256)] + learned
    scores = [0.0] * 259 + [float(-i) for i in range(len(learned))]
    vocab = {t: i for i, t in enumerate(tokens)}
    merges = []
    for piece in pieces:  # by score; for each piece, every way to produce it
        cuts = [(piece[:i], piece[i:]) for i in range(1, len(piece))]
        merges += sorted((c for c in cuts if c[0] in vocab and c[1] in vocab), key=lambda c: (vocab[c[0]], vocab[c[1]]))
    tokenizer = {
        "version": "1.0", "truncation": None, "padding": None,
        "added_tokens": [{"id": i, "content": tokens[i], "special": True, "normalized": False} for i in range(3)],
        "normalizer": {"type": "Sequence", "normalizers": [
            {"type": "Prepend", "prepend": "▁"}, {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}]},
        "pre_tokenizer": None,
        "post_processor": template("<s>", 1),
        "decoder": {"type": "Sequence", "decoders": [
            {"type": "Replace", "pattern": {"String": "▁"}, "content": " "}, {"type": "ByteFallback"}, {"type": "Fuse"},
            {"type": "Strip", "content": " ", "start": 1, "stop": 0}]},
        "model": {"type": "BPE", "dropout": None, "unk_token": "<unk>", "continuing_subword_prefix": None,
                  "end_of_word_suffix": None, "fuse_unk": True, "byte_fallback": True, "ignore_merges": False,
                  "vocab": vocab, "merges": [list(m) for m in merges]},
    }
    if metaspace:
        tokenizer["normalizer"] = None
        tokenizer["pre_tokenizer"] = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "first", "split": False}
    return tokenizer, tokens, scores


# ------------------------------------------------------------ number formats


def stored(values, kind):
    """The bytes of a matrix in a format, and the float32 numbers that they represent."""
    values = values.astype(np.float32)
    if kind == "F32":
        return values.tobytes(), values
    if kind == "F16":
        half = values.astype(np.float16)
        return half.tobytes(), half.astype(np.float32)
    if kind == "BF16":
        upper = (torch.from_numpy(values.copy()).bfloat16()).view(torch.int16).numpy()
        return upper.tobytes(), torch.from_numpy(upper).view(torch.bfloat16).float().numpy()
    data, back = b"", []
    for row in values.reshape(-1, 32):
        if kind == "Q8_0":
            scale = np.float16(np.abs(row).max() / 127)
            q = np.clip(np.round(row / np.float32(scale)), -127, 127).astype(np.int8)
            data += scale.tobytes() + q.tobytes()
            back.append(q.astype(np.float32) * np.float32(scale))
        else:  # Q4_0
            scale = np.float16(row[np.abs(row).argmax()] / -8)
            q = np.clip(np.round(row / np.float32(scale)) + 8, 0, 15).astype(np.uint8)
            data += scale.tobytes() + bytes(int(q[i]) | int(q[16 + i]) << 4 for i in range(16))
            back.append((q.astype(np.float32) - 8) * np.float32(scale))
    return data, np.concatenate(back).reshape(values.shape)


def safetensors(path, tensors):
    """tensors: name to (kind, array). Returns the numbers that the file represents."""
    header, blob, back = {}, b"", {}
    for name, (kind, values) in tensors.items():
        data, back[name] = stored(values, kind)
        header[name] = {"dtype": kind, "shape": list(values.shape), "data_offsets": [len(blob), len(blob) + len(data)]}
        blob += data
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text + blob)
    return back


GGML = {"F32": 0, "F16": 1, "Q4_0": 2, "Q8_0": 8, "BF16": 30}


def gguf(path, version, pairs, tensors):
    """pairs: key to value, with its GGUF type made explicit by (type, value)."""
    text = lambda s: struct.pack("<Q", len(s.encode())) + s.encode()

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

    head, blob, back = b"GGUF" + struct.pack("<IQQ", version, len(tensors), len(pairs)), b"", {}
    for key, v in pairs.items():
        head += text(key) + value(v)
    for name, (kind, values) in tensors.items():
        data, back[name] = stored(values, kind)
        dims = values.shape[::-1]
        head += text(name) + struct.pack(f"<I{len(dims)}QIQ", len(dims), *dims, GGML[kind], len(blob))
        blob += data + b"\0" * (-len(data) % 32)
    with open(path, "wb") as f:
        f.write(head + b"\0" * (-len(head) % 32) + blob)
    return back


# -------------------------------------------------------------- forward passes


def llama_pass(w, ids, c):
    """Logits [positions, vocab] of the Llama family. w has the part names of
    LLAMA below; matrices are [outputs, inputs]. c["neighbours"] says that
    the rows of a rotary pair are adjacent, as in GGUF and llama2.c."""
    heads, groups, size = c["heads"], c["kv"], c["size"]
    norm = lambda x, g: x * torch.rsqrt((x * x).mean(-1, keepdim=True) + c["eps"]) * g
    frequencies = []
    for i in range(size // 2):
        f = c["theta"] ** (-2 * i / size)
        s = c.get("scaling")
        if s and s["kind"] == "linear":
            f /= s["factor"]
        elif s:  # Llama 3: by wavelength
            wavelength = 2 * math.pi / f
            if wavelength > s["original"] / s["low"]:
                f /= s["factor"]
            elif wavelength >= s["original"] / s["high"]:
                smooth = (s["original"] / wavelength - s["low"]) / (s["high"] - s["low"])
                f = (1 - smooth) * f / s["factor"] + smooth * f
        frequencies.append(f)
    angles = torch.arange(len(ids)).float()[:, None] * torch.tensor(frequencies, dtype=torch.float32)[None]
    turn = torch.polar(torch.ones_like(angles), angles)[:, None]  # [positions, 1, size/2]

    def rotate(x):  # [positions, heads, size]
        if c.get("neighbours"):
            z = torch.view_as_complex(x.reshape(*x.shape[:-1], size // 2, 2).contiguous()) * turn
            return torch.view_as_real(z).flatten(-2)
        z = torch.complex(x[..., : size // 2].contiguous(), x[..., size // 2 :].contiguous()) * turn
        return torch.cat([z.real, z.imag], -1)

    n = len(ids)
    mask = torch.full((n, n), -math.inf).triu(1)
    x = w["embed"][torch.tensor(ids)]
    for l in range(c["layers"]):
        b = {k.split(".", 1)[1]: v for k, v in w.items() if k.startswith(f"{l}.")}
        h = norm(x, b["attn_norm"])
        q, k, v = (h @ b[p].T + b.get(p + "_bias", 0) for p in "qkv")
        q, k = rotate(q.view(n, heads, size)), rotate(k.view(n, groups, size))
        k, v = (t.view(n, groups, size).repeat_interleave(heads // groups, 1) for t in (k, v))
        scores = torch.einsum("ihd,jhd->hij", q, k) / math.sqrt(size) + mask
        x = x + torch.einsum("hij,jhd->ihd", scores.softmax(-1), v).reshape(n, -1) @ b["o"].T
        h = norm(x, b["ffn_norm"])
        x = x + (torch.nn.functional.silu(h @ b["gate"].T) * (h @ b["up"].T)) @ b["down"].T
    return norm(x, w["norm"]) @ w.get("output", w["embed"]).T


def gpt2_pass(w, ids, c):
    """Logits of a GPT-2; matrices are [inputs, outputs], as in the original."""
    n, heads, d = len(ids), c["heads"], w["wte"].shape[1]
    norm = lambda x, at: torch.nn.functional.layer_norm(x, (d,), w[at + ".weight"], w[at + ".bias"], c["eps"])
    line = lambda x, at: x @ w[at + ".weight"] + w[at + ".bias"]
    mask = torch.full((n, n), -math.inf).triu(1)
    x = w["wte"][torch.tensor(ids)] + w["wpe"][:n]
    for l in range(c["layers"]):
        at = f"h.{l}."
        q, k, v = line(norm(x, at + "ln_1"), at + "attn.c_attn").split(d, -1)
        q, k, v = (t.view(n, heads, d // heads) for t in (q, k, v))
        scores = torch.einsum("ihd,jhd->hij", q, k) / math.sqrt(d // heads) + mask
        x = x + line(torch.einsum("hij,jhd->ihd", scores.softmax(-1), v).reshape(n, d), at + "attn.c_proj")
        h = line(norm(x, at + "ln_2"), at + "mlp.c_fc")
        x = x + line(0.5 * h * (1 + torch.tanh(math.sqrt(2 / math.pi) * (h + 0.044715 * h**3))), at + "mlp.c_proj")
    return norm(x, "ln_f") @ w.get("output", w["wte"]).T


# ------------------------------------------------------------------ the models

LLAMA = {
    "attn_norm": ("input_layernorm.weight", "attn_norm.weight"), "q": ("self_attn.q_proj.weight", "attn_q.weight"),
    "k": ("self_attn.k_proj.weight", "attn_k.weight"), "v": ("self_attn.v_proj.weight", "attn_v.weight"),
    "q_bias": ("self_attn.q_proj.bias", "attn_q.bias"), "k_bias": ("self_attn.k_proj.bias", "attn_k.bias"),
    "v_bias": ("self_attn.v_proj.bias", "attn_v.bias"), "o": ("self_attn.o_proj.weight", "attn_output.weight"),
    "ffn_norm": ("post_attention_layernorm.weight", "ffn_norm.weight"), "gate": ("mlp.gate_proj.weight", "ffn_gate.weight"),
    "up": ("mlp.up_proj.weight", "ffn_up.weight"), "down": ("mlp.down_proj.weight", "ffn_down.weight"),
}
OUTER = {"embed": ("model.embed_tokens.weight", "token_embd.weight"), "norm": ("model.norm.weight", "output_norm.weight"),
         "output": ("lm_head.weight", "output.weight")}


def names(w, column):
    """The parts' names in a format: 0 is Hugging Face's, 1 GGUF's."""
    out = {}
    for part in w:
        if part in OUTER:
            out[part] = OUTER[part][column]
        else:
            l, rest = part.split(".", 1)
            out[part] = (f"model.layers.{l}.", f"blk.{l}.")[column] + LLAMA[rest][column]
    return out


def matrix(*shape):
    if len(shape) == 1:
        return (1 + 0.2 * rng.standard_normal(shape)).astype(np.float32)
    return (1.3 * rng.standard_normal(shape) / math.sqrt(shape[-1])).astype(np.float32)


def llama_weights(vocab, width, layers, heads, kv, size, ffn, bias=False, tied=False):
    w = {"embed": matrix(vocab, width)}
    for l in range(layers):
        shapes = {"attn_norm": (width,), "q": (heads * size, width), "k": (kv * size, width), "v": (kv * size, width),
                  "o": (width, heads * size), "ffn_norm": (width,), "gate": (ffn, width), "up": (ffn, width), "down": (width, ffn)}
        if bias:
            shapes.update(q_bias=(heads * size,), k_bias=(kv * size,), v_bias=(kv * size,))
        w.update({f"{l}.{part}": matrix(*shape) for part, shape in shapes.items()})
    w["norm"] = matrix(width)
    if not tied:
        w["output"] = 2 * matrix(vocab, width)
    return w


def gpt2_weights(vocab, width, layers, ffn, context):
    w = {"wte": matrix(vocab, width), "wpe": 0.3 * matrix(context, width)}
    for l in range(layers):
        at = f"h.{l}."
        for part, shape in {"attn.c_attn": (width, 3 * width), "attn.c_proj": (width, width),
                            "mlp.c_fc": (width, ffn), "mlp.c_proj": (ffn, width)}.items():
            w[at + part + ".weight"], w[at + part + ".bias"] = matrix(*shape), matrix(shape[1]) - 1
        for part in ("ln_1", "ln_2"):
            w[at + part + ".weight"], w[at + part + ".bias"] = matrix(width), matrix(width) - 1
    w["ln_f.weight"], w["ln_f.bias"] = matrix(width), matrix(width) - 1
    return w


results = {}


def remember(name, logits, ids):
    results[name] = {
        "ids": ids, "argmax": logits.argmax(-1).tolist(),
        "logsumexp": [round(x, 5) for x in torch.logsumexp(logits.double(), -1).tolist()],
        "last": [round(x, 5) for x in logits[-1].tolist()],
    }


def some_ids(vocab, n=40):
    return [int(i) for i in rng.integers(0, vocab, n)]


def tensor_of(back):
    return {k: torch.from_numpy(v.copy()) for k, v in back.items()}


def dump(path, value):
    with open(path, "w") as f:
        json.dump(value, f, ensure_ascii=False, separators=(",", ":"))


def size_of(tokenizer):
    ids = list(tokenizer["model"]["vocab"].values()) + [a["id"] for a in tokenizer["added_tokens"]]
    return max(ids) + 1


def folder(name):
    path = os.path.join(HERE, name)
    shutil.rmtree(path, ignore_errors=True)
    os.makedirs(path)
    return path


def hf_llama(name, model_type, tokenizer, c, kind, config, shards=1, bias=False, tied=False, tokens=None):
    """A model folder of the Llama family."""
    path, vocab = folder(name), size_of(tokenizer)
    w = llama_weights(vocab, c["width"], c["layers"], c["heads"], c["kv"], c["size"], c["ffn"], bias, tied)
    called = names(w, 0)
    items = [(called[p], ("F32" if v.ndim == 1 and kind == "F16" else kind, v)) for p, v in w.items()]
    back, index = {}, {}
    for i in range(shards):
        file = "model.safetensors" if shards == 1 else f"model-{i + 1:05}-of-{shards:05}.safetensors"
        part = dict(items[i::shards])
        back.update(safetensors(os.path.join(path, file), part))
        index.update({n: file for n in part})
    if shards > 1:
        dump(os.path.join(path, "model.safetensors.index.json"), {"metadata": {}, "weight_map": index})
    heads = {"llama": "LlamaForCausalLM", "mistral": "MistralForCausalLM", "qwen2": "Qwen2ForCausalLM"}
    dump(os.path.join(path, "config.json"), {
        "architectures": [heads[model_type]], "model_type": model_type, "hidden_act": "silu", "vocab_size": vocab,
        "hidden_size": c["width"], "num_hidden_layers": c["layers"], "num_attention_heads": c["heads"],
        "num_key_value_heads": c["kv"], "intermediate_size": c["ffn"], "max_position_embeddings": 64, "rms_norm_eps": c["eps"],
        "rope_theta": c["theta"], "tie_word_embeddings": tied, "eos_token_id": vocab - 1, **config})
    dump(os.path.join(path, "tokenizer.json"), tokenizer)
    if tokens:
        dump(os.path.join(path, "tokenizer_config.json"), tokens)
    parts = {p: back[n] for p, n in called.items()}
    ids = some_ids(vocab)
    remember(name, llama_pass(tensor_of(parts), ids, c), ids)


def hf_gpt2(name, tokenizer, c):
    path, vocab = folder(name), size_of(tokenizer)
    w = gpt2_weights(vocab, c["width"], c["layers"], c["ffn"], 48)
    called = {p: "transformer." + (p if "." in p else p + ".weight") for p in w}
    tensors = {called[p]: ("F16" if v.ndim == 2 else "F32", v) for p, v in w.items()}
    tensors["transformer.h.0.attn.bias"] = ("F32", np.tril(np.ones((1, 1, 4, 4), np.float32)))  # a mask that older files contain
    back = safetensors(os.path.join(path, "model.safetensors"), tensors)
    dump(os.path.join(path, "config.json"), {
        "architectures": ["GPT2LMHeadModel"], "model_type": "gpt2", "activation_function": "gelu_new", "vocab_size": vocab,
        "n_embd": c["width"], "n_layer": c["layers"], "n_head": c["heads"], "n_positions": 48, "n_ctx": 48,
        "n_inner": c["ffn"], "layer_norm_epsilon": c["eps"], "bos_token_id": vocab - 1, "eos_token_id": vocab - 1})
    dump(os.path.join(path, "tokenizer.json"), tokenizer)
    parts = tensor_of({p: back[n] for p, n in called.items()})
    ids = some_ids(vocab)
    remember(name, gpt2_pass(parts, ids, c), ids)


def spm_pairs(tokens, scores):
    return {"tokenizer.ggml.model": "llama", "tokenizer.ggml.tokens": tokens, "tokenizer.ggml.scores": scores,
            "tokenizer.ggml.token_type": [2, 3, 3] + [6] * 256 + [1] * (len(tokens) - 259),
            "tokenizer.ggml.bos_token_id": 1, "tokenizer.ggml.eos_token_id": 2, "tokenizer.ggml.add_bos_token": True}


def bpe_pairs(tokenizer, pre):
    vocab = dict(tokenizer["model"]["vocab"])
    special = {a["content"]: a["id"] for a in tokenizer["added_tokens"]}
    tokens = [t for t, _ in sorted({**vocab, **special}.items(), key=lambda e: e[1])]
    merges = [m if isinstance(m, str) else " ".join(m) for m in tokenizer["model"]["merges"]]
    return {"tokenizer.ggml.model": "gpt2", "tokenizer.ggml.pre": pre, "tokenizer.ggml.tokens": tokens,
            "tokenizer.ggml.token_type": [3 if t in special else 1 for t in tokens], "tokenizer.ggml.merges": merges,
            "tokenizer.ggml.eos_token_id": len(tokens) - 1}


def gguf_llama(name, arch, version, kind, c, pairs, tied=False):
    vocab = len(pairs["tokenizer.ggml.tokens"])
    w = llama_weights(vocab, c["width"], c["layers"], c["heads"], c["kv"], c["size"], c["ffn"], arch == "qwen2", tied)
    called = names(w, 1)
    tensors = {called[p]: (kind if v.ndim == 2 else "F32", v) for p, v in w.items()}
    head = {"general.architecture": arch, "general.name": name, "general.alignment": 32, f"{arch}.context_length": 64,
            f"{arch}.embedding_length": c["width"], f"{arch}.block_count": c["layers"], f"{arch}.feed_forward_length": c["ffn"],
            f"{arch}.attention.head_count": c["heads"], f"{arch}.attention.head_count_kv": c["kv"],
            f"{arch}.attention.layer_norm_rms_epsilon": c["eps"], f"{arch}.rope.freq_base": c["theta"],
            f"{arch}.rope.dimension_count": c["size"]}
    if c["size"] * c["heads"] != c["width"]:
        head |= {f"{arch}.attention.key_length": c["size"], f"{arch}.attention.value_length": c["size"]}
    if "scaling" in c:
        head |= {f"{arch}.rope.scaling.type": "linear", f"{arch}.rope.scaling.factor": c["scaling"]["factor"]}
    back = gguf(os.path.join(HERE, name), version, head | pairs, tensors)
    parts = tensor_of({p: back[n] for p, n in called.items()})
    ids = some_ids(vocab)
    remember(name, llama_pass(parts, ids, dict(c, neighbours=arch == "llama")), ids)


def gguf_gpt2(name, c, pairs):
    vocab = len(pairs["tokenizer.ggml.tokens"])
    w = gpt2_weights(vocab, c["width"], c["layers"], c["ffn"], 48)
    parts = {"wte": "token_embd.weight", "wpe": "position_embd.weight", "ln_f.weight": "output_norm.weight", "ln_f.bias": "output_norm.bias"}
    inner = {"ln_1": "attn_norm", "attn.c_attn": "attn_qkv", "attn.c_proj": "attn_output", "ln_2": "ffn_norm", "mlp.c_fc": "ffn_up", "mlp.c_proj": "ffn_down"}
    for p in w:
        if p.startswith("h."):
            _, l, rest = p.split(".", 2)
            part, ending = rest.rsplit(".", 1)
            parts[p] = f"blk.{l}.{inner[part]}.{ending}"
    turned = lambda p, v: v.T if p.startswith("h.") and v.ndim == 2 else v  # GGUF stores [outputs, inputs]
    tensors = {parts[p]: ("F32", np.ascontiguousarray(turned(p, v))) for p, v in w.items()}
    back = gguf(os.path.join(HERE, name), 3, {
        "general.architecture": "gpt2", "general.name": name, "gpt2.context_length": 48, "gpt2.embedding_length": c["width"],
        "gpt2.block_count": c["layers"], "gpt2.feed_forward_length": c["ffn"], "gpt2.attention.head_count": c["heads"],
        "gpt2.attention.layer_norm_epsilon": c["eps"], **pairs}, tensors)
    ids = some_ids(vocab)
    remember(name, gpt2_pass(tensor_of({p: turned(p, back[n]) for p, n in parts.items()}), ids, c), ids)


def llama2c(name, version, c, vocab, tied):
    """A llama2.c file: for each kind of matrix, the matrices of all layers."""
    w = llama_weights(vocab, c["width"], c["layers"], c["heads"], c["kv"], c["size"], c["ffn"], tied=tied)
    w = {p: v.astype(np.float32) for p, v in w.items()}
    each = lambda part: b"".join(w[f"{l}.{part}"].tobytes() for l in range(c["layers"]))
    shape = [c["width"], c["ffn"], c["layers"], c["heads"], c["kv"], vocab, 64]
    rest = [each(p) for p in ("q", "k", "v", "o")]
    ffn = [each(p) for p in ("gate", "down", "up")]
    if version == 0:
        shape[5] *= 1 if tied else -1
        tables = np.zeros(64 * c["size"], np.float32).tobytes()
        data = [struct.pack("<7i", *shape), w["embed"].tobytes(), each("attn_norm"), *rest, each("ffn_norm"), *ffn, w["norm"].tobytes(), tables]
    else:
        head = struct.pack("<Ii7iB", 0x616B3432, version, *shape, tied)
        data = [head + b"\0" * (256 - len(head)), each("attn_norm"), each("ffn_norm"), w["norm"].tobytes(), w["embed"].tobytes(), *rest, *ffn]
    if not tied:
        data.append(w["output"].tobytes())
    with open(os.path.join(HERE, name), "wb") as f:
        f.write(b"".join(data))
    ids = some_ids(vocab)
    remember(name, llama_pass(tensor_of(w), ids, dict(c, neighbours=True)), ids)


def tokenizer_bin(path, tokens, scores):
    with open(path, "wb") as f:
        pieces = ["<unk>", "\n<s>\n", "\n</s>\n"] + [t.replace("▁", " ") for t in tokens[3:]]
        f.write(struct.pack("<i", max(len(p.encode()) for p in pieces)))
        for piece, score in zip(pieces, scores):
            f.write(struct.pack("<fi", score, len(piece.encode())) + piece.encode())


def main():
    base = {"width": 32, "layers": 2, "heads": 4, "kv": 2, "size": 8, "ffn": 64, "eps": 1e-5, "theta": 10000.0}
    end = "<|endoftext|>"
    llama3 = byte_level("llama3", ["<|begin_of_text|>", "<|end_of_text|>"])
    qwen2, gpt2, smollm = byte_level("qwen2", [end]), byte_level("gpt2", [end]), byte_level("smollm", [end])
    spm, tokens, scores = sentencepiece()
    metaspace, _, _ = sentencepiece(metaspace=True)

    scaling = {"kind": "llama3", "factor": 8.0, "low": 1.0, "high": 4.0, "original": 32}
    hf_llama("llama3", "llama", llama3, dict(base, size=16, theta=500000.0, scaling=scaling), "BF16", shards=2, config={
        "head_dim": 16, "rope_scaling": {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
                                         "original_max_position_embeddings": 32}})
    hf_llama("smollm", "llama", smollm, dict(base, scaling={"kind": "linear", "factor": 4.0}), "F16", tied=True, config={
        "rope_scaling": {"type": "linear", "factor": 4.0}, "bos_token_id": 0})
    hf_llama("mistral", "mistral", metaspace, base, "F16", config={"sliding_window": 48, "bos_token_id": 1})
    hf_llama("qwen2", "qwen2", qwen2, dict(base, theta=1000000.0), "BF16", bias=True, tied=True, config={
        "use_sliding_window": False, "sliding_window": 16, "max_window_layers": 1})
    hf_llama("tinyllama", "llama", spm, dict(base, kv=1), "F16", config={"bos_token_id": 1},
             tokens={"add_bos_token": True, "add_eos_token": False})
    hf_gpt2("gpt2", gpt2, base)

    gguf_llama("llama-f16.gguf", "llama", 3, "F16", dict(base, scaling={"kind": "linear", "factor": 2.0}), spm_pairs(tokens, scores))
    gguf_llama("llama-q8_0.gguf", "llama", 2, "Q8_0", dict(base, size=16), spm_pairs(tokens, scores))
    gguf_llama("llama-q4_0.gguf", "llama", 3, "Q4_0", base, bpe_pairs(llama3, "llama-bpe") | {"tokenizer.ggml.bos_token_id": size_of(llama3) - 2}, tied=True)
    gguf_llama("qwen2-bf16.gguf", "qwen2", 3, "BF16", base, bpe_pairs(qwen2, "qwen2"), tied=True)
    gguf_gpt2("gpt2-f32.gguf", dict(base, width=24, heads=3), bpe_pairs(gpt2, "gpt-2"))

    folder("llama2c")
    narrow = dict(base, width=16, size=4)
    llama2c("llama2c/legacy.bin", 0, narrow, len(tokens), True)
    llama2c("llama2c/untied.bin", 0, dict(narrow, layers=1), len(tokens), False)
    llama2c("llama2c/version1.bin", 1, dict(narrow, layers=1), len(tokens), True)
    tokenizer_bin(os.path.join(HERE, "llama2c", "tokenizer.bin"), tokens, scores)

    with open(os.path.join(HERE, "logits.json.gz"), "wb") as raw, gzip.GzipFile(fileobj=raw, mode="wb", mtime=0) as f:
        f.write(json.dumps(results).encode())


if __name__ == "__main__":
    main()
