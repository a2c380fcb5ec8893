"""The prompts that evaluate.py uses."""

VARIED = [  # 50 prompts from every kind of text that the pair was trained on, for measuring acceptance
    "Once upon a time there was a", "Once there was a brave girl named", "Long ago, a poor tailor lived", "One day a young boy was walking",
    "In a village far away lived", "This is the story of a small owl and", "A long time ago there lived a proud king", "The fox lived in a hollow tree.",
    "The capital of France is", "I know that the opposite of hot is", "A young cow is called a", "The colour of snow is", "After Monday comes",
    "To dig a hole you need a", "In Brazil people speak", "The plural of mouse is",
    "What is the capital of Japan?\n", "Q: What does a baker make?\nA:", "Question: Which month comes after June?\nAnswer:",
    "Question: How many legs does a spider have?\n<answer>", "Q: What is 3 + 4?\nA:", "What do cows eat?\n",
    "User: Hello!\nAssistant:", "User: What is the capital of Italy?\nAssistant:", "User: Tell me a story.\nAssistant:",
    "User: Hi.\nAssistant: Hello! How can I help you?\nUser: What do cats eat?\nAssistant:", "User: How are you?\nAssistant:",
    "User: Name three animals.\nAssistant:", "User: Tell me a joke.\nAssistant:", "User: What is a token?\nAssistant:",
    "3 + 4 =", "12 + 30 =", "9 - 5 = 4\n8 - 3 =", "6 * 7 =", "2, 4, 6, 8,",
    "Review: The film was wonderful.\nSentiment:", "Review: I hated this book.\nSentiment:", "Text: Rain is expected in the north.\nTopic:",
    '{"name": "Lily", "age":', '{"country": "Spain", "capital":', "Shopping list:\n", "1. Anna\n2. Tom\n3.", "one, two, three,", "The days of the week are",
    "def add(a, b):\n", "for i in range(3):\n", "Dear Anna,\n\n", "How to make tea:\n1.",
    "The king looked at his three sons and said", "It was late in the evening, and the children"]

QUESTIONS = ["What is the capital of {}?".format(c) for c in "France Norway Egypt Peru Japan Kenya Poland Greece Cuba Canada".split()] + [
    "What is the opposite of big?", "What is the opposite of early?", "What colour is grass?", "What colour is a lemon?", "What does a dog do?",
    "What is a young sheep called?", "Where does a bee live?", "What does a baker make?", "What do you use to cut bread?", "What do cats eat?",
    "Which day comes after Friday?", "Which month comes after May?", "What is the plural of foot?", "What is the past of go?", "How many legs does a horse have?"]
FORMS = ["{}\n", "Q: {}\nA:", "Question: {}\nAnswer:", "User: {}\nAssistant:"]

DIALOGUES = [f"User: {h}\nAssistant: {b}\nUser: {q}\nAssistant:" for h, b in
             [("Hello!", "Hello! How can I help you?"), ("Hi.", "Hello! What would you like to know?")]
             for q in QUESTIONS[::2]] + [f"User: {q}\nAssistant:" for q in QUESTIONS[1::2]]

SETTINGS = [("greedy", dict(temperature=0)), ("pure, T 1", dict(temperature=1.0)), ("top-k 40", dict(temperature=1.0, top_k=40)),
            ("top-p 0.9", dict(temperature=1.0, top_p=0.9)), ("T 0.7, top-p 0.9", dict(temperature=0.7, top_p=0.9))]
SAMPLES = ["The capital of France is", "Once upon a time there was a", "User: What do cats eat?\nAssistant:", "3 + 4 =",
           "Question: What is the capital of Spain?\n<answer>", "The king looked at his three sons and said"]
