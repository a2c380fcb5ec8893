"""Short stories. Each has an end, and the hero and the thing stay the same from beginning to end.

A plot is text in a tiny grammar: {a|b|c} selects one alternative and can be nested; $h is
the hero ("Lily" or "the fox"), $H is the same at the start of a sentence, $t is the thing,
$f is the friend, and $p and $q are two places with their prepositions. The alternatives are
chosen independently, so each plot gives many thousands of different texts.
"""

import re

GIRLS = """Lily Anna Mia Rose Clara Ella Nora Ivy Ruth Maya Zoe Sara Alice Grace Wendy June Ada Nina Tess Lucy Molly Jane Kate
Emma Dora Elsa Greta Hanna Ines Leah Mary Olga Polly Rita Stella Vera""".split()
BOYS = """Tom Ben Max Sam Leo Jack Finn Hugo Noah Omar Peter Ravi Will Eric Paul Adam Carl Theo Luke Dan Oscar Ned Felix Ivan
Jonas Karl Louis Mark Nils Otto Pablo Rolf Simon Tim Victor Walter""".split()
BEASTS = """fox rabbit bear mouse owl frog hedgehog squirrel turtle duck goat crow otter badger sparrow kitten puppy donkey snail
lamb hen pig horse robin beaver mole deer cat dog goose""".split()
PEOPLE = "king queen prince princess farmer miller tailor baker shepherd fisherman soldier giant wizard witch woodcutter sailor".split()
THE = "he she".split()
PLACES = """in the forest|in the garden|in the village|on the farm|by the river|by the sea|on the hill|at the market|by the lake|
in the meadow|at the mill|in the barn|behind the house|under the old bridge|in the park|near the well|at the edge of the wood|
in the orchard|on the beach|in the valley""".replace("\n", "").split("|")
HOMES = """in a small house|in a cottage by the sea|at the foot of a mountain|in a little town|near a deep forest|on a quiet farm|
by a wide river|in a hollow tree|under a hill|in a far country|in a stone tower|beside a mill|in a green valley|at the end of a
 long road|on an island""".replace("\n", "").split("|")
THINGS = """red ball|silver key|little boat|blue kite|wooden box|old map|gold ring|warm coat|paper lantern|glass bead|green hat|
brass bell|round stone|toy horse|picture book|jar of honey|loaf of bread|basket of apples|bag of seeds|small drum|tin whistle|
white feather|copper coin|clay pot|walking stick|woollen scarf|pocket watch|leather bag|magic lamp|old violin|wooden spoon|
yellow umbrella|sea shell|little mirror|ball of string|iron pan|pair of boots|bunch of flowers|cup of milk|straw basket""".replace("\n", "").split("|")
SMALL = "little small tiny young".split()
TRAIT = "kind brave clever gentle curious merry patient honest quiet cheerful poor good".split()
OLD = "old wise poor lonely tired rich proud lazy greedy handsome".split()


def article(noun):
    return ("an " if noun[0] in "aeiou" else "a ") + noun


def cap(text):
    return text[0].upper() + text[1:]


INNER = re.compile(r"\{([^{}]*)\}")
VARIABLE = re.compile(r"\$([A-Za-z]+)")


def expand(text, r):
    """Replaces every {a|b|c}, innermost first, with one of its alternatives."""
    while True:
        m = INNER.search(text)
        if not m:
            return text
        text = text[:m.start()] + r.choice(m.group(1).split("|")) + text[m.end():]


OPEN = ["Once upon a time there was $who {who lived $home|called $name|$p}. ",
        "Once upon a time there was $who. ", "Once upon a time, $who lived $home. ", "Once there was $who {$p|who lived $home}. ",
        "Long ago, $who lived $home. ", "There was once $who who lived $home. ", "One day $who {went for a walk|was walking} $p. ",
        "In a {house|village|town} far away lived $who. ", "This is the story of $who and $at. ", "$H lived $home. ",
        "A long time ago there lived $who. ", "Many years ago $who lived $home. "]
LOVE = ["$H had $at and {took it everywhere|loved it very much|was proud of it}. ", "$His best {friend|treasure} was $at. ",
        "Of all the things $he had, $he loved $his $t most. ", "Every day $he {played with|looked at|carried} $his $t. ",
        "$H was {kind|brave|poor|cheerful|careful}, and $he had $at. "]
WEATHER = ["{The sun was shining.|It was a cold morning.|It had rained all night.|The wind was blowing.|Snow lay on the fields.|"
           "It was a warm evening.|The sky was blue.|There was mist over the hills.|It was the first day of spring.} "]

