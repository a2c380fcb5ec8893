"""Writes the synthetic part of the training text, one JSON string per line.

The books teach style but few facts. These documents give a small model facts that it
can be certain of, positions at which it must be uncertain, texts that end, dialogue turns,
and the markers that stop strings match. All of it is this project's own text.

usage: synth.py DOCUMENTS SEED [alone] > synth.jsonl    (alone: only facts)
"""

import json
import random
import sys

from facts import CAPITALS, DAYS, KINDS, LETTERS, MONTHS, NUMBERS, article, cap
from statements import NAMES, pick_fact, question, statement
from stories import BEASTS, PLACES, THINGS, expand, story


def held_sum(x, y):
    """Whether a two-digit sum is held out. One sum in twenty is never trained on; evaluate.py uses
    these sums as prompts."""
    return x > 9 and y > 9 and (x * 31 + y * 17) % 20 == 0


def operands(r):
    """Returns the operands of a sum. Half of the sums have single digits, which the model should memorize."""
    if r.random() < 0.5:
        return r.randrange(10), r.randrange(10)
    return r.choice([r.randrange(0, 20), r.randrange(10, 100)]), r.choice([r.randrange(0, 20), r.randrange(10, 100)])


def calculation(r):
    """Returns (left side, result) in digits."""
    while True:
        op = r.choice("+++--*")
        x, y = operands(r)
        if op == "+" and not held_sum(x, y):
            return f"{x} + {y}", x + y
        if op == "-" and x >= y:
            return f"{x} - {y}", x - y
        if op == "*":
            x, y = r.randrange(0, 11), r.randrange(0, 11)
            return f"{x} * {y}", x * y


WORDS = {"+": ["plus", "and"], "-": ["minus", "less"], "*": ["times"]}


def in_words(r):
    while True:
        op = r.choice("++-*")
        x, y = r.randrange(11), r.randrange(11)
        z = {"+": x + y, "-": x - y, "*": x * y}[op]
        if 0 <= z <= 20:
            return f"{NUMBERS[x]} {r.choice(WORDS[op][:1 if r.random() < 0.8 else 2])} {NUMBERS[y]}", NUMBERS[z]


def sums(r):
    x = r.random()
    if x < 0.55:
        return "\n".join(f"{a} = {b}" for a, b in (calculation(r) for _ in range(r.choice([1, 1, 2, 3, 5, 8, 12]))))
    if x < 0.7:
        return " ".join(f"{cap(a)} is {b}." for a, b in (in_words(r) for _ in range(r.randrange(1, 4))))
    if x < 0.85:
        a, b = calculation(r)
        return r.choice([f"What is {a}?\n{b}", f"{a} is {b}.", f"Q: What is {a}?\nA: {b}", f"Question: {a}\nAnswer: {b}",
                         f"Work it out: {a} = {b}", f"{a} = {b}."])
    n, step = r.randrange(1, 30), r.choice([1, 1, 2, 3, 5, 10])
    return ", ".join(str(n + i * step) for i in range(r.randrange(5, 12)))


PLURAL = "apples pears nuts eggs books coins stones flowers buttons shells cakes stamps".split()


def word_problem(r):
    name, thing = r.choice(NAMES), r.choice(PLURAL)
    x, y = r.randrange(1, 10), r.randrange(1, 10)
    if r.random() < 0.5:
        text = expand(f"{name} has {x} {thing} and {{finds|buys|gets}} {y} more.", r)
        return f"{text} How many {thing} does {name} have?", f"{x} + {y} = {x + y}", x + y
    x, y = max(x, y), min(x, y)
    text = expand(f"{name} has {x} {thing} and {{loses|gives away|sells}} {y}.", r)
    return f"{text} How many {thing} are left?", f"{x} - {y} = {x - y}", x - y


def any_question(r):
    """Returns (question, short answer, full answer) of any kind, including arithmetic."""
    x = r.random()
    if x < 0.78:
        return question(r)
    if x < 0.88:
        a, b = calculation(r)
        return f"What is {a}?", str(b), f"{a} = {b}"
    if x < 0.95:
        a, b = in_words(r)
        return f"What is {a}?", cap(b), f"{cap(a)} is {b}."
    q, work, b = word_problem(r)
    return q, str(b), f"{work}"


