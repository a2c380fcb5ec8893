"""The facts that the small model should be certain of: about 700, with many phrasings for each.

A relation has entries (subject, answer), frames for statements that end with the answer,
other statements, questions, and frames that training never sees, which evaluate.py uses as
prompts. In a frame, $s is the subject and $a is the answer.
frames.tsv has about 540 more statements for each relation. They were written individually and
independently of the held-out phrasings. None of these statements shares seven words in ten with a
held-out phrasing, or begins like one. leads.txt and times.txt hold words that may precede a
statement.
"""

import dataclasses
import difflib
import pathlib
import re

HERE = pathlib.Path(__file__).parent


def pairs(text):
    return [tuple(p.split(":")) for p in text.replace("\n", "").split("|")]


@dataclasses.dataclass
class Relation:
    name: str
    entries: list           # (subject, answer)
    says: list              # statements that end with "$a."; they also serve as prompts
    also: list              # statements of any other shape
    asks: list              # questions
    held: list              # prompts that are held out of the training text; the answer follows immediately
    full: str = ""          # the full-sentence answer; if empty, the first of says is used
    weight: float = 1.0
    more: list = dataclasses.field(default_factory=list)  # statements from frames.tsv, in the same form as says


CAPITALS = pairs("""France:Paris|Germany:Berlin|Italy:Rome|Spain:Madrid|Portugal:Lisbon|England:London|Ireland:Dublin|
Scotland:Edinburgh|Wales:Cardiff|Norway:Oslo|Sweden:Stockholm|Denmark:Copenhagen|Finland:Helsinki|Iceland:Reykjavik|
Poland:Warsaw|Austria:Vienna|Hungary:Budapest|Greece:Athens|Turkey:Ankara|Russia:Moscow|Ukraine:Kyiv|Romania:Bucharest|
Bulgaria:Sofia|Serbia:Belgrade|Croatia:Zagreb|Slovakia:Bratislava|Estonia:Tallinn|Latvia:Riga|Lithuania:Vilnius|Malta:Valletta|
Egypt:Cairo|Kenya:Nairobi|Nigeria:Abuja|Ghana:Accra|Morocco:Rabat|Ethiopia:Addis Ababa|Tunisia:Tunis|Senegal:Dakar|
Uganda:Kampala|Zambia:Lusaka|Zimbabwe:Harare|Angola:Luanda|Sudan:Khartoum|Mali:Bamako|Rwanda:Kigali|
India:New Delhi|China:Beijing|Japan:Tokyo|South Korea:Seoul|Thailand:Bangkok|Vietnam:Hanoi|Indonesia:Jakarta|Nepal:Kathmandu|
Mongolia:Ulaanbaatar|Pakistan:Islamabad|Bangladesh:Dhaka|Malaysia:Kuala Lumpur|Iran:Tehran|Iraq:Baghdad|Syria:Damascus|
Lebanon:Beirut|Jordan:Amman|Qatar:Doha|Oman:Muscat|Australia:Canberra|New Zealand:Wellington|Fiji:Suva|Canada:Ottawa|
Mexico:Mexico City|Cuba:Havana|Jamaica:Kingston|Brazil:Brasilia|Argentina:Buenos Aires|Chile:Santiago|Peru:Lima|
Colombia:Bogota|Ecuador:Quito|Uruguay:Montevideo|Venezuela:Caracas|Belgium:Brussels|Switzerland:Bern|
the Netherlands:Amsterdam|the United States:Washington""")

CONTINENTS = [(c, k) for k, names in {
    "Europe": "France Germany Italy Spain Portugal Ireland Norway Sweden Denmark Finland Iceland Poland Austria Hungary Greece "
              "Belgium Switzerland Romania Bulgaria Croatia",
    "Africa": "Egypt Kenya Nigeria Ghana Morocco Ethiopia Tunisia Senegal Uganda Zambia Angola Mali",
    "Asia": "India China Japan Thailand Vietnam Nepal Mongolia Pakistan Iran Iraq Malaysia",
    "South America": "Brazil Argentina Chile Peru Colombia Ecuador Uruguay",
    "North America": "Canada Mexico"}.items() for c in names.split()]

