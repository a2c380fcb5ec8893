"""Trains the target, or the draft with the target as its teacher. An interrupted run can be resumed.

    train.py RUN --preset target --stream data/wide=0.7 --documents data/synth=0.3 --steps 5000
    train.py RUN --preset draft ... --teacher RUNS/target --share 0.9

Each text has a share of the rows: PREFIX.train.bin is trained on, and the loss on
PREFIX.held.bin, if it exists, is printed. A stream (books) is cut into windows at any
position; windows of documents (synthetic text) begin where a document begins.

The schedule counts steps rather than time, so a run that is paused, slowed down by other
work, or killed loses only time. RUN/checkpoint.pt holds the model, the optimizer, the
position in the data, and the log; the same command line continues from it. RUN/steps, if
it exists, overrides --steps and may be edited during training.
"""

import argparse
import json
import os
import pathlib
import queue
import threading
import time

import numpy as np
import torch

from model import PRESETS, Model
from optim import Optimizer
from run import Pretrained


class Books:
    """Windows of one stream of tokens. Each is used once per epoch, and each epoch cuts them at a different offset."""

    def __init__(self, path, seed):
        self.data, self.seed = np.fromfile(path, dtype=np.uint16), seed

    def window(self, t, at):
        """Returns the window at `at` {epoch, i, time} and advances `at`."""
        while True:
            r = np.random.default_rng((self.seed, at["epoch"]))
            offset = int(r.integers(0, 256))
            n = (len(self.data) - 1 - offset) // t
            if at.get("time") != t:  # if the window length changes, keep the share of the epoch that was already used
                at["i"], at["time"] = int(at["i"] * at.get("time", t) / t), t
            key = at["epoch"], t
            if getattr(self, "key", None) != key:
                self.key, self.order = key, r.permutation(n)
            if at["i"] < n:
                start = offset + int(self.order[at["i"]]) * t
                at["i"] += 1
                return self.data[start:start + t + 1]
            at["epoch"], at["i"] = at["epoch"] + 1, 0


class Documents:
    """Windows that begin at the start of a document, so that its start token has position 0."""

    def __init__(self, path, seed):
        self.data = np.fromfile(path, dtype=np.uint16)
        self.starts = np.flatnonzero(self.data == 0)

    def window(self, t, at):
        """Returns the window at `at` {epoch, i} and advances `at`. i counts tokens."""
        k = int(np.searchsorted(self.starts, at["i"]))
        if k == len(self.starts) or self.starts[k] + t + 1 > len(self.data):
            at["epoch"], at["i"], k = at["epoch"] + 1, 0, 0
        start = int(self.starts[k])
        # A document that is cut off at the end of a window is read whole at the start of the next one.
        end = start + t
        at["i"] = int(self.starts[np.searchsorted(self.starts, end, "right") - 1])
        if at["i"] <= start:
            at["i"] = end
        return self.data[start:start + t + 1]


def save(path, value):
    torch.save(value, f"{path}.part")
    os.replace(f"{path}.part", path)


def save_text(path, value):
    part = path.with_name(path.name + ".part")
    part.write_text(value)
    os.replace(part, path)


def factor(step, steps, warm, decay):
    """Returns the learning rate's factor: it warms up, holds, and falls linearly to zero over the last `decay` of the run."""
    return min(1.0, (step + 1) / warm, max(0.0, (steps - step) / (decay * steps)))


@torch.no_grad()
def held_out(model, sets, device, t=512, rows=8):
    """Returns the mean loss in nats per token on the first windows of each held-out set."""
    result = {}
    for name, data in sets.items():
        at = {"epoch": 0, "i": 0}
        w = np.stack([data.window(t, at) for _ in range(3 * rows)])
        result[name] = (float(np.mean([model.loss(*halves(w[i:i + rows], device)).item() for i in range(0, len(w), rows)])))
    return result


