"""The corpus in plain modern English: plain/*.txt.gz.

Each file holds texts, separated by lines that contain only "%%". The first line of each text,
"# form; seed", is not part of the text. A text may have slots, such as {girl} or {a:animal}, which
adds "a" or "an". A slot is filled with the same words throughout a text.

    python3 plain.py check                    measures the corpus, and lists texts that must be changed
    python3 plain.py write SEED [TIMES]       prints the documents: texts with slots TIMES times, each time refilled
    python3 plain.py held                     prints every 50th text without slots; write omits these
"""

import collections
import gzip
import json
import pathlib
import random
import re
import sys

HERE = pathlib.Path(__file__).parent
FORMS = set("story scene letter explanation howto talk description list school joke news".split())

FILLINGS = {
    "girl": """Maria Amara Lily Sofia Hana Zoe Priya Nora Fatima Chloe Ines Mei Grace Leila Anna Rosa Ivy
        Yara Emma Tess Noor Kim Ada Lucia Ruth Mina Clara Aisha Jade Elif""".split(),
    "boy": """Ben Omar Leo Mateo Kofi Sam Ravi Jack Finn Diego Hugo Tariq Noah Ken Luca Will Anton Jamal
        Theo Max Nico Adam Yusuf Paul Dev Oscar Eli Tom Ivan Marco""".split(),
    "woman": """Helen Teresa Joyce Carmen Irene Olga Martha Nadia Susan Ruthie Paula Gloria Wanda Denise
        Farah Linda""".split(),
    "man": """George Frank Ahmed Walter Luis Henry Victor Ray Stan Pedro Arthur Hassan Dennis Carl""".split(),
    "family": """Garcia Novak Brown Okafor Miller Chen Haddad Rossi Weber Silva Park Larsen Reed Khan Lopez
        Walsh""".split(),
    "town": """Millbrook Fairview Ashford Lakewood Eastport Riverton Maple~Hill Stonebridge Oakdale
        Westfield Harlow Pinewood""".split(),
    "animal": """fox bear owl rabbit deer wolf badger otter squirrel hedgehog raccoon beaver frog crow
        eagle moose""".split(),
    "pet": "cat dog hamster parrot rabbit turtle puppy kitten canary".split(),
    "color": "red blue green yellow purple orange white black brown gray pink".split(),
    "food": "soup pizza rice pasta bread cheese pancakes stew salad noodles cake".split(),
    "fruit": "apple orange pear banana plum peach mango lemon".split(),
    "thing": """key map button coin whistle notebook flashlight marble compass bell umbrella spoon ring
        candle""".split(),
    "number": "two three four five six seven eight nine".split(),
    "day": "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split(),
}
SLOT = re.compile(r"\{(?:([aA]):)?(\w+)\}")


def texts():
    """Yields the form and the text of each document."""
    for path in sorted((HERE / "plain").glob("*.txt.gz")):
        with gzip.open(path, "rt", encoding="utf-8") as f:
            for document in re.split(r"(?m)^%%\n", f.read()):
                head, _, text = document.strip().partition("\n")
                if text.strip():
                    yield head.removeprefix("# ").split(";")[0].strip(), text.strip()


def fill(text, rng):
    """Fills the slots of a text. Two slots of the same kind, such as girl and girl2, get different words."""
    chosen = {}
    for _, slot in SLOT.findall(text):
        if slot not in chosen:
            free = [w for w in FILLINGS[slot.rstrip("2")] if w.replace("~", " ") not in chosen.values()]
            chosen[slot] = rng.choice(free).replace("~", " ")

    def put(m):
        word = chosen[m[2]]
        vowel = word[0].lower() in "aeio" or word.startswith("umb")
        return word if not m[1] else m[1] + ("n " if vowel else " ") + word

    return SLOT.sub(put, text)


def words(text):
    return re.findall(r"[\w']+", text.lower())


def runs(text, n):
    w = words(text)
    return (tuple(w[i:i + n]) for i in range(len(w) - n + 1))


def check():
    documents, wrong = list(texts()), []
    kept = {
        r for name in ("modern.txt", "beginnings.tsv")
        for line in (HERE / name).read_text(encoding="utf-8").split("\n")
        for r in runs(line.split("\t")[-1], 8)
    }
    openings, forms, seen = collections.Counter(), collections.Counter(), {}
    for i, (form, text) in enumerate(documents):
        openings[" ".join(words(text)[:3])] += 1
        forms[form] += 1
        if form not in FORMS:
            wrong.append(f"unknown form {form!r}: {text[:40]!r}")
        wrong += [f"unknown slot {s!r}: {text[:40]!r}" for _, s in SLOT.findall(text) if s.rstrip("2") not in FILLINGS]
        wrong += [f"8 words that are kept for evaluation: {' '.join(r)!r}" for r in runs(text, 8) if r in kept]
        copied = {seen.setdefault(r, i) for r in runs(text, 13)} - {i}
        wrong += [f"13 words of {documents[j][1][:40]!r} again: {text[:40]!r}" for j in copied]
    wrong += [f"{n} texts begin with {o!r}" for o, n in openings.items() if n > max(2, len(documents) // 200)]
    different = collections.Counter(w for _, t in documents for w in words(t))
    print(f"{len(documents)} texts, {sum(len(t.split()) for _, t in documents)} words, {len(different)} different, "
          f"{sum(bool(SLOT.search(t)) for _, t in documents)} texts with slots")
    print(", ".join(f"{form} {n}" for form, n in forms.most_common()))
    print("\n".join(wrong) or "nothing to change")
    return bool(wrong)


def held():
    """The texts that are held out of training."""
    return [text for _, text in texts() if not SLOT.search(text)][::50]


def write(seed, times):
    rng, kept = random.Random(seed), set(held())
    documents = [
        fill(text, rng) for _, text in texts() if text not in kept
        for _ in range(times if SLOT.search(text) else 1)
    ]
    rng.shuffle(documents)
    show(documents)


def show(documents):
    for document in documents:
        print(json.dumps(document, ensure_ascii=False))


if __name__ == "__main__":
    if sys.argv[1:] == ["check"]:
        sys.exit(check())
    if sys.argv[1:] == ["held"]:
        show(held())
    elif sys.argv[1:2] == ["write"] and len(sys.argv) in (3, 4):
        write(int(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 1)
    else:
        sys.exit(__doc__)