LANGUAGES = pairs("""France:French|Germany:German|Italy:Italian|Spain:Spanish|Portugal:Portuguese|England:English|Norway:Norwegian|
Sweden:Swedish|Denmark:Danish|Finland:Finnish|Iceland:Icelandic|Poland:Polish|Hungary:Hungarian|Greece:Greek|Turkey:Turkish|
Russia:Russian|Japan:Japanese|China:Chinese|Mexico:Spanish|Brazil:Portuguese|Egypt:Arabic|Thailand:Thai|Austria:German|
Argentina:Spanish|Australia:English|Romania:Romanian|Vietnam:Vietnamese|Ukraine:Ukrainian""")

OPPOSITES = [q for a, b in pairs("""hot:cold|big:small|tall:short|fast:slow|up:down|left:right|day:night|black:white|old:young|
happy:sad|open:closed|early:late|wet:dry|full:empty|hard:soft|heavy:light|loud:quiet|rich:poor|strong:weak|clean:dirty|
good:bad|near:far|first:last|inside:outside|true:false|high:low|sweet:sour|thick:thin|wide:narrow|awake:asleep|
brave:afraid|kind:cruel|deep:shallow|rough:smooth|sharp:blunt|alive:dead|above:below|before:after|always:never|
yes:no|love:hate|win:lose|push:pull|begin:end|lost:found|north:south|east:west|front:back|more:less|many:few|
summer:winter|morning:evening|friend:enemy|king:queen|brother:sister|question:answer|problem:solution|buy:sell|
give:take|come:go|laugh:cry|remember:forget|noisy:silent|cheap:expensive""") for q in ((a, b), (b, a))]

COLOURS = pairs("""grass:green|snow:white|the sky:blue|coal:black|a lemon:yellow|a strawberry:red|milk:white|a ruby:red|
gold:yellow|a raven:black|an emerald:green|a ripe banana:yellow|blood:red|a sapphire:blue|a carrot:orange|chalk:white|
a frog:green|the sun:yellow|a tomato:red|a cherry:red|a pumpkin:orange|a cucumber:green|a swan:white|chocolate:brown|
a plum:purple|a flamingo:pink|an elephant:grey|a leaf in spring:green|ink:black|a cornflower:blue|butter:yellow|tar:black""")

SOUNDS = pairs("""dog:barks|cat:meows|cow:moos|duck:quacks|lion:roars|sheep:bleats|horse:neighs|pig:oinks|owl:hoots|bee:buzzes|
snake:hisses|wolf:howls|frog:croaks|crow:caws|mouse:squeaks|rooster:crows|pigeon:coos|donkey:brays|bell:rings|clock:ticks|
drum:beats|kettle:whistles""")

YOUNG = pairs("""dog:puppy|cat:kitten|cow:calf|sheep:lamb|horse:foal|hen:chick|duck:duckling|goat:kid|bear:cub|lion:cub|
pig:piglet|goose:gosling|deer:fawn|swan:cygnet|frog:tadpole|kangaroo:joey|owl:owlet|eagle:eaglet|seal:pup|wolf:pup|fox:cub|
elephant:calf|whale:calf|tiger:cub""")

HOMES = pairs("""bird:nest|bee:hive|horse:stable|spider:web|fox:den|rabbit:burrow|king:castle|pig:sty|monk:abbey|snail:shell|
wolf:den|bear:cave|lion:den|eagle:nest|mole:tunnel|camper:tent|farmer:farmhouse|soldier:camp|bat:cave|hen:coop""")

JOBS = pairs("""baker:bread|tailor:clothes|cobbler:shoes|carpenter:tables|potter:pots|writer:books|painter:pictures|weaver:cloth|
blacksmith:horseshoes|cook:soup|poet:poems|brewer:beer|jeweller:rings|watchmaker:watches|hatter:hats|basket maker:baskets|
candle maker:candles|composer:music|architect:plans|glass blower:bottles""")

TOOLS = pairs("""cut bread:knife|dig a hole:spade|drive in a nail:hammer|sweep the floor:broom|write a letter:pen|open a lock:key|
sew a button:needle|paint a wall:brush|chop wood:axe|catch a fish:net|eat soup:spoon|comb your hair:comb|tell the time:clock|
measure a table:ruler|see the stars:telescope|row a boat:oar|light a candle:match|carry water:bucket|cut paper:pair of scissors|
dry your hands:towel|saw a plank:saw|ring for dinner:bell|cross a river:bridge|climb a wall:ladder|iron a shirt:iron|
boil water:kettle|stay dry in the rain:umbrella|find north:compass|weigh flour:scale|look at yourself:mirror""")

