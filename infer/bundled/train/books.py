"""Converts Project Gutenberg's plain texts to documents, and holds some of them out.

    books.py list [FIRST|WIDE|UNSEEN]                books to download: number, title, author
    books.py clean FOLDER OUT [FIRST.jsonl[.gz]]     FOLDER holds <number>.txt or pg<number>.txt
    books.py short COUNT SEED OUT.jsonl IN.jsonl...  short texts of a few sentences from documents

A document is a chapter or a tale, written as one JSON string per line. Headers, footers,
tables of contents and transcribers' notes are removed, hard-wrapped lines are joined, and
quotation marks and dashes are converted to ASCII. `clean` writes four files:

    OUT/books.held.jsonl    the last 40 documents of the first forty books, never trained on
    OUT/books.train.jsonl   the rest of the first forty
    OUT/unseen.held.jsonl   documents of thirty randomly chosen books that are never trained on
    OUT/wide.train.jsonl    the wider list

A model that has seen the start of a text only in synthetic documents continues every text
as if it were one of them, and is far too confident. `short` extracts short texts that begin
as prose does, at a paragraph or a sentence.

Passages often occur in several books, such as collections, volumes and other editions.
A document that shares enough passages with an earlier one is dropped, and a document that
shares passages with a held-out one is never trained on.
"""

import gzip
import json
import pathlib
import re
import sys
import zlib

import numpy as np

LIST = pathlib.Path(__file__).with_name("books.tsv")  # part, number, title, author
HELD = 40        # number of held-out documents, at the end of the first forty books
DROPPED = 1      # number of documents dropped before them, because an older split cut through one
SHORTEST = 1200  # characters; tables of contents and title pages are shorter than this, chapters are not
PASSAGE = 12     # words; runs that two texts share by chance are shorter
SAMPLE = 8       # one in this many passages is remembered
COPIED = 0.2     # share of known passages above which a document counts as a copy
LEAKED = 3       # minimum number of passages shared with held-out text that excludes a document from training
SHORT = 30, 1200  # minimum and maximum length of a short text in characters
SENTENCES = 1, 1, 1, 2, 2, 3, 4, 6  # number of sentences in a short text; each entry is equally likely
UNSEEN = 2       # documents held out of each unseen book: the first two after a third of the book

ASCII = str.maketrans({"“": '"', "”": '"', "‘": "'", "’": "'", "—": "--", "–": "-", "…": "...", "\u00a0": " ", "_": ""})
BEGIN = re.compile(r"\*\*\*\s*START OF.*?\*\*\*", re.S)
FINISH = re.compile(r"\*\*\*\s*END OF|^End of (?:the )?Project Gutenberg", re.I | re.M)
NAMED = re.compile(r"(?i:chapter|story|part|adventure|book)\s+(?:[IVXLC]+|\d+|[A-Z][a-z]+|[A-Z]+)\b.{0,60}|[IVXLC]+\.?(?:\s+[A-Z].{0,50})?")
SENTENCE = re.compile(r"""(?<![A-Z][a-z]\.)(?<!Mrs\.)(?:(?<=[.!?])|(?<=[.!?]["']))\s+(?=["'A-Z])""")
NOTES = ("[Illustration", "Gutenberg", "Transcriber")


def title(line):
    """Whether a line names a chapter, or is in capitals and is not speech."""
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


def listed(part=None):
    """Returns the rows of books.tsv in order: [(part, number, title, author)]."""
    rows = [line.split("\t") for line in LIST.read_text(encoding="utf-8").splitlines()]
    return [(p, int(n), t, a) for p, n, t, a in rows if part in (None, p)]


def read(folder, number, name):
    path = next((p for p in (folder / f"{number}.txt", folder / f"pg{number}.txt") if p.exists()), None)
    if path is None:
        sys.exit(f"{folder}: neither {number}.txt nor pg{number}.txt ({name})")
    data = path.read_bytes()
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def prose(doc):
    """Whether a text is running text in English letters, rather than a table, an index or another alphabet."""
    return sum(c.isascii() for c in doc) > 0.99 * len(doc) and sum(c.isalpha() or c == " " for c in doc) > 0.92 * len(doc)


