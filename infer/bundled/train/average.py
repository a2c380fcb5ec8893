"""Averages the weights of runs of the same shape that started from the same run (Izmailov
et al. 2018). The result is a run that can be exported or used as a teacher. It cannot be
trained further, since there is no matching optimizer state.

usage: average.py OUT RUN RUN...
"""

import pathlib
import sys

import torch


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    out, runs = pathlib.Path(sys.argv[1]), sys.argv[2:]
    states = [torch.load(pathlib.Path(r) / "checkpoint.pt", map_location="cpu") for r in runs]
    shapes = [{k: w.shape for k, w in s["model"].items()} for s in states]
    if any(s != shapes[0] for s in shapes):
        sys.exit("the runs have different shapes")
    mean = {k: sum(s["model"][k].double() for s in states).div(len(states)).float() for k in shapes[0]}
    out.mkdir(parents=True, exist_ok=True)
    there = out / "checkpoint.pt"
    if there.exists() and "optimizer" in torch.load(there, map_location="cpu"):
        sys.exit(f"{there} belongs to a trained run; it is not overwritten with a mean")
    torch.save({"model": mean, "arguments": states[-1]["arguments"], "step": states[-1]["step"]}, there)
    steps = ", ".join(f"{r} at step {s['step']}" for r, s in zip(runs, states))
    print(f"{out}: the mean of {steps}")


if __name__ == "__main__":
    main()