BODY = pairs("""see:eyes|hear:ears|smell:nose|taste:tongue|chew:teeth|walk:feet|think:brain|breathe:lungs|touch:fingers|
speak:mouth|kneel:knees|wave:hand""")

KINDS = [(x, k) for k, names in {
    "fruit": "apple|pear|plum|cherry|banana|lemon|peach|grape|melon|apricot|fig|strawberry",
    "vegetable": "carrot|cabbage|onion|potato|turnip|leek|beetroot|radish|spinach leaf|parsnip",
    "bird": "sparrow|robin|eagle|owl|crow|swan|pigeon|duck|hen|stork|parrot|gull",
    "fish": "trout|salmon|cod|herring|carp|pike|tuna|shark",
    "insect": "bee|ant|wasp|beetle|butterfly|fly|moth|grasshopper|cricket",
    "tree": "oak|birch|pine|willow|maple|elm|beech|ash tree",
    "flower": "rose|tulip|daisy|lily|poppy|violet|sunflower|daffodil",
    "metal": "piece of iron|piece of copper|piece of tin|piece of silver|piece of lead|piece of zinc",
    "musical instrument": "violin|flute|piano|drum|trumpet|harp|guitar|cello",
    "tool": "hammer|saw|spade|rake|chisel|screwdriver",
    "piece of clothing": "coat|shirt|hat|scarf|glove|sock|skirt|jacket",
    "piece of furniture": "table|chair|bed|bench|wardrobe|desk|bookcase"}.items() for x in names.split("|")]

PLURALS = pairs("""mouse:mice|goose:geese|foot:feet|tooth:teeth|child:children|man:men|woman:women|ox:oxen|sheep:sheep|leaf:leaves|
wolf:wolves|knife:knives|wife:wives|loaf:loaves|half:halves|shelf:shelves|baby:babies|city:cities|lady:ladies|berry:berries|
box:boxes|fox:foxes|bus:buses|dish:dishes|church:churches|potato:potatoes|hero:heroes|dog:dogs|cat:cats|book:books|
house:houses|tree:trees""")

PASTS = pairs("""go:went|see:saw|come:came|eat:ate|drink:drank|run:ran|sing:sang|swim:swam|write:wrote|read:read|give:gave|take:took|
make:made|find:found|think:thought|bring:brought|buy:bought|catch:caught|teach:taught|sleep:slept|keep:kept|feel:felt|
leave:left|lose:lost|say:said|tell:told|know:knew|grow:grew|fly:flew|draw:drew|break:broke|speak:spoke|begin:began|ring:rang|
fall:fell|hold:held|sit:sat|stand:stood|win:won|build:built|walk:walked|play:played|look:looked|help:helped|jump:jumped|
carry:carried""")

NUMBERS = ("zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
           "seventeen eighteen nineteen twenty").split()
DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
MONTHS = "January February March April May June July August September October November December".split()
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

FOODS = pairs("""cats:fish|cows:grass|rabbits:carrots|monkeys:bananas|squirrels:nuts|bears:honey|horses:hay|mice:cheese|birds:seeds|
sheep:grass|pandas:bamboo|dogs:meat|owls:mice|frogs:flies|goats:leaves|hens:corn|hedgehogs:worms|lions:meat|ducks:bread|
elephants:leaves|penguins:fish|caterpillars:leaves""")

COUNTS = pairs("""legs:dog:four|legs:spider:eight|legs:bird:two|legs:ant:six|legs:horse:four|sides:triangle:three|
sides:square:four|sides:pentagon:five|sides:hexagon:six|sides:octagon:eight|wheels:bicycle:two|wheels:car:four|wheels:tricycle:three|
days:week:seven|months:year:twelve|minutes:hour:sixty|seconds:minute:sixty|hours:day:twenty-four|fingers:hand:five|
letters:alphabet:twenty-six|eggs:dozen:twelve|players:football team:eleven|strings:violin:four""")


def article(noun):
    if noun.split()[0] in ("hour",):
        return "an " + noun
    return ("an " if noun[0] in "aeiouAEIOU" else "a ") + noun


def cap(text):
    return text[0].upper() + text[1:]


def following(sequence, cyclic=True):
    n = len(sequence)
    return [(sequence[i], sequence[(i + 1) % n]) for i in range(n if cyclic else n - 1)]


def backward(entries):
    return [(b, a) for a, b in entries]