PLOTS = {
    "lost": """{One day|One morning|Then one evening} {$h lost $his $t|the $t was gone|$h could not find $his $t}.
 {$He looked everywhere|$He looked under the bed and behind the door|$He searched $p}, but {it was not there|there was no $t}.
 {$He was very sad.|$He sat down and cried.|"What shall I do?" said $h.}
 {Just then|Soon|After a while} $af came by. {"Why are you {crying|so sad}?"|"What is the matter?"|"What have you lost?"} asked $f.
 {"I have lost my $t," said $h.|$H said, "My $t is gone."}
 {"{Do not worry|Dry your eyes}, I will help you," said $f.|$F said, "Let us look together."}
 {They looked $q, and there {it was|was the $t}!|They went $q, and at last they found the $t.|All afternoon they looked, and at
 last $f found the $t $q.} {"Thank you!" said $h.|$H {hugged $f|laughed for joy} and said, "Thank you, my friend."}
 {From that day on|After that} {$h never lost the $t again|$h kept the $t safe|$h and $f were friends}.""",
    "share": """{One day|One afternoon|On $his birthday} $h {found $at $q|was given $at|got $at}. {$He was very happy|$He jumped for joy|$He
 showed it to everybody}. {On the way home|Then|A little later} $he met $af. {"That is a {fine|beautiful|lovely} $t," said $f.|
$F looked at the $t. "I wish I had one too," $fhe said.} {At first $h {said no|held it tight|wanted to keep it}.|$H did not know what
 to say.} {But then $he saw how {sad|lonely} $f was.|But $f had nothing at all.} {"We can share it," said $h.|"Here," said $h, "you
 may have it today, and I will have it tomorrow."} {So they {shared the $t|took turns with the $t}.|$F smiled, and they shared
 the $t.} {It was {much better|more fun} with two.|And $h found that it was {nicer|better} to share.}""",
    "lantern": """{One night|Late in the evening} $h had to {go home alone|cross the dark wood|walk $p}. {It was dark|There was no moon|The
 stars were hidden}, and $he was {afraid|a little afraid}. {But $he had $his $t with $him.|$He held $his $t tight.} {Suddenly|All
 at once} $he heard a {noise|sound} {behind a tree|in the bushes|on the path}. {"Who is there?" {cried|called|asked} $h.|$H stood still.}
 {It was only $af|Out came $af}, {who had lost the way|who was cold and hungry|who was afraid too}. {"Please do not leave me
 here," said $f.|"Will you take me with you?" asked $f.} {"Come with me," said $h.|"We will go together," said $h.} {So they walked
 on, and neither was afraid any more.|They walked side by side, and the dark did not seem so deep.} {At last they saw a light in
 a window.|Before midnight they were home.} {$H put the $t by the bed and fell asleep.|$H put down the $t and they drank warm milk.}""",
    "race": """{Near $him|Not far away} lived $af who was very proud. {"I am {faster|better} than anyone," said $f.|$F said, "Nobody can {beat
 me|run as fast as I}."} {"Let us {see|have a race}," said $h.|$H said, "Then let us run a race."} {The prize was $at.|"Whoever wins shall
 have $at," they said.} {In the morning|The next day} they {began|set off} $p. {$F ran {fast|ahead}, but soon {stopped to rest|lay
 down to sleep|sat down to eat}.|$F was far ahead and laughed.} {$H went on, step by step.|$H did not stop once.} {When $f
 {woke|looked up}, it was too late.|In the end $f was too tired to run.} {So $h won the $t.|$H had won, and the $t was $his0.} {"I was
 {wrong|foolish}," said $f. "I will not {boast|be so proud} again."|$F was ashamed, but $h said, "Let us be friends."}""",
    "mend": """{One day|One morning} {the $t broke|$h dropped the $t and it broke|$h saw that $his $t was broken}. {"Oh no!" said $h.|$He did not
 know how to mend it.} {First $he asked|$He went to} $af, but {$f could not help|$f only shook $fhis head}. {"Ask the old carpenter
 $q," said $f.|"Perhaps the old carpenter $q can help," said $f.} So {off $he went|$h walked all the way}. {The carpenter looked at the $t {for a long time|carefully}.|"Let me see that $t," said the old carpenter.} {"I can mend it," came the answer, "but you must
 {help me first|carry my wood|feed my hens}."|"Nothing is so broken that it cannot be mended."} {$H worked {hard|all day}.|$H helped
 gladly.} {In the evening the $t was {as good as new|whole again}.} {$H thanked {them both|everyone} and went home {singing|happy}.|
"Thank you," said $h, and ran home with the $t.}""",
    "wish": """{One day|One evening} $h {found $at $q|was {digging|sitting} $q and found $at}. {It was no common $t.|There was something strange
 about the $t.} {When $he touched it, a voice said, "You may have {one wish|a wish}."|"I will give you one wish," said
 the $t.} {$H thought {for a long time|all night}.|$H did not know what to wish for.} {$He could wish for gold, or a {castle|ship}.|
Should $he ask for gold?} {Then $he saw $af {who was ill|who had no home|who was hungry}.|Then $f came by, cold and hungry.} {"I wish
 that $f may be {well|happy}," said $h.|"Please help $f," said $h.} {And so it was.|At once it came true.} {The $t never spoke again,
 but $h {was glad|did not mind|kept it always}.|$H never had another wish, but $he had a friend, and the $t stood {on the
 shelf|by the window}.}""",
    "journey": """{One day|When spring came} $h {wanted to see the world|set out to see the sea|said goodbye to $his mother}. {$He took $his $t
 and {a piece of bread|some cheese} and went.|$He packed $his $t in a bag.} {"Come back soon," said $his mother.|"Be careful," said $his
 father.} {The road was long.|$He walked for three days.|$He went over hills and through woods.} {$p $he met $af.|On the way $he
 met $af.} {"Where are you going?" asked $f.|"May I come with you?" asked $f.} {"To the end of the road," said $h.|"I want to see what
 is there," said $h.} {They went on together.|So they {walked|went} together, and $f told {stories|jokes}.} {One night a storm came, and
 they hid {in a cave|under a rock}, and the $t kept them {busy|cheerful}.|When they came to a river, the $t {helped them across|saved
 them}.} {At last $h stood {by the sea|on the last hill} and was happy.|At last they saw {the sea|a great city}, and it was more
 beautiful than any dream.} {Then $he took $his $t and went home, for home is best.|But in the end $he was glad to come home with
 $his $t.}""",
    "gift": """{It was winter, and $f was ill in bed.|Soon it was the birthday of $f.|$F was sad that year.} {$H wanted to give $f something.|"What can I
 give?" thought $h.} {$He had {no money|nothing} but $at.|All $he had was $at.} {$He {thought and thought|sat and thought}.|It was hard to give
 it away.} {In the end $he {wrapped the $t in paper|tied a ribbon round the $t} and {took|carried} it to $f.|So $he took the $t and went
 to $f.} {"For me?" {said|cried} $f. "It is just what I wanted!"|$F was so happy that $fhe {laughed|danced}.} {"You are a true
 friend," said $f.|"I will never forget this," said $f.} {And $h was {happier than before|happy too}.|And $h did not miss the
 $t at all.}""",
    "truth": """{One day|One afternoon} $h {borrowed $at from $f|took $at that belonged to $f}. {But $he {dropped|broke|lost} it.|By bad luck $he
 {dropped|lost} it $p.} {"Nobody saw it," thought $h.|$H was afraid to tell.} {"Have you seen my $t?" asked $f.|$F came and asked for
 the $t.} {"No," said $h, and felt {ill|ashamed}.|$H said nothing and went home.} {That night $he could not sleep.|All night $he lay
 awake.} {In the morning $he went to $f and told the truth.|At sunrise $he ran to $f. "It was I," $he said. "I am sorry."}
 {"I am glad that you told me," said $f.|"It takes courage to say so," said $f.} {Together they {looked for|mended} the $t, and {all was
 well|it was as good as before}.|They made a new $t together, and it was better than the old one.} {$H never {lied|told a lie} again.}""",
    "trap": """{One morning|One day} $h heard a cry $p. {There was $af in a {net|trap}.|It was $af, caught under a fallen tree.} {"Help me!" cried
 $f.|"Please let me out!" said $f.} {$H was {small|not strong}, but $he had $at.|$H looked round and took out $his $t.} {With the $t $he
 {worked for an hour|worked and worked}, until $f was free.|$He used the $t, and soon $f was free.} {"I will not forget it," said $f.|
"One day I will help you too," said $f.} {$H laughed. "How could you help me?"|Weeks went by.} {But in the winter $h {fell into the
 river|was lost in the snow|fell ill}.|Then one day the river rose, and $h could not get home.} {Who came? It was $f!|$F heard of it
 and came at once.} {$F {pulled $him out|carried $him home|brought $him food}.} {Now they were {even|friends}, and {the $t hung on the wall|the
 $t was theirs together}.|"A good deed comes back," said $h, and gave $f the $t.}""",
    "learn": """{One day|On a rainy day} $h found $at $q. {$He did not know {what it was for|how to use it}.|"What can I do with it?" said $h.}
 {$F laughed at $him.|"You will never learn," said $f.} {But $h tried {again and again|every day}.|$H did not give up.} {On Monday $he
 failed. On Tuesday $he failed again.|The first day went badly, and so did the second.} {But on {Sunday|the last day} it went
 well.|And one morning $he could do it.} {Everybody {came to see|clapped}.|People came {from the village|from far away} to see $h with the $t.}
 {"Will you teach me?" asked $f.|"I was wrong to laugh," said $f.} {"Gladly," said $h.|"Of course," said $h, and handed $f the $t.} {Slow
 work is good work.|And that is how they became friends.}""",
}
ENDS = ["{And they {lived happily|were friends} ever after.|The end.|And that was the end of that day.|They all went home and had supper.|"
        "That night $h slept soundly.|And if they have not moved away, they live there still.|And $h {never forgot it|told the story often}.|"
        "Then the moon came up, and all was still.}"]
