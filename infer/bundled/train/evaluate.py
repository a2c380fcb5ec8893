"""Measures an exported pair, and optionally an older pair on the same texts, and prints the results.

usage: evaluate.py TARGET DRAFT --books HELD.jsonl [HELD.jsonl ...] --synth HELD.jsonl [--prose TEXTS.txt ...] [--old TARGET DRAFT] [--sections ...]
"""

import argparse
import json
import math
import pathlib
import re

import numpy as np
import torch

from facts import BLIND, RELATIONS, answer_of, held_prompts
from prompts import DIALOGUES, FORMS, QUESTIONS, SAMPLES, SETTINGS, VARIED
from run import Pretrained
from synth import held_sum

COMMON = dict(temperature=0.7, top_p=0.9)


@torch.no_grad()
def bits_of(p, docs, rows=8):
    """Returns (bits, UTF-8 bytes) of docs, computed in float32 in non-overlapping windows as long as the context."""
    bits, size, t, same = 0.0, 0, p.c.context, {}
    for doc in docs:
        ids = [0, *p.tok.encode(doc)]
        size += len(doc.encode())
        for i in range(0, len(ids) - 1, t):
            same.setdefault(min(t, len(ids) - 1 - i), []).append(ids[i:i + t + 1])
    for parts in same.values():  # windows of the same length go together
        for i in range(0, len(parts), rows):
            part = torch.tensor(parts[i:i + rows])
            z = torch.log_softmax(p.model.logits(part[:, :-1], isolate=False), -1)
            bits -= z.gather(2, part[:, 1:, None]).double().sum().item() / math.log(2)
    return bits, size


def probability(p, prompt, answer):
    """Returns the product of the probabilities of the answer's tokens after the prompt, at T = 1."""
    ids = [0, *p.tok.encode(prompt)]
    whole = ids + p.tok.encode(answer)
    z = torch.log_softmax(p.logits(whole[:-1]).double(), -1)
    return math.exp(sum(z[i - 1, whole[i]].item() for i in range(len(ids), len(whole))))


def next_distribution(p, prompt):
    q = torch.softmax(p.logits([0, *p.tok.encode(prompt)])[-1].double(), -1).numpy()
    order = np.argsort(-q)
    return [(p.tok.decode([int(i)]), float(q[i])) for i in order[:10]], float(-(q * np.log2(q + 1e-300)).sum())


def right(text, answer):
    text = text.lstrip()
    return text.startswith(answer) and not text[len(answer):len(answer) + 1].isalpha()


ANSWERS = {r.name: {answer_of(e) for e in r.entries} for r in RELATIONS}


def said(text, answer, answers):
    """Whether the sentence gives the answer, possibly after a few words ("called Rome", "the word mice"), and no other answer before it."""
    sentence = re.split(r"[.!?;\n]", text)[0]
    at = re.search(rf"\b{re.escape(answer)}\b", sentence)
    return bool(at) and not any(re.search(rf"\b{re.escape(a)}\b", sentence[:at.start()]) for a in answers - {answer})


def facts(p, show=0, blind=None):
    """Returns (number immediately right, number right immediately or within the sentence, number
    asked, immediately right by relation, wrong answers), with greedy decoding."""
    asked = held_prompts(blind)
    got = []
    for i in range(0, len(asked), 250):
        got += p.texts([q for _, q, _ in asked[i:i + 250]], 12, temperature=0)
    ok = [right(text, a) for (_, _, a), (text, _) in zip(asked, got)]
    late = [o or said(text, a, ANSWERS[name]) for (name, _, a), (text, _), o in zip(asked, got, ok)]
    by = {}
    for (name, _, _), o in zip(asked, ok):
        by.setdefault(name, []).append(o)
    wrong = [(q, a, t) for (_, q, a), (t, _), o in zip(asked, got, ok) if not o]
    return sum(ok), sum(late), len(ok), {k: f"{sum(v)}/{len(v)}" for k, v in by.items()}, wrong[:show]