def facts(r):
    x = r.random()
    if x < 0.3:
        return statement(r)
    if x < 0.75:
        return " ".join(statement(r) for _ in range(r.randrange(3, 9)))
    rel, entry = pick_fact(r)
    return " ".join(dict.fromkeys(statement(r, rel, entry) for _ in range(3)))


def answers(r):
    x, n = r.random(), r.randrange(1, 5)
    qs = [any_question(r) for _ in range(n)]
    if x < 0.3:
        q, a, full = qs[0]
        return f"{q}\n{full if r.random() < 0.7 else a + ('.' if a[-1].isalpha() else '')}"
    if x < 0.42:
        q, a, full = qs[0]
        return f"{q} {full}"
    if x < 0.74:
        return "\n".join(f"Q: {q}\nA: {a}" for q, a, _ in qs)
    if x < 0.8:
        return "\n\n".join(f"Question: {q}\nAnswer: {a if r.random() < 0.5 else full}" for q, a, full in qs)
    if x < 0.93:
        return "\n".join(f"Question: {q}\n<answer>{a}</answer>" for q, a, _ in qs[:2])
    q, work, b = word_problem(r)
    return f"Question: {q}\nThink: {work}.\n<answer>{b}</answer>"


HELLO = "Hello!|Hi.|Good morning.|Hello, can you help me?|Good evening.|Hi there!|Hey!|Good day.".split("|")
HELLO_BACK = ("Hello! How can I help you?|Hello! What would you like to know?|Good day! What can I do for you?|Of course. What is your question?|"
              "Hi! Ask me anything.").split("|")
THANKS = "Thank you!|Thanks.|Thank you very much.|Thanks, that helps.|That is all. Thank you.|Great, thanks!".split("|")
THANKS_BACK = "You are welcome.|You are welcome!|I am glad to help.|Any time. Goodbye!|My pleasure.".split("|")
CHAT = [("How are you?", "I am well, thank you.|Very well, thank you. And you?|I am fine."),
        ("What is your name?", "I have no name. I am a small model.|I am a small language model."),
        ("Who are you?", "I am a small model that writes text.|I am a model that writes one token at a time."),
        ("What can you do?", "I can answer short questions and tell small stories.|I can tell a story or answer a question."),
        ("Tell me a joke.", "Why did the clock laugh? It had a good time.|What has hands but cannot clap? A clock.|What gets wet while it dries? A towel."),
        ("What is the weather like?", "I cannot see the sky from here.|I do not know. Look out of the window."),
        ("Can you sing?", "No, but I can write a song.|I cannot sing, but I can write."),
        ("Do you like stories?", "Yes, I like stories very much.|Yes. Shall I tell you one?"),
        ("What is a token?", "A token is a small piece of text.|A token is a piece of a word, or a whole word."),
        ("What is a language model?", "A language model is a program that guesses the next token.|It is a program that predicts the next piece of a text."),
        ("What should I cook today?", "Make a soup with carrots and onions.|How about bread, cheese and apples?|You could bake a small cake."),
        ("I am sad.", "I am sorry. Would you like to hear a story?|I am sorry to hear that."),
        ("I am bored.", "Then go out and look for something new.|Shall I tell you a story?"),
        ("Where should I travel?", "Go to the sea and listen to the waves.|You could visit $C.|Why not see $C?"),
        ("Give me a name for my $B.", "How about $N?|I like the name $N.|Call it $N."),
        ("Name three animals.", "A $B, a $B and a $B."), ("Name three fruits.", "An apple, a pear and a plum.|A cherry, a lemon and a peach."),
        ("Name a country in Europe.", "France is a country in Europe.|Spain is a country in Europe.|Poland is a country in Europe."),
        ("Say something nice.", "You ask good questions.|It is good that you are here."),
        ("Good night.", "Good night! Sleep well.|Good night and sweet dreams.")]


def small(text, r):
    while "$B" in text:
        text = text.replace("$B", r.choice(BEASTS), 1)
    return text.replace("$N", r.choice(NAMES)).replace("$C", r.choice(CAPITALS)[1]).replace("a owl", "an owl").replace("A owl", "An owl").replace(
        "a otter", "an otter").replace("A otter", "An otter")


