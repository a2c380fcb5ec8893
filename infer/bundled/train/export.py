"""Writes a trained run as a Hugging Face model folder: BF16 safetensors, config, tokenizer.

usage: export.py RUN TOKENIZER.json OUT
"""

import json
import pathlib
import shutil
import struct
import sys

import torch

from model import PRESETS, Model


def tensors(model):
    """Returns {Hugging Face's name: tensor}, with the shared projections split."""
    c, out = model.c, {"model.embed_tokens.weight": model.embed}
    kv = c.kv_heads * c.head_dim
    for i, b in enumerate(model.blocks):
        q, k, v = b.qkv.split([c.heads * c.head_dim, kv, kv])
        gate, up = b.gate_up.chunk(2)
        parts = {"input_layernorm": b.input_norm, "self_attn.q_proj": q, "self_attn.k_proj": k, "self_attn.v_proj": v,
                 "self_attn.o_proj": b.o, "post_attention_layernorm": b.post_norm,
                 "mlp.gate_proj": gate, "mlp.up_proj": up, "mlp.down_proj": b.down}
        out.update({f"model.layers.{i}.{name}.weight": t for name, t in parts.items()})
    out["model.norm.weight"] = model.norm
    if not c.tied:
        out["lm_head.weight"] = model.head
    return out


BLOCK, MOST = 64, 127  # the engine's int8: the number of weights in a row that share a scale, and the largest step


def scales(blocks):
    """Returns for each block [..., BLOCK] the smallest bfloat16 that is not below max |w| / MOST, as the engine does."""
    s = blocks.abs().amax(-1, keepdim=True) / MOST
    return ((s.view(torch.int32) + 0xFFFF) & ~0xFFFF).view(torch.float32)


def on_grid(w):
    """Returns the matrix rounded to the whole steps of its int8 blocks, as bfloat16 can store them.

    The engine's int8 then recovers the same steps, so the model that it runs is nearly
    the exported one. Storing a step in bfloat16 changes it by at most 1/256 of its size.
    The largest step of a block must not grow, so it changes by at most 1/128. If its
    stored value would lead to another scale, the next smaller scale is tried, which
    reduces the step by less than a hundredth.
    """
    rows, cols = w.shape
    blocks = torch.nn.functional.pad(w.detach().float(), (0, -cols % BLOCK)).reshape(rows, -1, BLOCK)
    s, out = scales(blocks), torch.zeros_like(blocks)
    open_ = torch.ones_like(s, dtype=torch.bool)
    for _ in range(4):
        steps = (blocks / s.clamp_min(1e-30)).round().clamp(-MOST, MOST) * s
        near = steps.bfloat16().float()
        down = (steps.view(torch.int32) & ~0xFFFF).view(torch.float32)  # rounded toward zero
        near = torch.where(near.abs() > MOST * s, down, near)
        out = torch.where(open_, near, out)
        open_ = open_ & (scales(near) != s)
        s = torch.where(open_, (s.view(torch.int32) - 0x10000).view(torch.float32), s)
    return out.reshape(rows, -1)[:, :cols]


def write_safetensors(named, path):
    """Writes a safetensors file. bf16 is stored as int16 words; torch's cast rounds to nearest even."""
    header, blobs, at = {"__metadata__": {"format": "pt"}}, [], 0
    for name, t in named.items():
        blob = t.detach().to(torch.bfloat16).contiguous().view(torch.int16).numpy().tobytes()
        header[name] = {"dtype": "BF16", "shape": list(t.shape), "data_offsets": [at, at + len(blob)]}
        blobs.append(blob)
        at += len(blob)
    head = json.dumps(header).encode()
    head += b" " * (-len(head) % 8)
    path.write_bytes(struct.pack("<Q", len(head)) + head + b"".join(blobs))


def main():
    run, tokenizer, out = map(pathlib.Path, sys.argv[1:4])
    state = torch.load(run / "checkpoint.pt", map_location="cpu")
    c = PRESETS[state["arguments"]["preset"]]
    model = Model(c)
    model.load_state_dict(state["model"])
    out.mkdir(parents=True, exist_ok=True)
    named = {name: on_grid(t) if ".layers." in name and t.dim() == 2 else t for name, t in tensors(model).items()}
    write_safetensors(named, out / "model.safetensors")
    config = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_act": "silu", "hidden_size": c.dim,
              "intermediate_size": c.ffn, "num_hidden_layers": c.layers, "num_attention_heads": c.heads,
              "num_key_value_heads": c.kv_heads, "head_dim": c.head_dim, "max_position_embeddings": c.context,
              "rms_norm_eps": c.eps, "rope_theta": c.theta, "vocab_size": c.vocab, "tie_word_embeddings": c.tied,
              "bos_token_id": 0, "eos_token_id": 0, "torch_dtype": "bfloat16"}
    (out / "config.json").write_text(json.dumps(config, indent=2) + "\n")
    (out / "generation_config.json").write_text(json.dumps(
        {"bos_token_id": 0, "eos_token_id": 0, "temperature": 0.7, "top_p": 0.9, "do_sample": True}, indent=1) + "\n")
    (out / "tokenizer_config.json").write_text(json.dumps(
        {"tokenizer_class": "PreTrainedTokenizerFast", "add_bos_token": True, "add_eos_token": False,
         "bos_token": "<|endoftext|>", "eos_token": "<|endoftext|>", "model_max_length": c.context,
         "clean_up_tokenization_spaces": False}, indent=1) + "\n")
    shutil.copyfile(tokenizer, out / "tokenizer.json")
    size = (out / "model.safetensors").stat().st_size
    print(f"{out}: {sum(p.numel() for p in model.parameters()):,} parameters, {size:,} bytes, {state['step']} steps")


if __name__ == "__main__":
    main()
