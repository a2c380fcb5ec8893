"""Writes a small random model of each newer architecture, and the results of running it in PyTorch.

Run it with Python 3, numpy and PyTorch 1.13 or later, from any folder:

    python3 testdata/models/architectures.py

The config.json files have the keys of published models (named below), with small
sizes. Each model is written as a folder in bfloat16 and, if llama.cpp has a name
for its architecture, as a GGUF file in float32 with the same numbers, under
llama.cpp's names and in its order. The forward passes are plain PyTorch on the
folder's numbers, one for each architecture, independent of the program's.
architectures.json.gz holds the same data for each model as logits.json.gz does
for the models of make.py, whose tokenizers and file writers this script uses. The
texts are longer than the sliding windows.
"""

import gzip
import json
import math
import os

import numpy as np
import torch

import make

rng = np.random.default_rng(20252)
torch.set_num_threads(1)

# ------------------------------------------------------------- forward passes


def rms(x, gain, eps=1e-6):
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps) * gain


def turned(x, theta, factor=1.0):
    """Rotary positions of x [positions, heads, size]: value i pairs with i + size/2."""
    half = x.shape[-1] // 2
    speed = torch.tensor([theta ** (-i / half) / factor for i in range(half)], dtype=torch.float32)
    angle = torch.arange(x.shape[0], dtype=torch.float32)[:, None, None] * speed
    a, b = x[..., :half], x[..., half:]
    return torch.cat([a * angle.cos() - b * angle.sin(), b * angle.cos() + a * angle.sin()], -1)