def exchange(r):
    x = r.random()
    if x < 0.74:
        q, _, full = any_question(r)
        return q, full
    if x < 0.93:
        q, a = r.choice(CHAT)
        return small(q, r), small(r.choice(a.split("|")), r)
    return r.choice(["Tell me a story.", "Please tell me a story.", f"Tell me a story about {article(r.choice(BEASTS))}.", "Can you tell me a short story?"]), None


def dialogue(r):
    """Returns a dialogue that ends. After the first answer, the user continues two times in three, and soon says thanks."""
    turns, greeted = [], r.random() < 0.3
    if greeted:
        turns.append((r.choice(HELLO), r.choice(HELLO_BACK)))
    while True:
        q, a = exchange(r)
        if a is None:
            if q.startswith("Tell me a story about"):
                beast = q.rstrip(".").split()[-1]
                a = next(s for s in (story(r) for _ in range(10000)) if f" {beast}" in s[:120])
            else:
                a = story(r)
        turns.append((q, a))
        if len(a) > 200 or len(turns) > 3:
            break
        x = r.random()
        if x < (0.1 if greeted and len(turns) < 3 else 0.3):
            break
        if x < 0.7:
            turns.append((r.choice(THANKS), r.choice(THANKS_BACK)))
            break
    return "\n".join(f"User: {q}\nAssistant: {a}" for q, a in turns)


GOOD = "wonderful lovely great delightful excellent beautiful funny charming perfect superb".split()
BAD = "terrible boring awful dull dreadful silly ugly poor disappointing horrible".split()
SUBJECT = "film book play song story meal hotel game picture shop concert journey cake museum".split()
TOPICS = {"weather": "Rain is expected in the {north|south|west}.|It will be {sunny|cloudy|windy} tomorrow.|Snow fell all {night|day}.|A storm is coming from the sea.",
          "food": "The soup was {hot|salty|good}.|Add {salt|butter|sugar} and stir.|We ate {bread|fish|rice} for {lunch|dinner}.|The cake is in the oven.",
          "sport": "The team won by {two|three} goals.|She ran the race in {ten|twelve} minutes.|The {match|game} begins at {six|eight}.|He jumped higher than the rest.",
          "travel": "The train to the {coast|city} is late.|We packed our bags for the {journey|trip}.|The ship leaves at {noon|nine}.|Our hotel is near the {station|harbour}.",
          "school": "The {lesson|class} begins at {eight|nine}.|The teacher wrote on the board.|We must learn {ten|twenty} words.|The pupils opened their books.",
          "music": "She plays the {violin|flute|piano}.|The {choir|band} sang two songs.|The drum was too loud.|He tuned his guitar."}


def labels(r):
    x = r.random()
    if x < 0.5:
        def review():
            good = r.random() < 0.5
            word, thing = r.choice(GOOD if good else BAD), r.choice(SUBJECT)
            text = r.choice([f"The {thing} was {word}.", f"What {article(word)} {thing}!", f"I {'loved' if good else 'hated'} this {thing}.",
                             f"{cap(article(word))} {thing}. I {'would go again' if good else 'want my money back'}.",
                             f"I thought the {thing} was {word}.", f"{'A joy' if good else 'A waste of time'}. The {thing} was {word}."])
            return f"Review: {text}\nSentiment: {'positive' if good else 'negative'}"
        return "\n\n".join(review() for _ in range(r.randrange(1, 5)))
    if x < 0.75:
        def topic():
            t = r.choice(list(TOPICS))
            return f"Text: {expand(r.choice(TOPICS[t].split('|') if '{' not in TOPICS[t] else split(TOPICS[t])), r)}\nTopic: {t}"
        return "\n\n".join(topic() for _ in range(r.randrange(1, 4)))
    if x < 0.9:
        return "\n".join(f"{x} -> {k}" for x, k in r.sample(KINDS, r.randrange(3, 7)))
    return "\n".join(f"{NUMBERS[i]} -> {i}" for i in (r.randrange(21) for _ in range(r.randrange(3, 8))))


def split(text):
    """Splits a text at the bars that are not inside braces."""
    parts, depth = [""], 0
    for ch in text:
        depth += {"{": 1, "}": -1}.get(ch, 0)
        if ch == "|" and depth == 0:
            parts.append("")
        else:
            parts[-1] += ch
    return parts