MORALS = """A kind word costs nothing.|Slow and steady wins.|It is better to share than to keep.|A friend in need is a friend indeed.|
Look before you leap.|Pride comes before a fall.|The truth is always best.|Many hands make light work.|Small helpers can do great
 things.|He who waits too long goes hungry.""".replace("\n", "").split("|")


def story(r, opening=None):
    """Returns one story as text. opening selects the index in OPEN."""
    sort = r.random()
    if sort < 0.5:
        girl = r.random() < 0.5
        name = r.choice(GIRLS if girl else BOYS)
        kind = ("girl" if girl else "boy") if r.random() < 0.8 else ("princess" if girl else "prince")
        he = "she" if girl else "he"
    else:
        kind = r.choice(BEASTS if sort < 0.85 else PEOPLE)
        he = {"queen": "she", "princess": "she", "witch": "she", "hen": "she", "king": "he", "prince": "he"}.get(kind) or r.choice(THE)
        name = "the " + kind
    friend = r.choice([b for b in (BEASTS if r.random() < 0.85 else PEOPLE) if b != kind])
    fhe = r.choice(THE)
    adjective = "" if r.random() < 0.25 else r.choice(SMALL if r.random() < 0.5 else TRAIT if r.random() < 0.6 else OLD) + " "
    who = article(adjective + kind)
    if sort < 0.5:
        who += r.choice([" named ", " called ", " whose name was "]) + name
    thing = r.choice(THINGS)
    p, q = r.sample(PLACES, 2)
    frame = OPEN[opening] if opening is not None else r.choice(OPEN[:4] if r.random() < 0.45 else OPEN)
    if sort < 0.5:  # the name is already in $who
        frame = frame.replace("|called $name", "").replace("$H lived", r.choice(["$H lived", cap(who) + " lived"]))
    else:
        frame = frame.replace("|called $name", "|who had no name")
    text = frame
    if r.random() < 0.5:
        text += r.choice(LOVE)
        owned = True
    else:
        owned = False
    if r.random() < 0.35:
        text += r.choice(WEATHER)
    plot = r.choice(list(PLOTS))
    finds = plot in ("share", "race", "wish", "truth", "learn")
    if finds and owned:
        text = text[:0] + frame
    elif not finds and not owned:
        text += r.choice(LOVE)
    text += PLOTS[plot].replace("\n", "") + (" " + r.choice(ENDS) if r.random() < 0.8 else "")
    if r.random() < 0.12:
        text += " The moral: " + r.choice(MORALS)
    his = {"he": "his", "she": "her"}
    him = {"he": "him", "she": "her"}
    v = {"h": name, "H": cap(name), "t": thing, "at": article(thing), "f": "the " + friend, "F": "The " + friend, "af": article(friend),
         "p": p, "q": q, "he": he, "He": cap(he), "his": his[he], "His": cap(his[he]), "him": him[he], "fhe": fhe, "fhis": his[fhe],
         "home": r.choice(HOMES), "who": who, "name": name, "his0": "hers" if he == "she" else "his"}
    if thing.startswith("pair") or thing.startswith("bunch"):
        v["at"] = "a " + thing
    text = expand(text, r).replace("$his0", v["his0"])
    text = VARIABLE.sub(lambda m: v[m.group(1)], text)
    text = re.sub(r"([.!?]\"?) +([a-z])", lambda m: m.group(1) + " " + m.group(2) if m.group(1).endswith('"') else m.group(1) + " " + m.group(2).upper(), text)
    text = re.sub(r"  +", " ", text).strip()
    text = cap(text)
    if r.random() < 0.4:  # begin a new paragraph at direct speech, as books do
        text = re.sub(r"([.!?]) (\"[A-Z])", lambda m: m.group(1) + ("\n\n" if r.random() < 0.5 else " ") + m.group(2), text)
    return text
