"""The mean of the weights of runs of the same shape that share a beginning (Izmailov
et al. 2018), as a run that can be exported or teach. It cannot be trained on: there is
no state of the optimizer that would fit it.

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
        sys.exit("the runs differ in shape")
    mean = {k: sum(s["model"][k].double() for s in states).div(len(states)).float() for k in shapes[0]}
    out.mkdir(parents=True, exist_ok=True)
    there = out / "checkpoint.pt"
    if there.exists() and "optimizer" in torch.load(there, map_location="cpu"):
        sys.exit(f"{there} is of a run that was trained; a mean is not put in its place")
    torch.save({"model": mean, "arguments": states[-1]["arguments"], "step": states[-1]["step"]}, there)
    steps = ", ".join(f"{r} at step {s['step']}" for r, s in zip(runs, states))
    print(f"{out}: the mean of {steps}")


if __name__ == "__main__":
    main()