def passages(doc):
    """Returns the hashes of one in SAMPLE runs of PASSAGE words, chosen by hash so that every text
    yields the same runs."""
    words = re.findall(r"[a-z]+", doc.lower())
    if len(words) < PASSAGE:
        return []
    ids = np.array([zlib.crc32(w.encode()) for w in words], dtype=np.uint64)
    run = np.zeros(len(ids) - PASSAGE + 1, dtype=np.uint64)
    for i in range(PASSAGE):
        run = run * np.uint64(0x9E3779B97F4A7C15) + ids[i:len(ids) - PASSAGE + 1 + i]
    run ^= run >> np.uint64(29)
    return run[run % np.uint64(SAMPLE) == 0].tolist()


def write(path, docs):
    path.write_text("".join(json.dumps(d, ensure_ascii=False) + "\n" for d in docs), encoding="utf-8")
    print(f"{path}: {len(docs):,} documents, {sum(map(len, docs)):,} characters")


def clean(folder, out, first=None):
    folder, out = pathlib.Path(folder), pathlib.Path(out)
    out.mkdir(parents=True, exist_ok=True)
    if first:
        with (gzip.open if first.endswith(".gz") else open)(first, "rt", encoding="utf-8") as f:
            forty = [json.loads(line) for line in f]
    else:
        forty = [d for _, n, t, _ in listed("first") for d in documents(read(folder, n, t))]
    write(out / "books.held.jsonl", forty[-HELD:])
    write(out / "books.train.jsonl", forty[:-HELD - DROPPED])
    known = {p for d in forty for p in passages(d)}
    held = {p for d in forty[-HELD - DROPPED:] for p in passages(d)}

    unseen = []
    for _, n, t, _ in listed("unseen"):
        docs = [d for d in documents(read(folder, n, t)) if prose(d)]
        fresh = [d for d in docs if sum(p in known for p in passages(d)) < LEAKED]
        held.update(p for d in docs for p in passages(d))
        unseen += fresh[len(fresh) // 3:][:UNSEEN]
    write(out / "unseen.held.jsonl", unseen)

    wide, copies, leaks = [], 0, 0
    for _, n, t, _ in listed("wide"):
        for d in documents(read(folder, n, t)):
            ps = passages(d)
            if not prose(d) or not ps:
                continue
            if sum(p in held for p in ps) >= LEAKED:
                leaks += 1
            elif sum(p in known for p in ps) > COPIED * len(ps):
                copies += 1
            else:
                wide.append(d)
                known.update(ps)
    write(out / "wide.train.jsonl", wide)
    print(f"left out: {copies:,} copies, {leaks:,} that share passages with held-out text")


def short(doc, r):
    """Returns one to six sentences of a document. They start at a paragraph or, one time in three, at
    any sentence. If the paragraph is too short, whole paragraphs follow."""
    paragraphs = doc.split("\n\n")
    at = r.integers(len(paragraphs))
    sentences = SENTENCE.split(paragraphs[at])
    if r.random() < 1 / 3:
        sentences = sentences[r.integers(len(sentences)):]
    n = r.choice(SENTENCES)
    text = " ".join(sentences[:n])
    while len(sentences) < n and at + 1 < len(paragraphs):  # dialogue, which has many short paragraphs
        at += 1
        text += "\n\n" + paragraphs[at]
        sentences += SENTENCE.split(paragraphs[at])
    return text


def sample(count, seed, out, *files):
    docs = [json.loads(line) for f in files for line in open(f, encoding="utf-8")]
    r = np.random.default_rng(int(seed))
    sizes = np.array([len(d) for d in docs], dtype=float)
    texts = (short(docs[i], r) for i in r.choice(len(docs), 2 * int(count), p=sizes / sizes.sum()))
    write(pathlib.Path(out), [t for t in texts if SHORT[0] <= len(t) <= SHORT[1]][:int(count)])


if __name__ == "__main__":
    if sys.argv[1:2] == ["list"] and len(sys.argv) <= 3:
        for part, number, name, author in listed(sys.argv[2].lower() if len(sys.argv) == 3 else None):
            print(part, number, name, author, sep="\t")
    elif sys.argv[1:2] == ["clean"] and len(sys.argv) in (4, 5):
        clean(*sys.argv[2:])
    elif sys.argv[1:2] == ["short"] and len(sys.argv) > 5:
        sample(*sys.argv[2:])
    else:
        sys.exit(__doc__)