def attend(q, k, v, window=None, scalar=None):
    """Causal attention of q [n, heads, size] to k and v [n, groups, size]. Position i
    sees position j if j ≤ i and, with a window, i − j < window."""
    n, heads, size = q.shape
    k, v = (t.repeat_interleave(heads // t.shape[1], 1) for t in (k, v))
    scores = torch.einsum("ihd,jhd->hij", q, k) / math.sqrt(scalar or size)
    i, j = torch.arange(n)[:, None], torch.arange(n)[None]
    hidden = j > i
    if window:
        hidden = hidden | (i - j >= window)
    return torch.einsum("hij,jhd->ihd", scores.masked_fill(hidden, -math.inf).softmax(-1), v).reshape(n, -1)


class Layer:
    """The weights of a layer, by the ends of their names."""

    def __init__(self, w, l):
        self.w, self.at = w, f"model.layers.{l}."

    def __getitem__(self, name):
        return self.w[self.at + name + ".weight"]

    def line(self, x, name):
        return x @ self[name].T + self.w.get(self.at + name + ".bias", 0)

    def heads(self, x, name, size):
        return self.line(x, f"self_attn.{name}_proj").view(len(x), -1, size)

    def mlp(self, x, activation=torch.nn.functional.silu):
        return self.line(activation(self.line(x, "mlp.gate_proj")) * self.line(x, "mlp.up_proj"), "mlp.down_proj")


def scores(w, x, eps=1e-6):
    return rms(x, w["model.norm.weight"], eps) @ w.get("lm_head.weight", w["model.embed_tokens.weight"]).T


def llama_like_pass(w, ids, c, window=lambda l: None, turns=lambda l: True, norm_heads=False):
    """Mistral, Qwen2, Qwen3 and SmolLM3: a Llama with windows, biases (if they are in w),
    norms of queries and keys, or layers without rotary positions."""
    eps, size, x = c["rms_norm_eps"], c["head_dim"], w["model.embed_tokens.weight"][ids]
    for l in range(c["num_hidden_layers"]):
        layer = Layer(w, l)
        h = rms(x, layer["input_layernorm"], eps)
        q, k, v = (layer.heads(h, p, size) for p in "qkv")
        if norm_heads:
            q, k = rms(q, layer["self_attn.q_norm"], eps), rms(k, layer["self_attn.k_norm"], eps)
        if turns(l):
            q, k = turned(q, c["rope_theta"]), turned(k, c["rope_theta"])
        x = x + layer.line(attend(q, k, v, window(l)), "self_attn.o_proj")
        x = x + layer.mlp(rms(x, layer["post_attention_layernorm"], eps))
    return scores(w, x, eps)


def olmo2_pass(w, ids, c):
    eps, size, x = c["rms_norm_eps"], c["head_dim"], w["model.embed_tokens.weight"][ids]
    for l in range(c["num_hidden_layers"]):
        layer, n = Layer(w, l), len(ids)
        q = rms(layer.line(x, "self_attn.q_proj"), layer["self_attn.q_norm"], eps).view(n, -1, size)
        k = rms(layer.line(x, "self_attn.k_proj"), layer["self_attn.k_norm"], eps).view(n, -1, size)
        mixed = attend(turned(q, c["rope_theta"]), turned(k, c["rope_theta"]), layer.heads(x, "v", size))
        x = x + rms(layer.line(mixed, "self_attn.o_proj"), layer["post_attention_layernorm"], eps)
        x = x + rms(layer.mlp(x), layer["post_feedforward_layernorm"], eps)
    return scores(w, x, eps)


def gemma3_pass(w, ids, c):
    w = {name: 1 + v if name.endswith("norm.weight") else v for name, v in w.items()}
    eps, size = c["rms_norm_eps"], c["head_dim"]
    gelu = lambda x: torch.nn.functional.gelu(x, approximate="tanh")
    x = w["model.embed_tokens.weight"][ids] * math.sqrt(c["hidden_size"])
    for l in range(c["num_hidden_layers"]):
        layer, local = Layer(w, l), c["layer_types"][l] == "sliding_attention"
        theta = c["rope_local_base_freq"] if local else c["rope_theta"]
        h = rms(x, layer["input_layernorm"], eps)
        q = turned(rms(layer.heads(h, "q", size), layer["self_attn.q_norm"], eps), theta)
        k = turned(rms(layer.heads(h, "k", size), layer["self_attn.k_norm"], eps), theta)
        mixed = attend(q, k, layer.heads(h, "v", size), c["sliding_window"] if local else None, c["query_pre_attn_scalar"])
        x = x + rms(layer.line(mixed, "self_attn.o_proj"), layer["post_attention_layernorm"], eps)
        h = layer.mlp(rms(x, layer["pre_feedforward_layernorm"], eps), gelu)
        x = x + rms(h, layer["post_feedforward_layernorm"], eps)
    return scores(w, x, eps)


def gpt2_gelu_pass(w, ids, c):
    """GPT-2 with the exact GELU, x·Φ(x)."""
    n, heads, d = len(ids), c["n_head"], c["n_embd"]
    norm = lambda x, at: torch.nn.functional.layer_norm(x, (d,), w[at + ".weight"], w[at + ".bias"], 1e-5)
    line = lambda x, at: x @ w[at + ".weight"] + w[at + ".bias"]
    x = w["wte.weight"][ids] + w["wpe.weight"][:n]
    for l in range(c["n_layer"]):
        at = f"h.{l}."
        q, k, v = (t.view(n, heads, -1) for t in line(norm(x, at + "ln_1"), at + "attn.c_attn").split(d, -1))
        x = x + line(attend(q, k, v), at + "attn.c_proj")
        h = line(norm(x, at + "ln_2"), at + "mlp.c_fc")
        x = x + line(0.5 * h * (1 + torch.erf(h / math.sqrt(2))), at + "mlp.c_proj")
    return norm(x, "ln_f") @ w["wte.weight"].T


# ------------------------------------------------------------------ the models

GGUF_NAMES = {
    "input_layernorm": "attn_norm", "self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v",
    "self_attn.q_norm": "attn_q_norm", "self_attn.k_norm": "attn_k_norm", "self_attn.o_proj": "attn_output",
    "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up", "mlp.down_proj": "ffn_down", "post_attention_layernorm": "ffn_norm",
}
# Models with norms after the two halves of a block have different names for them.
GGUF_POST_NORMS = dict(GGUF_NAMES, **{
    "post_attention_layernorm": "post_attention_norm", "pre_feedforward_layernorm": "ffn_norm",
    "post_feedforward_layernorm": "post_ffw_norm",
})


def bfloat(*shape, around=1.0):
    """Random numbers that bfloat16 can represent: matrices with a spread of 1.3/√columns, vectors near a value."""
    v = rng.standard_normal(shape)
    v = around + 0.2 * v if len(shape) == 1 else 1.3 * v / math.sqrt(shape[-1])
    return torch.from_numpy(v.astype(np.float32)).bfloat16().float().numpy()


def weights(c, vocab, norms, around=1.0):
    """Tensors by Hugging Face's names. norms holds a layer's norms with their sizes."""
    d, f, size = c["hidden_size"], c["intermediate_size"], c["head_dim"]
    heads, groups = c["num_attention_heads"] * size, c["num_key_value_heads"] * size
    w = {"model.embed_tokens.weight": bfloat(vocab, d)}
    for l in range(c["num_hidden_layers"]):
        at = f"model.layers.{l}."
        w |= {at + name + ".weight": bfloat(n, around=around) for name, n in norms.items()}
        for name, shape in {"self_attn.q_proj": (heads, d), "self_attn.k_proj": (groups, d), "self_attn.v_proj": (groups, d),
                            "self_attn.o_proj": (d, heads), "mlp.gate_proj": (f, d), "mlp.up_proj": (f, d), "mlp.down_proj": (d, f)}.items():
            w[at + name + ".weight"] = bfloat(*shape)
    w["model.norm.weight"] = bfloat(d, around=around)
    if not c["tie_word_embeddings"]:
        w["lm_head.weight"] = bfloat(vocab, d)
    return w


def neighbours(v, heads):
    """llama.cpp stores rows i and i + size/2 of a Llama's query or key head next to each other."""
    rows = v.reshape(heads, 2, v.shape[0] // heads // 2, -1)
    return np.ascontiguousarray(rows.transpose(0, 2, 1, 3).reshape(v.shape))


def folder(name, config, tokenizer, w, extra=None):
    path = make.folder(name)
    make.safetensors(os.path.join(path, "model.safetensors"), {n: ("BF16", v) for n, v in w.items()} | (extra or {}))
    make.dump(os.path.join(path, "config.json"), config)
    make.dump(os.path.join(path, "tokenizer.json"), tokenizer)


def gguf(name, arch, c, w, pairs, plus_one=False, pairs_of_rows=False, names=GGUF_NAMES):
    tensors = {}
    for full, v in w.items():
        part = full.removesuffix(".weight")
        if plus_one and part.endswith("norm"):
            v = 1 + v
        if pairs_of_rows and part.endswith("q_proj"):
            v = neighbours(v, c["num_attention_heads"])
        if pairs_of_rows and part.endswith("k_proj"):
            v = neighbours(v, c["num_key_value_heads"])
        if part.startswith("model.layers."):
            l, part = part.removeprefix("model.layers.").split(".", 1)
            called = f"blk.{l}.{names[part]}.weight"
        else:
            called = {"model.embed_tokens": "token_embd", "model.norm": "output_norm", "lm_head": "output"}[part] + ".weight"
        tensors[called] = ("F32", v)
    size = c["head_dim"]
    make.gguf(os.path.join(make.HERE, name), 3, {
        "general.architecture": arch, "general.name": name, "general.file_type": 0, "general.quantization_version": 2,
        f"{arch}.block_count": c["num_hidden_layers"], f"{arch}.context_length": c["max_position_embeddings"],
        f"{arch}.embedding_length": c["hidden_size"], f"{arch}.feed_forward_length": c["intermediate_size"],
        f"{arch}.attention.head_count": c["num_attention_heads"], f"{arch}.attention.head_count_kv": c["num_key_value_heads"],
        f"{arch}.rope.freq_base": float(c["rope_theta"]), f"{arch}.attention.layer_norm_rms_epsilon": c["rms_norm_eps"],
        f"{arch}.attention.key_length": size, f"{arch}.attention.value_length": size, f"{arch}.rope.dimension_count": size,
        f"{arch}.vocab_size": w["model.embed_tokens.weight"].shape[0], **pairs,
    }, tensors)


results = {}


def remember(names, logits, ids):
    for name in names:
        results[name] = {
            "ids": ids, "argmax": logits.argmax(-1).tolist(),
            "logsumexp": [round(x, 5) for x in torch.logsumexp(logits.double(), -1).tolist()],
            "last": [round(x, 5) for x in logits[-1].tolist()],
        }


def some_ids(vocab, n=40):
    return [int(i) for i in rng.integers(0, vocab, n)]


def tensors_of(w):
    return {name: torch.from_numpy(v.copy()) for name, v in w.items()}


def base(**more):
    """The entries that every config.json has."""
    return {"attention_bias": False, "attention_dropout": 0.0, "hidden_act": "silu", "hidden_size": 32, "initializer_range": 0.02,
            "intermediate_size": 48, "max_position_embeddings": 64, "num_attention_heads": 4, "num_key_value_heads": 2,
            "rms_norm_eps": 1e-06, "rope_scaling": None, "torch_dtype": "bfloat16", "transformers_version": "4.51.0",
            "use_cache": True, **more}


def qwen3(tokenizer):
    """Qwen/Qwen3-0.6B's keys."""
    vocab = make.size_of(tokenizer)
    c = base(architectures=["Qwen3ForCausalLM"], model_type="qwen3", bos_token_id=vocab - 2, eos_token_id=vocab - 1, head_dim=16,
             max_window_layers=28, num_hidden_layers=3, rope_theta=1000000, sliding_window=None, tie_word_embeddings=True,
             use_sliding_window=False, vocab_size=vocab)
    norms = {"input_layernorm": 32, "self_attn.q_norm": 16, "self_attn.k_norm": 16, "post_attention_layernorm": 32}
    w, ids = weights(c, vocab, norms), some_ids(vocab)
    folder("qwen3", c, tokenizer, w)
    gguf("qwen3-f32.gguf", "qwen3", c, w, make.bpe_pairs(tokenizer, "qwen2") | {"tokenizer.ggml.add_bos_token": False})
    remember(["qwen3", "qwen3-f32.gguf"], llama_like_pass(tensors_of(w), ids, c, norm_heads=True), ids)


def gemma3(tokenizer, tokens, piece_scores):
    """google/gemma-3-270m's keys."""
    vocab, layers = len(tokens), 7
    c = base(architectures=["Gemma3ForCausalLM"], model_type="gemma3_text", bos_token_id=1, eos_token_id=2, pad_token_id=0,
             _sliding_window_pattern=6, attn_logit_softcapping=None, final_logit_softcapping=None, head_dim=16,
             hidden_activation="gelu_pytorch_tanh", num_hidden_layers=layers, num_key_value_heads=1, query_pre_attn_scalar=16,
             layer_types=["full_attention" if (l + 1) % 6 == 0 else "sliding_attention" for l in range(layers)],
             rope_local_base_freq=10000.0, rope_theta=1000000.0, sliding_window=16, use_bidirectional_attention=False, vocab_size=vocab)
    del c["hidden_act"]  # the published file lacks this key, and the one that ties the output
    c["tie_word_embeddings"] = True
    norms = {"input_layernorm": 32, "self_attn.q_norm": 16, "self_attn.k_norm": 16, "post_attention_layernorm": 32,
             "pre_feedforward_layernorm": 32, "post_feedforward_layernorm": 32}
    w, ids = weights(c, vocab, norms, around=0.0), some_ids(vocab)
    w["model.embed_tokens.weight"] *= 0.25  # less than what the layers add; otherwise, each token would predict itself
    folder("gemma3", {k: v for k, v in c.items() if k != "tie_word_embeddings"}, tokenizer, w)
    gguf("gemma3-f32.gguf", "gemma3", c, w, make.spm_pairs(tokens, piece_scores) | {"gemma3.attention.sliding_window": 16},
         plus_one=True, names=GGUF_POST_NORMS)
    remember(["gemma3", "gemma3-f32.gguf"], gemma3_pass(tensors_of(w), ids, c), ids)


def smollm3(tokenizer):
    """HuggingFaceTB/SmolLM3-3B's keys."""
    vocab, layers = make.size_of(tokenizer), 5
    turns = [int((l + 1) % 4 != 0) for l in range(layers)]
    c = base(architectures=["SmolLM3ForCausalLM"], model_type="smollm3", bos_token_id=None, eos_token_id=vocab - 1, pad_token_id=vocab - 1,
             layer_types=["full_attention"] * layers, max_window_layers=28, mlp_bias=False, no_rope_layer_interval=4, no_rope_layers=turns,
             num_hidden_layers=layers, pretraining_tp=2, rope_theta=5000000.0, sliding_window=None, tie_word_embeddings=True,
             use_sliding_window=False, vocab_size=vocab)
    c["head_dim"] = 8  # the width divided by the number of heads; the published file lacks this key
    w, ids = weights(c, vocab, {"input_layernorm": 32, "post_attention_layernorm": 32}), some_ids(vocab)
    folder("smollm3", {k: v for k, v in c.items() if k != "head_dim"}, tokenizer, w)
    gguf("smollm3-f32.gguf", "smollm3", c, w, make.bpe_pairs(tokenizer, "llama-bpe") | {"tokenizer.ggml.add_bos_token": False}, pairs_of_rows=True)
    remember(["smollm3", "smollm3-f32.gguf"], llama_like_pass(tensors_of(w), ids, c, turns=lambda l: turns[l]), ids)


def olmo2(tokenizer):
    """allenai/OLMo-2-0425-1B's keys."""
    vocab = make.size_of(tokenizer)
    c = base(architectures=["Olmo2ForCausalLM"], model_type="olmo2", eos_token_id=vocab - 1, pad_token_id=vocab - 1,
             num_hidden_layers=3, num_key_value_heads=4, rope_theta=500000, tie_word_embeddings=False, vocab_size=vocab)
    c["head_dim"] = 8
    norms = {"self_attn.q_norm": 32, "self_attn.k_norm": 32, "post_attention_layernorm": 32, "post_feedforward_layernorm": 32}
    w, ids = weights(c, vocab, norms), some_ids(vocab)
    folder("olmo2", {k: v for k, v in c.items() if k != "head_dim"}, tokenizer, w)
    gguf("olmo2-f32.gguf", "olmo2", c, w, make.bpe_pairs(tokenizer, "gpt-2"), names=GGUF_POST_NORMS)
    remember(["olmo2", "olmo2-f32.gguf"], olmo2_pass(tensors_of(w), ids, c), ids)


def mistral(tokenizer, tokens, piece_scores):
    """mistralai/Mistral-7B-v0.1's keys. GGUF calls it a Llama; converters omit its
    window, and llama.cpp would ignore it."""
    vocab = len(tokens)
    c = base(architectures=["MistralForCausalLM"], model_type="mistral", bos_token_id=1, eos_token_id=2, num_hidden_layers=2,
             rms_norm_eps=1e-05, rope_theta=10000.0, sliding_window=16, tie_word_embeddings=False, vocab_size=vocab)
    for key in ("attention_bias", "attention_dropout", "rope_scaling"):
        del c[key]
    c["head_dim"] = 8
    w, ids = weights(c, vocab, {"input_layernorm": 32, "post_attention_layernorm": 32}), some_ids(vocab)
    folder("mistral-window", {k: v for k, v in c.items() if k != "head_dim"}, tokenizer, w)
    remember(["mistral-window"], llama_like_pass(tensors_of(w), ids, c, window=lambda l: 16), ids)
    spm = make.spm_pairs(tokens, piece_scores)
    gguf("mistral-window-f32.gguf", "llama", c, w, spm | {"llama.attention.sliding_window": 16}, pairs_of_rows=True)
    remember(["mistral-window-f32.gguf"], llama_like_pass(tensors_of(w), ids, c, window=lambda l: 16), ids)
    gguf("mistral-f32.gguf", "llama", c, w, spm, pairs_of_rows=True)
    remember(["mistral-f32.gguf"], llama_like_pass(tensors_of(w), ids, c), ids)


def qwen2_window(tokenizer):
    """Qwen/Qwen2-0.5B's keys, with its sliding window switched on for the upper two layers."""
    vocab = make.size_of(tokenizer)
    c = base(architectures=["Qwen2ForCausalLM"], model_type="qwen2", bos_token_id=vocab - 1, eos_token_id=vocab - 1, max_window_layers=1,
             num_hidden_layers=3, rope_theta=1000000.0, sliding_window=12, tie_word_embeddings=True, use_sliding_window=True, vocab_size=vocab)
    for key in ("attention_bias", "rope_scaling"):
        del c[key]
    c["head_dim"] = 8
    w, ids = weights(c, vocab, {"input_layernorm": 32, "post_attention_layernorm": 32}), some_ids(vocab)
    for l in range(3):
        for p, n in {"q": 32, "k": 16, "v": 16}.items():
            w[f"model.layers.{l}.self_attn.{p}_proj.bias"] = bfloat(n, around=0.0)
    folder("qwen2-window", {k: v for k, v in c.items() if k != "head_dim"}, tokenizer, w)
    remember(["qwen2-window"], llama_like_pass(tensors_of(w), ids, c, window=lambda l: 12 if l >= 1 else None), ids)


def gpt2_gelu(tokenizer):
    """openai-community/gpt2's keys and its mask buffers, with the activation of minGPT's
    and nanoGPT's models."""
    vocab, d, layers, context = make.size_of(tokenizer), 24, 2, 48
    c = {"activation_function": "gelu", "architectures": ["GPT2LMHeadModel"], "attn_pdrop": 0.1, "bos_token_id": vocab - 1,
         "embd_pdrop": 0.1, "eos_token_id": vocab - 1, "initializer_range": 0.02, "layer_norm_epsilon": 1e-05, "model_type": "gpt2",
         "n_ctx": context, "n_embd": d, "n_head": 3, "n_layer": layers, "n_positions": context, "resid_pdrop": 0.1,
         "summary_activation": None, "summary_first_dropout": 0.1, "summary_proj_to_labels": True, "summary_type": "cls_index",
         "summary_use_proj": True, "task_specific_params": {"text-generation": {"do_sample": True, "max_length": 50}}, "vocab_size": vocab}
    w = {"wte.weight": bfloat(vocab, d), "wpe.weight": 0.25 * bfloat(context, d)}
    masks = {}
    for l in range(layers):
        at = f"h.{l}."
        masks[at + "attn.bias"] = ("F32", np.tril(np.ones((1, 1, context, context), np.float32)))
        masks[at + "attn.masked_bias"] = ("F32", np.float32(-1e4).reshape(1))
        for part, shape in {"attn.c_attn": (d, 3 * d), "attn.c_proj": (d, d), "mlp.c_fc": (d, 4 * d), "mlp.c_proj": (4 * d, d)}.items():
            w[at + part + ".weight"], w[at + part + ".bias"] = bfloat(*shape), bfloat(shape[1], around=0.0)
        for part in ("ln_1", "ln_2"):
            w[at + part + ".weight"], w[at + part + ".bias"] = bfloat(d), bfloat(d, around=0.0)
    w["ln_f.weight"], w["ln_f.bias"] = bfloat(d), bfloat(d, around=0.0)
    folder("gpt2-gelu", c, tokenizer, w, masks)
    ids = some_ids(vocab)
    remember(["gpt2-gelu"], gpt2_gelu_pass(tensors_of(w), ids, c), ids)


def main():
    end, few = "<|endoftext|>", 60
    spm, tokens, piece_scores = make.sentencepiece()
    qwen2 = make.byte_level("qwen2", [end, "<|im_end|>"], few)
    gpt2 = make.byte_level("gpt2", [end], few)
    qwen3(qwen2)
    gemma3(spm, tokens, piece_scores)
    smollm3(make.byte_level("llama3", ["<|begin_of_text|>", "<|end_of_text|>"], few) | {"post_processor": None})
    olmo2(gpt2)
    mistral(spm, tokens, piece_scores)
    qwen2_window(qwen2)
    gpt2_gelu(gpt2)
    with open(os.path.join(make.HERE, "architectures.json.gz"), "wb") as raw, gzip.GzipFile(fileobj=raw, mode="wb", mtime=0) as f:
        f.write(json.dumps(results).encode())


main()