RELATIONS = [
    Relation("capital", CAPITALS,
             ["The capital of $s is $a.", "The capital city of $s is $a.", "The name of the capital of $s is $a.",
              "As for $s, its capital is $a.", "In $s the capital is $a.", "The government of $s sits in $a.",
              "Country: $s. Capital: $a.", "$s's capital is $a.", "They live in the capital of $s, which is $a.", "$s has a capital, and its name is $a.", "If you ask for the capital of $s, the answer is $a."],
             ["$a is the capital of $s.", "$a is the capital city of $s.", "The capital of $s is $a, and many people live there.",
              "People in $s are proud of $a, their capital."],
             ["What is the capital of $s?", "Which city is the capital of $s?", "What is the capital city of $s?",
              "Can you tell me the capital of $s?", "Name the capital of $s.", "What is $s's capital called?"],
             ["Everyone at school knows that the capital of $s is", "On the map, the capital city of $s is",
              "My teacher says the capital of $s is", "We flew to the capital of $s, which is"], weight=5),
    Relation("continent", CONTINENTS,
             ["$s is a country in $a.", "$s is in $a.", "$s lies in $a.", "The continent of $s is $a.", "On a map you find $s in $a.",
              "$s is one of the countries of $a.", "Country: $s. Continent: $a.", "He was born in $s, so he is from $a.", "When you travel to $s, you travel to $a."],
             ["One country in $a is $s.", "$s, which lies in $a, has many towns."],
             ["Which continent is $s in?", "Where is $s?", "On which continent does $s lie?", "In which part of the world is $s?"],
             ["As you know, $s is a country in", "My aunt lives in $s, and $s is in", "The map shows that $s lies in"]),
    Relation("language", LANGUAGES,
             ["In $s people speak $a.", "The language of $s is $a.", "Most people in $s speak $a.", "Children in $s learn to read in $a.",
              "If you go to $s, you will hear $a.", "At home in $s they speak $a.", "She is from $s, so she speaks $a.", "Country: $s. Language: $a.",
              "He has lived in $s for a year and now speaks $a.", "They went to live in $s, and soon they all spoke $a.", "We travelled to $s, where they speak $a.",
              "She was born in $s, and the people there speak $a.", "In a letter from $s he wrote that everybody speaks $a."],
             ["$a is spoken in $s."],
             ["What language do people speak in $s?", "Which language is spoken in $s?", "What do they speak in $s?"],
             ["When she moved to $s she found that people there speak", "My friend says that in $s people speak",
              "As far as I know, the language of $s is"]),
    Relation("opposite", OPPOSITES,
             ["The opposite of $s is $a.", "The opposite of the word $s is $a.", "If it is not $s, it is $a.",
              "$s and its opposite: $s, $a.", "Word: $s. Opposite: $a.", "When you turn $s around, you get $a.", "Not $s but its opposite: $a.", "Say the opposite of $s: it is $a."],
             ["$s is the opposite of $a.", "The words $s and $a are opposites."],
             ["What is the opposite of $s?", "Which word is the opposite of $s?", "What is the opposite of the word $s?",
              "Give me the opposite of $s."],
             ["We learned today that the opposite of $s is", "She wrote on the board that the opposite of the word $s is",
              "In this game you must say the opposite. The opposite of $s is"], weight=3),
    Relation("colour", COLOURS,
             ["$s is $a.", "The colour of $s is $a.", "We say that $s is $a.", "Look closely and you see that $s is $a.",
              "If I had to paint it, $s would be $a.", "What I see is this: the colour of $s is $a.", "Thing: $s. Colour: $a."],
             ["Something $a: $s."],
             ["What colour is $s?", "What is the colour of $s?", "Which colour does $s have?", "Tell me the colour of $s."],
             ["As every child knows, the colour of $s is", "She painted it well: the colour of $s is", "I think that the colour of $s is"]),
    Relation("sound", SOUNDS,
             ["A $s $a.", "Listen: the $s $a.", "Every $s $a.", "When it makes a noise, a $s $a.", "You can hear how the $s $a.", "Outside a $s $a.", "In the morning the $s $a.", "I woke up because a $s $a.", "Down by the river the $s $a.", "All day long the $s $a.", "Do you hear? A $s $a.", "Far away a $s $a.",
              "Thing: $s. What it does: it $a."],
             ["What $a? A $s $a."],
             ["What does a $s do?", "What noise does a $s make?", "How does a $s sound?"],
             ["In the night you can hear how a $s", "Be quiet and listen: a $s", "Over there the $s"]),
    Relation("young", YOUNG,
             ["A young $s is called a $a.", "A baby $s is called a $a.", "The young of the $s is the $a.",
              "The name for a young $s is $a.", "What is a young $s? It is a $a.", "People call a baby $s a $a.", "When it is small, a $s is called a $a.", "Animal: $s. Young: $a."],
             ["A $a is a young $s.", "A $a grows up to be a $s."],
             ["What is a young $s called?", "What do you call a baby $s?", "What is the name for a young $s?"],
             ["On the farm we learned that a young $s is called a", "My book says that a baby $s is called a",
              "The keeper told us the name for a young $s: it is a"]),
    Relation("home", HOMES,
             ["A $s lives in a $a.", "The home of a $s is a $a.", "At night a $s goes back to its $a.", "You will find a $s in a $a.",
              "The place where a $s lives is called a $a.", "Go and look for the $s in its $a.", "When it is tired, the $s goes to its $a.", "Everybody knows that a $s has its home in a $a.", "They say that a $s lives in a $a.", "It is true that the home of the $s is the $a.", "I have read that a $s lives in a $a.", "Who: $s. Home: $a."],
             ["A $a is the home of a $s.", "In the $a lived a $s."],
             ["Where does a $s live?", "What is the home of a $s called?", "Where would you look for a $s?"],
             ["When it gets cold, a $s stays at home in its", "The book about animals says that a $s lives in a", "I am sure that the home of a $s is a"]),
    Relation("job", JOBS,
             ["A $s makes $a.", "The work of a $s is to make $a.", "Ask a $s for help if you need $a.", "Every day the $s makes $a.",
              "In the workshop of a $s you will see $a.", "He is a $s and makes $a.", "She works as a $s, so she makes $a.", "Job: $s. Makes: $a."],
             ["If you want $a, go to a $s."],
             ["What does a $s make?", "What is the work of a $s?", "What do you get from a $s?"],
             ["My uncle is a $s, so he makes", "In our street there is a $s who makes", "It is well known that a $s makes"]),
    Relation("tool", TOOLS,
             ["To $s you use a $a.", "To $s you need a $a.", "If you want to $s, take a $a.", "When I want to $s, I get a $a.",
              "The best thing to $s with is a $a.", "Nobody can $s without a $a.", "She had to $s, so she took a $a.", "My mother uses a $a to $s.", "He needed a $a, for he had to $s.", "We had to $s and looked for a $a.", "It is hard to $s if you have no $a.", "They wanted to $s, so they went to get a $a.",
              "My brother likes to $s, and he always takes a $a.", "You can $s if you have a $a.", "To $s, people use a $a.", "Task: $s. Tool: $a."],
             ["A $a helps you to $s.", "With a $a you can $s."],
             ["What do you use to $s?", "What do you need to $s?", "Which tool helps you to $s?"],
             ["He wanted to $s, so he asked for a", "You cannot $s without a", "In order to $s, my father always uses a"]),
    Relation("food", FOODS,
             ["$s eat $a.", "$s like to eat $a.", "The food of $s is $a.", "If you want to feed $s, give them $a.", "Animals: $s. Food: $a.",
              "What $s like best is $a.", "In the morning $s eat $a.", "You can see that $s eat $a."],
             ["Give $a to $s."],
             ["What do $s eat?", "What do $s like to eat?", "What is the food of $s?", "What can I give to $s?"],
             ["At the zoo we saw that $s eat", "Every farmer will tell you that $s eat", "Grandmother told me that $s like to eat"]),
    Relation("body", BODY,
             ["We $s with our $a.", "To $s, we use our $a.", "The part of the body we need to $s is our $a.", "People $s with their $a.",
              "Every day you $s with your $a.", "If you want to $s, you use your $a.", "The teacher told us that we $s with our $a.", "Old people $s with their $a too.", "They $s with their $a.", "To $s, they use their $a."],
             ["Our $a help us to $s."],
             ["What do we use to $s?", "What do we $s with?", "Which part of the body do we use to $s?"],
             ["The doctor explained that we $s with our", "Small children also $s with their", "In order to $s, people use their"]),
    Relation("kind", KINDS,
             ["$S is a kind of $a.", "$S is a $a.", "If someone gives you $s, you have a $a.", "We call $s a $a.", "Word: $s. Kind: $a.",
              "I put $s in the group: $a.", "In this picture, $s is a kind of $a.", "It is clear that $s is a kind of $a."],
             ["One $a is $s."],
             ["What is $s?", "What kind of thing is $s?", "Tell me what $s is."],
             ["The book says that $s is a kind of", "As you may know, $s is a kind of", "Look at the picture: $s is a kind of"], weight=2),
    Relation("plural", PLURALS,
             ["The plural of $s is $a.", "One $s, two $a.", "First there was one $s, then there were many $a.",
              "Word: $s. Plural: $a.", "If there is more than one $s, we say $a.", "Here is one $s and there are two $a.", "One $s, ten $a."],
             ["$a is the plural of $s."],
             ["What is the plural of $s?", "How do you say more than one $s?", "Give me the plural of $s."],
             ["In our grammar book the plural of $s is", "He forgot that the plural of $s is", "Write it down: one $s, three"]),
    Relation("past", PASTS,
             ["The past of $s is $a.", "Today I $s, yesterday I $a.", "The past tense of $s is $a.", "Verb: $s. Past: $a.",
              "Now they $s, but last year they $a.", "This year we $s, and in the old days we $a.", "Every day we $s, and last month we $a."],
             ["$a is the past of $s."],
             ["What is the past of $s?", "What is the past tense of $s?", "How do you say $s in the past?"],
             ["In our grammar book the past of $s is", "He forgot that the past tense of $s is", "This week we $s, and last week we"], weight=2),
    Relation("count", [(f"{thing} {noun}", n) for thing, noun, n in COUNTS], [], [], [], []),
    Relation("day after", following(DAYS),
             ["The day after $s is $a.", "After $s comes $a.", "Today is $s, so tomorrow is $a.", "We came on the day after $s, which is $a.", "It is $s now, and tomorrow it will be $a.", "$s is followed by $a."],
             ["$s comes before $a."],
             ["Which day comes after $s?", "What day follows $s?", "Today is $s. What day is tomorrow?"],
             ["If today is $s, then tomorrow will be", "In every week, after $s comes", "We leave on the day after $s, which is"]),
    Relation("day before", backward(following(DAYS)),
             ["The day before $s is $a.", "Before $s comes $a.", "Today is $s, so yesterday was $a.", "We left on the day before $s, which is $a.", "It is $s now, and yesterday it was $a.", "This is $s, so the day before was $a.", "Every week $a comes just before $s."],
             ["The day just before $s is called $a."],
             ["Which day comes before $s?", "What day is before $s?", "Today is $s. What day was yesterday?"],
             ["If today is $s, then yesterday was", "In every week, before $s comes", "We arrived on the day before $s, which is"]),
    Relation("month after", following(MONTHS),
             ["The month after $s is $a.", "After $s comes $a.", "It is $s now, and next month is $a.", "We came in the month after $s, which is $a.", "This month is $s, and next month will be $a.", "$s is followed by $a."],
             ["$s comes before $a."],
             ["Which month comes after $s?", "What month follows $s?"],
             ["If this month is $s, then next month will be", "In every year, after $s comes", "The rain came in the month after $s, which is"]),
    Relation("number after", following(NUMBERS, False),
             ["The number after $s is $a.", "After $s comes $a.", "Count on from $s: $a.", "When we count, $s is followed by $a.", "$s and one more makes $a."],
             ["$s comes before $a."],
             ["Which number comes after $s?", "What comes after $s?", "What number follows $s?"],
             ["When you count, after $s comes", "The child said that the number after $s is"]),
    Relation("letter after", following(LETTERS, False),
             ["The letter after $s is $a.", "After the letter $s comes $a.", "In the alphabet, $s is followed by $a.", "Say the letters: after $s comes $a."],
             ["In the alphabet, $s comes before $a."],
             ["Which letter comes after $s?", "What letter follows $s?"],
             ["When you say the alphabet, after the letter $s comes", "The child said that the letter after $s is"]),
]
for r in RELATIONS:
    if r.name == "count":
        r.entries = [(thing, noun, n) for thing, noun, n in COUNTS]
        r.says = ["The number of $1 of a $2 is $a.", "If you count the $1 of a $2, you get $a.", "How many $1? For a $2 it is $a.", "She counted the $1 of a $2: the number was $a."]
        r.also = ["A $2 has $a $1.", "There are $a $1 to a $2."]
        r.asks = ["How many $1 does a $2 have?", "How many $1 has a $2?", "Tell me how many $1 a $2 has."]
        r.held = ["Count them yourself: the number of $1 of a $2 is", "We counted the $1 of a $2, and the number was"]
        r.full = "A $2 has $a $1."