def halves(w, device):
    """Splits windows [rows, time + 1] into inputs and labels, [rows, time] each."""
    w = torch.from_numpy(w.astype(np.int64))
    if device == "cuda":
        w = w.pin_memory().to(device, non_blocking=True)
    return w[:, :-1].contiguous(), w[:, 1:].contiguous()


def ahead(make, n=4):
    """Yields the items of make(), which a thread produces up to n items in advance."""
    q = queue.Queue(n)

    def work():
        for x in make():
            q.put(x)
        q.put(None)

    threading.Thread(target=work, daemon=True).start()
    return iter(q.get, None)


def text(s):
    """PREFIX=SHARE"""
    prefix, _, share = s.partition("=")
    return prefix, float(share or 0)


def rows_of(step, rows, share):
    """Returns how many of a step's rows a text gets. Over several steps, the numbers match its share."""
    return int((step + 1) * rows * share + 1e-9) - int(step * rows * share + 1e-9)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("run")
    p.add_argument("--preset", default="target", choices=PRESETS)
    p.add_argument("--stream", type=text, action="append", default=[], metavar="PREFIX=SHARE", help="a stream and its share of the rows; may be repeated")
    p.add_argument("--documents", type=text, action="append", default=[], metavar="PREFIX=SHARE", help="documents and their share of the rows; may be repeated; leftover rows go to the last text with a share")
    p.add_argument("--steps", type=int, default=5000)
    p.add_argument("--tokens", type=int, default=8192, help="tokens per step")
    p.add_argument("--time", type=int, default=256, help="initial window length")
    p.add_argument("--long", type=int, default=512, help="final window length")
    p.add_argument("--long-from", type=float, default=0.85, help="share of the run after which the final window length is used")
    p.add_argument("--muon-lr", type=float, default=0.02)
    p.add_argument("--adam-lr", type=float, default=0.006)
    p.add_argument("--weight-decay", type=float, default=0.05)
    p.add_argument("--warm", type=int, default=100)
    p.add_argument("--decay", type=float, default=0.5)
    p.add_argument("--teacher", help="run folder of the target, or an exported folder")
    p.add_argument("--seconds", type=float, help="duration from which to compute the number of steps, using the rate of the first hundred")
    p.add_argument("--init", help="exported folder whose weights to start from, with the same tokenizer and the same or a smaller shape")
    p.add_argument("--share", type=float, default=0.9, help="weight of the teacher's distribution")
    p.add_argument("--threads", type=int, default=os.cpu_count())
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--every", type=int, default=250, help="steps between checkpoints")
    a = p.parse_args()

    torch.manual_seed(a.seed)
    torch.set_num_threads(a.threads)
    torch.set_flush_denormal(True)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    run = pathlib.Path(a.run)
    run.mkdir(parents=True, exist_ok=True)
    model = Model(PRESETS[a.preset]).to(device)
    if a.init:
        model.start_from(Pretrained(a.init).model)
    opt = Optimizer(model, a.muon_lr, a.adam_lr, a.weight_decay)
    texts = [(Books, *x) for x in a.stream] + [(Documents, *x) for x in a.documents]
    total = sum(share for _, _, share in texts)
    if not 0 < total < 1 + 1e-6:
        p.error(f"the shares of --stream and --documents add up to {total:g}, want more than 0 and at most 1")
    name = lambda prefix: pathlib.Path(prefix).name
    train = {name(prefix): kind(f"{prefix}.train.bin", a.seed) for kind, prefix, share in texts if share}
    shares = {name(prefix): share for _, prefix, share in texts if share}
    last = list(shares)[-1]
    held = {name(prefix): kind(f"{prefix}.held.bin", 0) for kind, prefix, _ in texts if pathlib.Path(f"{prefix}.held.bin").exists()}
    s = {"step": 0, "tokens": 0, "seconds": 0.0, "log": [], "at": {k: {"epoch": 0, "i": 0} for k in train}}
    if (run / "checkpoint.pt").exists():
        s = torch.load(run / "checkpoint.pt", map_location=device)
        model.load_state_dict(s.pop("model"))
        opt.load(s.pop("optimizer"))
        print(f"resumed at step {s['step']}", flush=True)
        for k in train:  # a text that was added since the checkpoint
            s["at"].setdefault(k, {"epoch": 0, "i": 0})
    teacher = None
    if a.teacher:
        if (pathlib.Path(a.teacher) / "config.json").exists():
            teacher = Pretrained(a.teacher).model.to(device)
        else:
            t = torch.load(pathlib.Path(a.teacher) / "checkpoint.pt", map_location=device)
            teacher = Model(PRESETS[t["arguments"]["preset"]]).to(device)
            teacher.load_state_dict(t["model"])
        teacher.requires_grad_(False)
    fast = device == "cuda"
    compute = torch.compile(model.loss, dynamic=False) if fast else model.loss
    hints = torch.compile(teacher.logits, dynamic=False) if fast and teacher else None
    print(f"{sum(q.numel() for q in model.parameters()):,} parameters on {device}", flush=True)

    def checkpoint():
        save(run / "checkpoint.pt", {**s, "model": model.state_dict(), "optimizer": opt.state(), "arguments": vars(a)})

    def total():
        return int((run / "steps").read_text()) if (run / "steps").exists() else a.steps

    def batches():
        """Yields (windows, the positions of the texts after them) for each step."""
        step, at = s["step"], {k: dict(v) for k, v in s["at"].items()}
        while step < total():
            t = a.long if step >= a.long_from * total() else a.time
            rows = a.tokens // t
            sources = [n for n, share in shares.items() for _ in range(rows_of(step, rows, share))][:rows]
            sources += [last] * (rows - len(sources))
            step += 1
            yield np.stack([train[n].window(t, at[n]) for n in sources]), {k: dict(v) for k, v in at.items()}

    smooth, clock, cpu, begun, first = None, time.time(), time.process_time(), time.time(), s["step"]
    for w, at in ahead(batches) if fast else batches():
        steps = total()
        x, y = halves(w, device)
        with torch.autocast(device, dtype=torch.bfloat16, enabled=fast):
            if fast and teacher:
                with torch.no_grad():
                    hint = hints(x)
                loss = compute(x, y, fused=False, hint=hint, share=a.share)
            else:
                loss = compute(x, y, fused=False if fast else None, teacher=teacher, share=a.share if teacher else 0.0)
        loss.backward()
        opt.step(factor(s["step"], steps, a.warm, a.decay))
        for q in model.parameters():
            q.grad = None
        s["step"] += 1
        s["at"] = at
        s["tokens"] += x.numel()
        loss = loss.detach()
        smooth = loss if smooth is None else 0.96 * smooth + 0.04 * loss
        if a.seconds and s["step"] == first + 40:
            marked = smooth.item() and time.time()
        if a.seconds and s["step"] == first + 140 and not (run / "steps").exists():
            pace = smooth.item() and (time.time() - marked) / 100
            save_text(run / "steps", str(s["step"] + int((begun + a.seconds - time.time()) / pace)))
        if s["step"] % 25 == 0:
            print(f"step {s['step']}/{steps} {s['tokens'] / 1e6:.1f}M tokens loss {smooth.item():.3f} epochs "
                  f"{' '.join(str(v['epoch']) for v in s['at'].values())} {25 * x.numel() / (time.time() - clock):.0f} tokens/s", flush=True)
            s["seconds"] += time.process_time() - cpu
            clock, cpu = time.time(), time.process_time()
        if s["step"] % a.every == 0 or s["step"] == steps:
            s["log"].append({"step": s["step"], "tokens": s["tokens"], "held_out": held_out(model, held, device)})
            print("  held out", {k: round(v, 3) for k, v in s["log"][-1]["held_out"].items()}, flush=True)
            checkpoint()
            clock = time.time()
    checkpoint()
    (run / "training.json").write_text(json.dumps({"arguments": vars(a), "steps": s["step"], "tokens": s["tokens"],
                                                   "processor_seconds": round(s["seconds"]), "log": s["log"]}, indent=1))


if __name__ == "__main__":
    main()
