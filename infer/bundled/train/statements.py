"""Statements and questions about facts: in a sentence, after an opening, or between two people."""

import re

from facts import CAPITALS, DAYS, HERE, MONTHS, RELATIONS, answer_of, article, cap, fill, never_train
from stories import BOYS, GIRLS

NAMES = GIRLS + BOYS
WEIGHTS = [r.weight for r in RELATIONS]
LEAD = ["I know that", "Remember that", "Everyone knows that", "It is true that", "I learned that", "They say that", "She said that",
        "He told me that", "We read that", "In the lesson we heard that", "The teacher wrote that", "Do not forget that", "Here is a fact:",
        "As you can see,", "Listen well:", "Yes,", "Well,", "Of course", "My father says that", "My sister thinks that", "At school we heard that", "In the newspaper I read that",
        "The old man told us that", "As far as we know,", "Look at this:", "On the farm they say that", "Grandfather explained that",
        "At the museum we saw that", "In this book it says that", "Children learn early that", "On this page you read that"]
LEADS = (HERE / "leads.txt").read_text().splitlines()  # written separately, like frames.tsv
TIMES = (HERE / "times.txt").read_text().splitlines()  # may precede statements about events, as their time or place
HAPPENS = {"sound", "home", "job", "food", "tool", "body"}
PROPER = set(NAMES) | {w for c, t in CAPITALS for w in (c.split()[0], t.split()[0])} | set(DAYS) | set(MONTHS) | {"I"}


def pick_fact(r):
    rel = r.choices(RELATIONS, WEIGHTS)[0]
    entries = rel.entries
    if rel.name in ("capital", "language", "continent") and r.random() < 0.3:
        entries = entries[:14]  # the best-known entries occur more often
    if rel.name == "capital" and r.random() < 0.06:
        entries = entries[:1]
    return rel, r.choice(entries)


def lower_first(text):
    return text if text.split()[0].strip(".,:'s") in PROPER or text.split()[0].rstrip("'s") in PROPER else text[0].lower() + text[1:]


NEVER = never_train()


def held_out(text):
    """Whether a text begins like one of the evaluation's prompts.

    All such texts are rejected, even if the answer does not come next. Otherwise, only texts
    in which it does not come next would remain ('The people of France speak a language called'),
    and the model would learn that no answer follows exactly these beginnings.
    """
    low = text.lower()
    return any(low[:m.end()] in NEVER for m in re.finditer(r"\w\b|[^\w\s](?=\s|$)", low))


def statement(r, rel=None, entry=None):
    """Returns a fact in one or two sentences that do not begin like one of the evaluation's prompts."""
    if rel is None:
        rel, entry = pick_fact(r)
    while True:
        text = any_statement(r, rel, entry)
        if not held_out(text):
            return text


def directness(frame):
    """Returns the weight of a frame: three times as high if the answer closely follows its subject.

    With equal weights, one in three frames that continue with '... $s is' would not give
    the answer there, but a word or two first ('called', 'the word', 'given as').
    """
    between = frame.lower().replace("$2", "$s").split("$a")[0].rsplit("$s", 1)[-1]
    return 3 if len(between.replace('"', " ").split()) <= 3 else 1


DIRECT = {rel.name: [directness(f) for f in rel.more] for rel in RELATIONS}


def any_statement(r, rel, entry):
    x = r.random()
    if x < 0.55 and rel.more:
        return fill(r.choices(rel.more, DIRECT[rel.name])[0], rel, entry)
    if x < 0.66:
        return spoken(r, rel, entry)
    frames = rel.says if x < 0.94 else rel.also
    text = fill(r.choice(frames), rel, entry)
    if frames is rel.says and ":" not in text:
        x = r.random()
        if rel.name in HAPPENS and x < 0.25:
            return f"{r.choice(TIMES)} {lower_first(text)}"
        if x < 0.55:
            return f"{r.choice(LEADS if r.random() < 0.7 else LEAD)} {lower_first(text)}"
    return text


ASKED = "asked|asked|asked|said|cried|wanted to know".split("|")
SAID = "said|said|answered|replied|cried|whispered|laughed|called".split("|")
FIRST = "thought for a moment and |laughed and |looked up and |smiled and |knew it and |||".split("|")
SOMEBODY = ["the teacher", "the boy", "the girl", "her mother", "his father", "her brother", "his sister", "the old man", "the old woman", "the king",
            "the queen", "the miller", "the farmer", "the child", "my aunt", "my uncle", "the sailor", "the stranger", "the class"]
IT_IS = {"capital", "language", "opposite", "plural", "past", "day after", "day before", "month after", "number after", "letter after", "colour"}
IT_IS_A = {"tool", "kind", "young"}


def spoken(r, rel, entry):
    """Returns a fact in direct speech, as in books."""
    one, two = r.sample(NAMES, 2) if r.random() < 0.5 else r.sample(SOMEBODY, 2)
    plain = [f for f in rel.says if ":" not in f and not f.startswith(("Go ", "Ask ", "How ", "Not ", "Say "))]
    asks, says, answer = fill(r.choice(rel.asks), rel, entry), fill(r.choice(plain), rel, entry), answer_of(entry)
    whole = f'"{says[:-1]}," {r.choice(SAID)} {two}.' if r.random() < 0.5 else f'"{says}"'
    if rel.name in IT_IS_A:
        answer = article(answer)
    it = r.choice([f"It is {answer}", f"Why, it is {answer}", f"I know, it is {answer}", f"That is {answer}"]) if rel.name in IT_IS | IT_IS_A else says[:-1]
    that = f"{r.choice(FIRST)}{r.choice(['said', 'said', 'answered', 'replied'])} that {lower_first(says)}"
    x = r.randrange(7)
    if x == 0:
        return whole if whole.endswith(".") else f"{cap(two)} said, {whole}"
    asks = asks if asks.endswith("?") else asks[:-1] + ("," if x < 4 else ".")
    question = f'"{asks}" {r.choice(ASKED)} {one}.' if x < 4 else f'{cap(one)} asked, "{asks}"'
    if x in (1, 4):
        return f"{question} {whole}"
    if x in (2, 5):
        return f'{question} "{it}," {r.choice(SAID)} {two}.' if r.random() < 0.6 else f'{question} "{it}."'
    return f"{question} {cap(two)} {that}"


def question(r, rel=None, entry=None):
    """Returns (question, short answer, full answer)."""
    if rel is None:
        rel, entry = pick_fact(r)
    answer = answer_of(entry)
    full = fill(rel.full or r.choice(rel.says[:2]), rel, entry)
    if rel.name in ("young", "home", "tool", "kind"):
        answer = article(answer)
    return fill(r.choice(rel.asks), rel, entry), cap(answer), full