for line in (HERE / "frames.tsv").read_text().splitlines():
    name, frame = line.split("\t")
    next(r for r in RELATIONS if r.name == name).more.append(frame)


def fill(frame, relation, entry):
    """Returns the frame with its variables replaced and its articles and first letter corrected."""
    if relation.name == "count":
        thing, noun, answer = entry
        whole = "the alphabet" if noun == "alphabet" else article(noun)
        text = frame.replace("A $2", cap(whole)).replace("a $2", whole).replace("$1", thing).replace("$2", noun)
    else:
        subject, answer = entry
        if relation.name == "kind":
            subject = article(subject)
        text = frame
        for a in ("A ", "a "):
            if subject[0] in "aeiou":
                text = text.replace(a + "$s", a[0] + "n $s")
        text = text.replace("$S", cap(subject)).replace("$s", subject)
    if answer[0] in "aeiou":
        text = text.replace(" a $a", " an $a")
    return cap(text.replace("$a", answer))


def answer_of(entry):
    return entry[-1]


# Prompts that were written without seeing the frames above. Set one was written when
# the bundled pair was finished. Sets two and three have been examined since, while the
# next target was trained (direct speech failed, so more of it was added to frames.tsv
# and synth.py). Set four has only been scored, and set five has not been read. If you
# tune against a set, write a new one. A prompt that turned out to be one of the
# generator's own statements ("The capital of $s is") was removed.
BLIND = {}
for line in (HERE / "blind.tsv").read_text().splitlines():
    number, name, frame = line.split("\t")
    BLIND.setdefault(number, {}).setdefault(name, []).append(frame)