def arithmetic(p):
    def score(sums):
        got = p.texts([f"{x} + {y} =" for x, y in sums], 5, temperature=0)
        return f"{sum(right(t.split(chr(10))[0], str(x + y)) for (t, _), (x, y) in zip(got, sums))}/{len(sums)}"
    single = [(x, y) for x in range(10) for y in range(10)]
    held = [(x, y) for x in range(10, 100) for y in range(10, 100) if held_sum(x, y)]
    return score(single), score(held[:: max(1, len(held) // 100)][:100])


def endings(p):
    """Returns the share of prompts whose text ends within 200 tokens, and the share of prompts for
    which each stop string fires first."""
    q = [f.format(x) for x in QUESTIONS for f in FORMS]
    rows = {}
    for name, s in (("greedy", dict(temperature=0)), ("T 0.7, top-p 0.9", COMMON)):
        rows["end of text, " + name] = [e for _, e in p.texts(q, 200, **s)]
        rows["stop 'User:', " + name] = ["User:" in t for t, _ in p.texts(DIALOGUES, 200, **s)]
        rows["stop '</answer>', " + name] = ["</answer>" in t for t, _ in p.texts([f"Question: {x}\n<answer>" for x in QUESTIONS], 60, **s)]
    lead = "Question: Which day comes after Sunday?\nAnswer: Monday\n\nQuestion: {}\nAnswer:"
    rows["stop blank line, T 0.7, top-p 0.9"] = ["\n\n" in t for t, _ in p.texts([lead.format(x) for x in QUESTIONS], 60, **COMMON)]
    return {k: f"{sum(v)}/{len(v)} ({100 * sum(v) / len(v):.0f} %)" for k, v in rows.items()}


def acceptance(target, draft):
    """Returns two measurements on text that the target generates at T = 1: the mean over positions of
    sum(min(p, q)), which is the chance that a token proposed by the draft is accepted, and the share
    of positions at which both models have the same most probable token."""
    made = target.generate(VARIED, 100, temperature=1.0, seeds=list(range(1, len(VARIED) + 1)))
    rows = []
    for prompt, (ids, end) in zip(VARIED, made):
        before = [0, *target.tok.encode(prompt)]
        whole = before + ids
        at = slice(len(before) - 1, len(whole) if end else len(whole) - 1)
        p = torch.softmax(target.logits(whole)[at], -1)
        q = torch.softmax(draft.logits(whole)[at], -1)
        rows.append((torch.minimum(p, q).sum(-1), (p.argmax(-1) == q.argmax(-1)).float()))
    a, b = torch.cat([r[0] for r in rows]), torch.cat([r[1] for r in rows])
    return (a.mean().item(), float(np.mean([r[0].mean().item() for r in rows])), b.mean().item(),
            float(np.mean([r[1].mean().item() for r in rows])), len(a))


SECTIONS = "size bits facts ends acceptance samples stories".split()


def main():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("target")
    a.add_argument("draft")
    a.add_argument("--books", nargs="+", required=True)
    a.add_argument("--synth", required=True)
    a.add_argument("--prose", nargs="*", default=[], help="files of short texts by other authors, separated by blank lines")
    a.add_argument("--old", nargs=2, metavar=("TARGET", "DRAFT"))
    a.add_argument("--documents", type=int, default=1000, help="number of synthetic documents to measure bits per byte on")
    a.add_argument("--threads", type=int, default=2)
    a.add_argument("--blind", nargs="*", default=sorted(BLIND), choices=sorted(BLIND), help="which sets of blind phrasings to evaluate")
    a.add_argument("--sections", nargs="+", default=SECTIONS, choices=SECTIONS)
    a = a.parse_args()
    torch.set_num_threads(a.threads)
    torch.set_flush_denormal(True)
    new = Pretrained(a.target), Pretrained(a.draft)
    old = tuple(map(Pretrained, a.old)) if a.old else None
    report = {"size": lambda: size(new), "bits": lambda: bits(new, old, a), "facts": lambda: knowledge(new, old, a.blind), "ends": lambda: ends(new, old),
              "acceptance": lambda: accepted(new, old), "samples": lambda: samples(new[0]), "stories": lambda: stories(new[0])}
    for name in a.sections:
        report[name]()
        print(flush=True)


def size(new):
    print("## Size")
    for name, p in zip(("target", "draft"), new):
        c = p.c
        print(f"{name}: {p.parameters:,} parameters; layers {c.layers}, width {c.dim}, heads {c.heads}, key/value heads {c.kv_heads}, "
              f"head size {c.head_dim}, feed-forward {c.ffn}, context {c.context}")
    for n in (1, 100, 512):
        t, d = new[0].c.cost(n), new[1].c.cost(n)
        print(f"multiply-adds of one cached step, {n} positions: target {t:,}, draft {d:,}: 1/{t / d:.2f}")


def bits(new, old, a):
    load = lambda path: [json.loads(line) for line in open(path, encoding="utf-8")]
    print("## Bits per byte")
    sets = [(f"unseen books, {pathlib.Path(path).name}", load(path)) for path in a.books] + [("unseen synthetic documents", load(a.synth)[:a.documents])]
    for path in map(pathlib.Path, a.prose):
        sets.append((f"unseen prose, {path.name}", path.read_text(encoding="utf-8").strip().split("\n\n")))
    models = [(role, new[i], old[i] if old else None) for i, role in enumerate(("target", "draft"))]
    total = {}
    for name, docs in sets:
        print(f"{name}: {len(docs)} documents, {sum(len(d.encode()) for d in docs):,} bytes", flush=True)
        for role, now, was in models:
            got = [bits_of(p, docs) for p in (now, was) if p]
            compare(role, got)
            if name.startswith("unseen books"):
                total.setdefault(role, []).append(got)
    if len(a.books) > 1:
        print("all unseen books together")
        for role, parts in total.items():
            compare(role, [tuple(map(sum, zip(*column))) for column in zip(*parts)])


def compare(role, got):
    """Prints the bits per byte of got: [(bits, bytes)] of the measured pair and, if there is one, of the old pair."""
    rates = [bits / size for bits, size in got]
    was = f"   handed-over {role}: {rates[1]:.4f}   difference {100 * (rates[0] / rates[1] - 1):+.1f} %" if len(rates) > 1 else ""
    print(f"  {role}: {rates[0]:.4f}{was}", flush=True)


def knowledge(new, old, blind):
    print("## Facts")
    asked = [("target", new[0]), ("draft", new[1])] + ([("handed-over target", old[0])] if old else [])
    for label, p in asked:
        n, late, total, by, wrong = facts(p, 12 if label == "target" else 0)
        print(f"{label}: {n} of {total} right, greedy, in phrasings that training never saw: {100 * n / total:.1f} %; {late} ({100 * late / total:.1f} %) within the sentence", flush=True)
        if label == "target":
            print("  by relation: " + ", ".join(f"{k} {v}" for k, v in by.items()))
            for q, want, got in wrong:
                print(f"  wrong: {q!r} -> {got!r}, not {want!r}")
    for number in blind:
        for label, p in asked:
            n, late, total, by, _ = facts(p, blind=number)
            print(f"{label}: {n} of {total} right in the blind phrasings, set {number}: {100 * n / total:.1f} %; {late} ({100 * late / total:.1f} %) within the sentence", flush=True)
            if label == "target":
                print("  by relation: " + ", ".join(f"{k} {v}" for k, v in by.items()))
    for label, p in asked:
        print(f"{label}: p(' Paris' | 'The capital of France is') = {probability(p, 'The capital of France is', ' Paris'):.4f}")
        top, h = next_distribution(p, "Once upon a time there was a")
        print(f"{label}: entropy after 'Once upon a time there was a' {h:.2f} bits: " + ", ".join(f"{t!r} {q:.3f}" for t, q in top))
        one, two = arithmetic(p)
        print(f"{label}: single-digit sums like '3 + 4 =' {one}; two-digit sums kept out of training {two}", flush=True)


def ends(new, old):
    print("## Ends and stops (within 200 tokens; within 60 for '</answer>' and the blank line)")
    for label, p in [("target", new[0])] + ([("handed-over target", old[0])] if old else []):
        for k, v in endings(p).items():
            print(f"{label}: {k}: {v}", flush=True)


def accepted(new, old):
    print(f"## Draft acceptance, T = 1, {len(VARIED)} varied prompts, up to 100 tokens each")
    for label, (t, d) in [("pair", new)] + ([("handed-over pair", old)] if old else []):
        al, alp, top, topp, n = acceptance(t, d)
        print(f"{label}: alpha {al:.4f} over {n} positions ({alp:.4f} as a mean over prompts); same top token {100 * top:.1f} % "
              f"({100 * topp:.1f} % as a mean over prompts)", flush=True)


def samples(p):
    print("## Samples, seed 1, up to 60 tokens")
    for prompt in SAMPLES:
        for name, s in SETTINGS:
            text, end = p.texts([prompt], 60, seeds=[1], **s)[0]
            print(f"[{name}] {json.dumps(prompt)} -> {json.dumps(text, ensure_ascii=False)}{' <end>' if end else ''}", flush=True)


def stories(p):
    print("## Twenty stories: 'Once upon a time there was a', T 0.7, top-p 0.9, seeds 1 to 20, up to 400 tokens")
    made = p.texts(["Once upon a time there was a"] * 20, 400, seeds=list(range(1, 21)), **COMMON)
    for seed, (text, end) in enumerate(made, 1):
        print(f"\nSeed {seed}{'' if end else ' (did not end)'}\n\nOnce upon a time there was a{text}", flush=True)
    print(f"\n{sum(e for _, e in made)} of 20 ended")


if __name__ == "__main__":
    main()
