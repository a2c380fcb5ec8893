"""Lets readers judge continuations without knowing which model wrote which.

    readers.py write OUT MODEL...        three continuations of each beginning by each exported model
    readers.py score OUT SCORES.tsv...   prints the results of the readers' scores

`write` makes OUT.tsv (number, beginning, continuation), shuffled, for the readers, and OUT.key.tsv
(number, model, kind of beginning, seed). For each number, a reader writes a line with the number, a
tab, and four digits, 1 for yes and 0 for no:

    grammatical   a native reader would accept every sentence
    subject       it stays with the subject of the beginning, with the same people and things
    no loop       no word or phrase is repeated again and again
    sense         each sentence can follow from the one before it

A continuation is good if all four digits are 1. Continuations are cut off after
60 tokens, which does not count as a fault.
"""

import collections
import csv
import pathlib
import random
import sys

from run import Pretrained

BEGINNINGS = pathlib.Path(__file__).with_name("beginnings.tsv")
SEEDS, TOKENS = (1, 2, 3), 60
SETTINGS = dict(temperature=0.7, top_p=0.9)
QUESTIONS = "grammatical", "subject", "no loop", "sense"


def rows(path):
    with open(path, encoding="utf-8", newline="") as f:
        return list(csv.reader(f, delimiter="\t"))


def save(path, lines):
    with open(path, "w", encoding="utf-8", newline="") as f:
        csv.writer(f, delimiter="\t", lineterminator="\n").writerows(lines)


def write(out, folders):
    beginnings, made = rows(BEGINNINGS)[1:], []
    for folder in folders:
        model = Pretrained(folder)
        for seed in SEEDS:
            texts = model.texts([b for _, b in beginnings], TOKENS, seeds=[seed] * len(beginnings), **SETTINGS)
            made += [(folder, kind, seed, b, text + (" [end]" if end else "")) for (kind, b), (text, end) in zip(beginnings, texts)]
    random.Random(len(made)).shuffle(made)
    save(f"{out}.tsv", [(n, b, text) for n, (_, _, _, b, text) in enumerate(made, 1)])
    save(f"{out}.key.tsv", [(n, folder, kind, seed) for n, (folder, kind, seed, _, _) in enumerate(made, 1)])


def score(out, files):
    key = {n: (folder, kind) for n, folder, kind, _ in rows(f"{out}.key.tsv")}
    readers = [{row[0]: row[1] for row in rows(f)} for f in files]
    for f, marks in zip(files, readers):
        if missing := [n for n in key if len(marks.get(n, "")) != 4]:
            sys.exit(f"{f}: four digits are missing for {', '.join(missing[:10])}")
    for folder in dict.fromkeys(folder for folder, _ in key.values()):
        mine = [n for n in key if key[n][0] == folder]
        print(f"{folder}: {len(mine)} continuations")
        for f, marks in zip(files, readers):
            each = ", ".join(f"{q} {percent(marks[n][i] == '1' for n in mine)}" for i, q in enumerate(QUESTIONS))
            print(f"  {f}: good {percent(marks[n] == '1111' for n in mine)}; {each}")
        good = {n: sum(marks[n] == "1111" for marks in readers) / len(readers) for n in mine}
        print(f"  mean of the readers: good {100 * sum(good.values()) / len(mine):.1f} %")
        kinds = collections.defaultdict(list)
        for n in mine:
            kinds[key[n][1]].append(good[n])
        print("  by kind: " + ", ".join(f"{k} {100 * sum(v) / len(v):.0f} %" for k, v in sorted(kinds.items())))
    if len(readers) == 2:
        a, b = readers
        print(f"both readers agree on {percent((a[n] == '1111') == (b[n] == '1111') for n in key)}")


def percent(found):
    found = list(found)
    return f"{100 * sum(found) / len(found):.1f} %"


if __name__ == "__main__":
    if len(sys.argv) > 3 and sys.argv[1] in ("write", "score"):
        {"write": write, "score": score}[sys.argv[1]](sys.argv[2], sys.argv[3:])
    else:
        sys.exit(__doc__)