def ask(frame, relation, entry):
    """Returns a held-out frame as a prompt, with its last article corrected for the answer that follows."""
    return fill(frame, relation, entry) + ("n" if frame.endswith(" a") and answer_of(entry)[0] in "aeiou" else "")


def held_prompts(blind=None):
    """Returns (relation, prompt, answer) for every fact, each in one frame that training never saw: a held-out frame, or one from a set in BLIND."""
    out = []
    for r in RELATIONS:
        frames = BLIND[blind][r.name] if blind else r.held
        for i, entry in enumerate(r.entries):
            out.append((r.name, ask(frames[i % len(frames)], r, entry), answer_of(entry)))
    return out


def bare(frame):
    """Returns only the words of a frame, for comparing frames."""
    return re.sub(r"\W+", " ", frame.lower().replace("$a", "")).strip()


def never_train():
    """Returns, in lower case, every prompt that a held-out frame can give. No statement may begin with one.

    It is an error if the generator also uses a held-out frame: such a frame would test
    nothing, and would block the generator's statement.
    """
    out = set()
    for r in RELATIONS:
        held = r.held + [f for s in BLIND.values() for f in s[r.name]]
        own = [" " + bare(f) for f in [r.full, *r.says, *r.also, *r.more]]
        if clash := [f for f in held if any(o.endswith(" " + bare(f)) for o in own)]:
            raise ValueError(f"{r.name}: {clash} are also used in training")
        out |= {ask(f, r, e).lower() for f in held for e in r.entries}
    return out


def near_held():
    """Returns [(relation, frame, held-out frame)] for all pairs with seven in ten words in common, in the whole frame or in its beginning."""
    def words(frame):
        return re.findall(r"[\w$']+", frame.lower().split("$a")[0])
    out = []
    for r in RELATIONS:
        held = [(f, words(f)) for f in r.held + [f for s in BLIND.values() for f in s[r.name]]]
        for frame in r.more:
            w = words(frame)
            if near := [f for f, h in held if any(difflib.SequenceMatcher(None, w[:n], h, autojunk=False).ratio() > 0.7
                                                   for n in {*range(max(2, len(h) - 4), len(h) + 6), len(w)})]:
                out.append((r.name, frame, near[0]))
    return out


if __name__ == "__main__":  # list statements in frames.tsv that are too close to a held-out one; there should be none
    for row in near_held():
        print(*row, sep="\t")
