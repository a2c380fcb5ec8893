"""Generates texts with the target, for training the draft.

usage: policy.py TARGET OUT.bin TOKENS SEED --stream BOOKS.train.bin ... --documents SYNTH.train.bin ...

In use, a draft continues the target's own text, which differs from the text that both
were trained on (Agarwal et al. 2024 call training on it on-policy distillation). Each text
begins with 4 to 20 tokens from the start of a document or from anywhere in a stream. It is
continued at temperature 1 without filters, up to its end or for 160 tokens.
"""

import argparse

import numpy as np
import torch

from run import Pretrained

ROWS, LENGTH = {"cpu": 256, "cuda": 4096}, 160


def prompts(r, texts, n):
    """Returns n beginnings: the start token, and 4 to 20 tokens from the texts in turn. texts holds
    (tokens, positions at which a beginning may start)."""
    out = []
    for i in range(n):
        data, starts = texts[i % len(texts)]
        at = int(starts[r.integers(len(starts))]) + 1
        part = data[at:at + int(r.integers(4, 21))]
        end = np.flatnonzero(part == 0)
        out.append([0, *map(int, part[:end[0]] if len(end) else part)])
    return out


@torch.no_grad()
def write(p, begun, length):
    """Continues each id list in begun at T = 1 and returns the results, without the end-of-text token."""
    cache = [[torch.zeros(len(begun), p.c.kv_heads, length, p.c.head_dim, device=p.device) for _ in "kv"] for _ in range(p.c.layers)]
    out, over = [list(b) for b in begun], [False] * len(begun)
    for t in range(length - 1):
        z = p.step(torch.tensor([o[t] if t < len(o) else 0 for o in out], device=p.device), t, cache)
        drawn = torch.multinomial(torch.softmax(z, -1), 1)[:, 0].tolist()
        for i, o in enumerate(out):
            if not over[i] and t + 1 == len(o):
                over[i] = drawn[i] == 0
                if not over[i]:
                    o.append(drawn[i])
        if all(over):
            break
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("target", help="folder of an exported target")
    parser.add_argument("out")
    parser.add_argument("tokens", type=int)
    parser.add_argument("seed", type=int)
    parser.add_argument("--stream", nargs="+", default=[])
    parser.add_argument("--documents", nargs="+", default=[])
    parser.add_argument("--threads", type=int, default=2)
    a = parser.parse_args()
    torch.manual_seed(a.seed)
    torch.set_num_threads(a.threads)
    torch.set_flush_denormal(True)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    p, r = Pretrained(a.target, device), np.random.default_rng(a.seed)
    read = lambda path: np.fromfile(path, dtype=np.uint16)
    documents = [(d, np.flatnonzero(d == 0)[:-1]) for d in map(read, a.documents)]
    streams = [(d, np.arange(len(d) - 32)) for d in map(read, a.stream)]
    if not streams + documents:
        parser.error("nothing to begin with: give --stream or --documents")
    made, count = [], 0
    while count < a.tokens:
        for ids in write(p, prompts(r, streams + documents, ROWS[device]), LENGTH):
            made.append(np.array(ids, dtype=np.uint16))
            count += len(ids)
        print(f"{count:,} tokens", flush=True)
    np.concatenate([*made, np.zeros(1, np.uint16)]).tofile(a.out)


if __name__ == "__main__":
    main()