def record(r):
    name, age, pet, city = r.choice(NAMES), r.randrange(4, 80), r.choice(BEASTS), r.choice(CAPITALS)[1]
    thing, n = r.choice(PLURAL), r.randrange(1, 20)
    x = r.randrange(6)
    if x == 0:
        return f"{name} is {age} years old, lives in {city} and has a {pet}.\n" + json.dumps({"name": name, "age": age, "city": city, "pet": pet})
    if x == 1:
        return json.dumps({"name": name, "age": age, "pet": pet})
    if x == 2:
        return json.dumps({"item": thing, "count": n, "open": r.random() < 0.5})
    if x == 3:
        c, t = r.choice(CAPITALS)
        return json.dumps({"country": c, "capital": t})
    if x == 4:
        return "[" + ", ".join(json.dumps({"name": m, "age": r.randrange(4, 80)}) for m in r.sample(NAMES, r.randrange(2, 4))) + "]"
    return json.dumps({"name": name, "likes": r.sample(PLURAL, r.randrange(2, 4))}, indent=1)


def lists(r):
    x = r.randrange(9)
    if x == 0:
        a = r.randrange(0, 14)
        return ", ".join(NUMBERS[a:a + r.randrange(4, 8)]) + "."
    if x == 1:
        return r.choice(["The days of the week are ", "Days: "]) + ", ".join(DAYS[:-1]) + " and Sunday."
    if x == 2:
        return r.choice(["The months of the year are ", "Months: "]) + ", ".join(MONTHS[:-1]) + " and December."
    if x == 3:
        a = r.randrange(0, 20)
        return ", ".join(LETTERS[a:a + r.randrange(5, 12)])
    if x == 4:
        k = r.choice(sorted({k for _, k in KINDS}))
        items = [i for i, j in KINDS if j == k]
        return f"{cap(k)}s: " + ", ".join(r.sample(items, min(len(items), r.randrange(3, 7)))) + "."
    if x == 5:
        items = r.sample("bread milk butter eggs cheese apples rice salt sugar flour tea honey carrots onions soap candles".split(), r.randrange(3, 7))
        return r.choice(["Shopping list:", "To buy:", "We need:"]) + "\n" + "\n".join(f"- {i}" for i in items)
    if x == 6:
        steps = r.choice(RECIPES)
        return steps[0] + "\n" + "\n".join(f"{i}. {expand(s, r)}" for i, s in enumerate(steps[1:], 1))
    if x == 7:
        return "\n".join(f"{i}. {n}" for i, n in enumerate(r.sample(NAMES, r.randrange(3, 7)), 1))
    w = r.choice("rain wind snow bell drum river wheel fire".split())
    v = {"rain": "fell", "wind": "blew", "snow": "fell", "bell": "rang", "drum": "beat", "river": "ran", "wheel": "turned", "fire": "burned"}[w]
    return f"The {w} {v} and {v} and {v}, " + " ".join([f"and the {w} {v} and {v}," for _ in range(r.randrange(1, 4))]) + f" until {r.choice(['morning', 'night', 'all was still', 'the end'])}."


RECIPES = [("How to make tea:", "Boil some water.", "Put the {tea|leaves} in a pot.", "Pour the water into the pot.", "Wait for {three|five} minutes.", "Drink it {slowly|while it is hot}."),
           ("How to plant a seed:", "Fill a pot with earth.", "Make a small hole.", "Put the seed into the hole.", "Cover it and {water it|give it water}.", "Put the pot in the {sun|window}."),
           ("How to bake bread:", "Mix flour, water and salt.", "Add the yeast and wait for an hour.", "Shape the {bread|loaf}.", "Bake it for {thirty|forty} minutes.", "Let it cool."),
           ("How to write a letter:", "Take a pen and paper.", "Write the date.", "Greet your {friend|reader}.", "Say what you have to say.", "Sign your name."),
           ("How a model writes:", "Read the tokens so far.", "Compute a number for every token.", "Turn the numbers into probabilities.", "Pick one token.", "Add it to the text and begin again."),
           ("How to build a kite:", "Cross two sticks.", "Tie them with string.", "Glue paper over the sticks.", "Add a {long|red} tail.", "Run with it in the wind.")]


