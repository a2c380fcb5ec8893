"""Byte-level BPE: trains a tokenizer, writes tokenizer.json, encodes text.

The pre-tokenizer is GPT-2's pattern and byte alphabet (Radford et al. 2019), so any
reader of byte-level tokenizer.json files can use the result. There is one exception:
digits never merge with anything except a preceding space, so that every digit is a
separate token and sums can be learned column by column.

usage: bpe.py train VOCABULARY OUT.json CORPUS.jsonl...
       bpe.py encode TOKENIZER.json OUT.bin CORPUS.jsonl...   (uint16 ids, a 0 before each document and at the end)
"""

import collections
import functools
import heapq
import json
import multiprocessing
import re
import sys

import numpy as np

# GPT-2's pattern without the regex package: \p{L} is a word character that is neither a digit nor _.
PATTERN = re.compile(r"""'(?:[sdmt]|ll|ve|re)| ?[^\W\d_]+| ?\d+| ?(?:[^\s\w]|_)+|\s+(?!\S)|\s+""")
END = "<|endoftext|>"


def byte_alphabet():
    """GPT-2's map from bytes to printable characters."""
    keep = [*range(33, 127), *range(161, 173), *range(174, 256)]
    rest = iter(range(256, 512))
    return {b: chr(b) if b in keep else chr(next(rest)) for b in range(256)}


ALPHABET = byte_alphabet()
DIGITS = set("0123456789")


def read(paths):
    for path in paths:
        with open(path, encoding="utf-8") as f:
            for line in f:
                yield json.loads(line)


def allowed(pair):
    return not (set(pair[0] + pair[1]) & DIGITS) or (pair[0] == ALPHABET[32] and pair[1] in DIGITS)


def merge(word, pair):
    out, j = [], 0
    while j < len(word):
        if j + 1 < len(word) and (word[j], word[j + 1]) == pair:
            out.append(word[j] + word[j + 1])
            j += 2
        else:
            out.append(word[j])
            j += 1
    return out


def train(paths, size):
    """Returns (vocabulary, merges). The most frequent pair is merged until there are `size` tokens."""
    counts = collections.Counter()
    for doc in read(paths):
        counts.update(PATTERN.findall(doc))
    words = [[ALPHABET[b] for b in w.encode("utf-8")] for w in counts]
    freq = list(counts.values())
    pairs, where = collections.Counter(), collections.defaultdict(set)
    for i, w in enumerate(words):
        for p in zip(w, w[1:]):
            if allowed(p):
                pairs[p] += freq[i]
                where[p].add(i)
    heap = [(-n, p) for p, n in pairs.items()]
    heapq.heapify(heap)
    vocab, merges = [END] + [ALPHABET[b] for b in range(256)], []
    while len(vocab) < size:
        n, p = heapq.heappop(heap)
        if pairs.get(p, 0) != -n:  # the count has changed since it was pushed
            continue
        merges.append(p)
        vocab.append(p[0] + p[1])
        changed = set()
        for i in list(where[p]):
            before, words[i] = words[i], merge(words[i], p)
            for q in zip(before, before[1:]):
                if q in pairs:
                    pairs[q] -= freq[i]
                    changed.add(q)
            for q in zip(words[i], words[i][1:]):
                if allowed(q):
                    pairs[q] += freq[i]
                    where[q].add(i)
                    changed.add(q)
        pairs.pop(p, None)
        where.pop(p, None)
        for q in changed:
            if pairs.get(q, 0) > 0:
                heapq.heappush(heap, (-pairs[q], q))
            else:
                pairs.pop(q, None)
    return vocab, merges


def save(vocab, merges, path):
    doc = {
        "version": "1.0", "truncation": None, "padding": None,
        "added_tokens": [{"id": 0, "content": END, "single_word": False, "lstrip": False, "rstrip": False,
                          "normalized": False, "special": True}],
        "normalizer": None,
        "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True},
        "post_processor": None,
        "decoder": {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True},
        "model": {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None,
                  "end_of_word_suffix": None, "fuse_unk": False, "byte_fallback": False,
                  "vocab": {t: i for i, t in enumerate(vocab)}, "merges": [list(m) for m in merges]},
    }
    with open(path, "w", encoding="utf-8") as f:
        json.dump(doc, f, ensure_ascii=False)


class Tokenizer:
    def __init__(self, path):
        with open(path, encoding="utf-8") as f:
            model = json.load(f)["model"]
        self.vocab = model["vocab"]
        self.names = {i: t for t, i in self.vocab.items()}
        self.rank = {tuple(m): i for i, m in enumerate(model["merges"])}
        self.bytes = {c: b for b, c in ALPHABET.items()}
        self.word = functools.lru_cache(1 << 20)(self._word)

    def _word(self, text):
        w = [ALPHABET[b] for b in text.encode("utf-8")]
        while len(w) > 1:
            best = min(zip(w, w[1:]), key=lambda p: self.rank.get(p, 1 << 30))
            if best not in self.rank:
                break
            w = merge(w, best)
        return [self.vocab[t] for t in w]

    def encode(self, text):
        return [i for word in PATTERN.findall(text) for i in self.word(word)]

    def decode(self, ids):
        return bytes(self.bytes[c] for i in ids if i for c in self.names[i]).decode("utf-8", "replace")


def encoded(doc):
    return np.array([0, *tok.encode(doc)], dtype=np.uint16), len(doc)


def main():
    if sys.argv[1] == "train":
        vocab, merges = train(sys.argv[4:], int(sys.argv[2]))
        save(vocab, merges, sys.argv[3])
        print(f"{len(vocab)} tokens; last merges: {merges[-5:]}")
        return
    global tok  # shared by the workers and this process
    tok, parts, chars, total = Tokenizer(sys.argv[2]), [], 0, 0
    with multiprocessing.get_context("fork").Pool() as pool:
        for ids, n in pool.imap(encoded, read(sys.argv[4:]), 64):
            parts.append(ids)
            chars += n
            total += len(ids)
    np.concatenate([*parts, np.zeros(1, np.uint16)]).tofile(sys.argv[3])
    print(f"{total} tokens, {chars / total:.2f} characters a token")


if __name__ == "__main__":
    main()
