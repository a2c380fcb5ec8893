"""Turns Project Gutenberg's plain texts into documents, and holds some back.

    books.py list                                    what to download: id and title
    books.py clean FOLDER BOOKS.jsonl                FOLDER holds <id>.txt or pg<id>.txt
    books.py split BOOKS.jsonl[.gz] TRAIN.jsonl HELD.jsonl

A document is a chapter or a tale: one JSON string a line. Header, footer, contents
and notes of transcribers go; hard-wrapped lines are joined; quotation marks and
dashes become ASCII. The books are taken in the order of their titles, and the last
40 documents are never trained on.
"""

import gzip
import json
import pathlib
import re
import sys

TITLES = {
    11: "Alice's Adventures in Wonderland", 1597: "Andersen's Fairy Tales", 45: "Anne of Green Gables",
    225: "At the Back of the North Wind", 271: "Black Beauty", 7439: "English Fairy Tales", 778: "Five Children and It",
    2591: "Grimms' Fairy Tales", 1448: "Heidi", 2781: "Just So Stories", 514: "Little Women", 2557: "Old Mother West Wind",
    486: "Ozma of Oz", 16: "Peter Pan", 1450: "Pollyanna", 22816: "The Adventures of Buster Bear",
    500: "The Adventures of Pinocchio", 74: "The Adventures of Tom Sawyer", 503: "The Blue Fairy Book",
    3282: "The Brown Fairy Book", 2435: "The Crimson Fairy Book", 517: "The Emerald City of Oz", 3536: "The Enchanted Castle",
    902: "The Happy Prince and Other Tales", 236: "The Jungle Book", 3454: "The Lilac Fairy Book", 54: "The Marvelous Land of Oz",
    3027: "The Orange Fairy Book", 5615: "The Pink Fairy Book", 708: "The Princess and the Goblin", 1874: "The Railway Children",
    540: "The Red Fairy Book", 113: "The Secret Garden", 501: "The Story of Doctor Dolittle", 641: "The Violet Fairy Book",
    289: "The Wind in the Willows", 55: "The Wonderful Wizard of Oz", 640: "The Yellow Fairy Book",
    12: "Through the Looking-Glass", 120: "Treasure Island",
}
HELD = 40        # documents at the end that are held out
DROPPED = 1      # the one before them: an older split ran through it
SHORTEST = 1200  # characters; contents pages and title pages are shorter, chapters are not

ASCII = str.maketrans({"“": '"', "”": '"', "‘": "'", "’": "'", "—": "--", "–": "-", "…": "...", "\u00a0": " ", "_": ""})
BEGIN = re.compile(r"\*\*\*\s*START OF.*?\*\*\*", re.S)
FINISH = re.compile(r"\*\*\*\s*END OF|^End of (?:the )?Project Gutenberg", re.I | re.M)
NAMED = re.compile(r"(?i:chapter|story|part|adventure|book)\s+(?:[IVXLC]+|\d+|[A-Z][a-z]+|[A-Z]+)\b.{0,60}|[IVXLC]+\.?(?:\s+[A-Z].{0,50})?")
NOTES = ("[Illustration", "Gutenberg", "Transcriber")


def title(line):
    """A line that names a chapter, or stands in capitals and is not speech."""
    return bool(NAMED.fullmatch(line)) or (4 <= len(line) <= 70 and line.upper() == line and line[0].isalpha() and not line.endswith(("!", ",")))


def heading(lines):
    return len(lines) <= 2 and title(lines[0]) and (len(lines) == 1 or len(lines[1]) < 60)


def documents(raw):
    raw = raw.replace("\r\n", "\n").lstrip("\ufeff")
    begin, finish = BEGIN.search(raw), FINISH.search(raw)
    text = raw[begin.end() if begin else 0:finish.start() if finish else len(raw)].translate(ASCII)
    current = []
    for block in re.split(r"\n\s*\n", text) + ["CHAPTER I"]:
        lines = [s.strip() for s in block.splitlines() if s.strip()]
        if not lines or any(n in block for n in NOTES):
            continue
        if heading(lines):
            whole = "\n\n".join(current)
            if len(whole) > SHORTEST:
                yield whole
            current = []
            continue
        verse = len(lines) > 2 and max(map(len, lines)) < 52
        current.append(("\n" if verse else " ").join(lines))


def clean(folder, out):
    folder = pathlib.Path(folder)
    with open(out, "w", encoding="utf-8") as f:
        for number, title in sorted(TITLES.items(), key=lambda x: x[1]):
            path = next((p for p in (folder / f"{number}.txt", folder / f"pg{number}.txt") if p.exists()), None)
            if path is None:
                sys.exit(f"{folder}: neither {number}.txt nor pg{number}.txt ({title})")
            data = path.read_bytes()
            try:
                raw = data.decode("utf-8")
            except UnicodeDecodeError:
                raw = data.decode("latin-1")
            made = list(documents(raw))
            f.writelines(json.dumps(d, ensure_ascii=False) + "\n" for d in made)
            print(f"{title} ({number}): {len(made)} documents, {sum(map(len, made)):,} characters")


def split(source, train, held):
    opener = gzip.open if source.endswith(".gz") else open
    with opener(source, "rt", encoding="utf-8") as f:
        lines = f.readlines()
    pathlib.Path(train).write_text("".join(lines[:-HELD - DROPPED]), encoding="utf-8")
    pathlib.Path(held).write_text("".join(lines[-HELD:]), encoding="utf-8")
    print(f"{len(lines) - HELD - DROPPED} documents to train on, {HELD} held out")


if __name__ == "__main__":
    if sys.argv[1:2] == ["list"]:
        for number, title in sorted(TITLES.items(), key=lambda x: x[1]):
            print(number, title)
    elif len(sys.argv) == 4 and sys.argv[1] == "clean":
        clean(*sys.argv[2:])
    elif len(sys.argv) == 5 and sys.argv[1] == "split":
        split(*sys.argv[2:])
    else:
        sys.exit(__doc__)