def code(r):
    f = r.choice("add join total count find make show area scale next_step".split())
    a, b = r.sample("a b x y n m left right size width".split(), 2)
    n, k = r.randrange(2, 10), r.randrange(1, 10)
    op = r.choice("+-*")
    x = r.randrange(8)
    if x == 0:
        return f"def {f}({a}, {b}):\n    return {a} {op} {b}\n"
    if x == 1:
        return f"for i in range({n}):\n    print(i)\n"
    if x == 2:
        return f"{a} = {n}\n{b} = {k}\nprint({a} + {b})  # {n + k}\n"
    if x == 3:
        return f"if {a} > {b}:\n    print(\"{a} is larger\")\nelse:\n    print(\"{b} is larger\")\n"
    if x == 4:
        return f"def {f}({a}):\n    if {a} == 0:\n        return {k}\n    return {f}({a} - 1) + {n}\n"
    if x == 5:
        return f"<h1>{cap(r.choice(BEASTS))}</h1>\n<p>{statement(r)}</p>\n"
    if x == 6:
        return f"func {f}({a}, {b} int) int {{\n\treturn {a} {op} {b}\n}}\n"
    return f"{a} = [{', '.join(str(r.randrange(10)) for _ in range(r.randrange(3, 6)))}]\nfor {b} in {a}:\n    print({b})\n"


def note(r):
    """Returns a letter, a diary page, a report or a description."""
    n, m, b = r.choice(NAMES), r.choice(NAMES), r.choice(BEASTS)
    p, t, c = r.choice(PLACES), r.choice(THINGS), r.choice(CAPITALS)[1]
    x = r.randrange(6)
    if x == 0:
        body = (f"Dear {n},\n\n{{Thank you for the {t}|I have {article(t)} for you|I found your {t}}}. {{It is very beautiful.|I am so happy.|You can fetch it on {r.choice(DAYS)}.}} "
                f"{{The weather here is {{fine|cold|wet}}.|We were {p} yesterday.|My {b} is well.}} {{Please write soon.|Come and see us.|I hope you are well.}}\n\nYour friend,\n{m}")
    elif x == 1:
        body = (f"{r.choice(DAYS)}, {r.randrange(1, 29)} {r.choice(MONTHS)}\n\n{{Today|This morning}} {{I went to {c}|I was {p}|I stayed at home}}. {{It rained all day.|The sun was shining.|It was cold.}} "
                f"{{I saw {article(b)}.|I found {article(t)}.|{n} came to see me.}} {{Tomorrow I will write more.|Now I am tired.|It was a good day.}}")
    elif x == 2:
        body = (f"Weather for {c}: {{sunny|cloudy|rain|snow|wind}}, {r.randrange(0, 31)} degrees. {{Tomorrow it will be warmer.|Tomorrow it will be colder.|The night will be clear.|Take an umbrella.}}")
    elif x == 3:
        body = (f"{n} is {{my friend|my neighbour|my cousin}}. {{{n} lives|{n} was born}} in {c}. {n} has {article(b)} and {article(t)}. {{We often play {p}.|We meet every {r.choice(DAYS)}.|I like {n} very much.}}")
    elif x == 4:
        body = (f"{{Lost|Found}}: {article(t)}, {p}. {{Please ask for {n}.|Please write to {n}.|Call {n} after {r.choice(NUMBERS[2:12])} o'clock.}}")
    else:
        body = (f"\"{{Where is|Have you seen}} {{my|the}} {t}?\" asked {n}.\n\n\"{{It is|I saw it|You left it}} {p},\" {{said|answered}} {m}.\n\n\"{{Thank you|Good|Then I must go and look}},\" said {n}.")
    return expand(body, r)


# Shares of the documents, not of the tokens: a story is as long as six other documents.
KINDS_OF_TEXT = [(story, 0.11), (facts, 0.43), (answers, 0.16), (dialogue, 0.09), (sums, 0.12), (labels, 0.02), (record, 0.02), (lists, 0.02),
                 (code, 0.01), (note, 0.02)]


def document(r):
    make = r.choices([k for k, _ in KINDS_OF_TEXT], [w for _, w in KINDS_OF_TEXT])[0]
    return make(r)


def alone(r):
    """Returns one or two facts and nothing else. Like the evaluation's prompts, they have no text before them."""
    return " ".join(statement(r) for _ in range(r.choice([1, 1, 2])))


def main():
    n, seed = int(sys.argv[1]), int(sys.argv[2])
    make = alone if sys.argv[3:] == ["alone"] else document
    r = random.Random(seed)
    for _ in range(n):
        sys.stdout.write(json.dumps(make(r), ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
