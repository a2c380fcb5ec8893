package lab

import (
	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/sampling"
)

// What the labs say of themselves.

type (
	strategiesLab   struct{}
	drawLab         struct{}
	cacheLab        struct{}
	memoryLab       struct{}
	prefillLab      struct{}
	billLab         struct{}
	speculationLab  struct{}
	stopsLab        struct{}
	quantizationLab struct{}
)

// story is a prompt that a small model goes on from at length.
const story = "Once upon a time there was a"

// Info implements [Lab].
func (strategiesLab) Info() Info {
	return Info{
		Name: "strategies", Title: "Strategies side by side",
		Question: "Same model, same prompt, same u at every step: where do two ways of choosing first part, and what does each make of the text?",
		Params: []Param{
			promptParam(story), tokensParam(40, 256), seedParam(),
			{Name: "lanes", Label: "Lanes", Kind: Text, Min: 1, Max: 400, Default: "greedy,pure,top_k,top_p,common", Help: "up to six, joined by commas: greedy, pure, top_k, top_p, common, or settings such as t=1.2 k=10 p=0.9 minp=0.05"},
			{Name: "runs", Label: "Runs of each", Unit: "runs", Kind: Int, Min: 1, Max: 100, Step: 1, Default: "5", Help: "texts of each lane to sum up, with the seed and those after it"},
			{Name: "horizon", Label: "Horizon", Unit: "tokens", Kind: Int, Min: 0, Max: 6, Step: 1, Default: "3", Help: "length of the most probable sequence that is searched for; 0 leaves the search out"},
			{Name: "passes", Label: "Passes", Unit: "passes", Kind: Int, Min: 1, Max: 100_000, Step: 100, Default: "4000", Help: "forward passes after which the search is given up"},
		},
		Try: []Preset{
			{Name: "Heat", Why: "The higher the temperature, the sooner a lane leaves greedy's path, and the lower its mean log-probability.", Values: Values{"prompt": "The king looked at his three sons and said", "tokens": "16", "lanes": "greedy,t=0.5,t=1,t=1.5,t=2", "runs": "4"}},
			{Name: "A sure question", Why: "Where the model is sure, even pure sampling stays on one path for a while.", Values: Values{"prompt": "User: What is the capital of France?\nAssistant:", "tokens": "24"}},
		},
		Includes: "All probabilities are over the whole vocabulary. Mean log-probability is of the model's own distribution at T = 1 with nothing cut, so that lanes can be compared; entropy is of the distribution after the temperature, before the filters. The search for the most probable sequence leaves out no sequence. Nothing here is timed.",
	}
}

// Info implements [Lab].
func (drawLab) Info() Info {
	return Info{
		Name: "draw", Title: "The draw",
		Question: "Draw from one step's distribution 10, 100, 10,000 times: how close does the histogram come to the model's bars?",
		Params: append([]Param{
			promptParam(story),
			{Name: "step", Label: "Step", Unit: "tokens", Kind: Int, Min: 1, Max: 64, Step: 1, Default: "1", Help: "the generated token whose distribution is drawn from; those before it are drawn with the seed"},
			seedParam(),
			{Name: "draws", Label: "Draws", Unit: "draws", Kind: Int, Min: 10, Max: 100_000, Step: 1000, Default: "10000", Help: "the largest number of draws"},
			{Name: "repeats", Label: "Repeats", Unit: "times", Kind: Int, Min: 1, Max: 200, Step: 1, Default: "50", Help: "how often the whole experiment is made, each time with other u"},
			{Name: "rows", Label: "Bars", Unit: "tokens", Kind: Int, Min: 1, Max: 100, Step: 1, Default: "12", Help: "how many tokens have a bar of their own"},
		}, samplingParams(common())...),
		Try: []Preset{
			{Name: "A sure step", Why: "With few tokens to fall on, ten draws already look much like the bars.", Values: Values{"prompt": "User: Hello\nAssistant:"}},
			{Name: "Nothing cut", Why: "With thousands of tokens to fall on, 1/√N sets in late: until then most tokens were never drawn at all.", Values: Values{"temperature": "1", "top_p": "1"}},
		},
		Includes: "u follows from the seed and the number of the draw, as in the loop. Distance is total variation: half the sum of |count/N − q| over all tokens. The expectation is exact, not a rule of thumb. Nothing here is timed.",
	}
}

// Info implements [Lab].
func (cacheLab) Info() Info {
	return Info{
		Name: "cache", Title: "The KV cache",
		Question: "What does a token cost with a cache, and without one? And are the numbers the same?",
		Params: append([]Param{
			promptParam("The capital of France is"), tokensParam(32, 2048), seedParam(), repeatsParam(7),
			{Name: "block", Label: "Block", Kind: Int, Min: 1, Max: 1000, Step: 1, Default: "1", Help: "the block whose keys and values are shown; from 1"},
			{Name: "position", Label: "Position", Kind: Int, Min: 0, Max: 1_000_000, Step: 1, Default: "1", Help: "the position whose keys and values are shown; from 0"},
		}, samplingParams(greedy())...),
		Try: []Preset{
			{Name: "A longer text", Why: "The recomputed curve bends: its quadratic part comes from running the matrices over the whole text again, not from attention.", Values: Values{"tokens": "128", "repeats": "3"}},
			{Name: "A long prompt", Why: "The first token costs the same both ways: that is prefill.", Values: Values{"prompt": longPrompt, "tokens": "16"}},
		},
		Includes: "A time is that of the pass over the blocks and of the scores; choosing the token is left out, and an end of text does not stop the run. Multiply-adds are those of matrix products, tallied where they are done; norms, rotary positions, softmax and activations are not counted.",
	}
}

// longPrompt is a prompt of some length, in the style of the bundled model's
// texts.
const longPrompt = "Once upon a time there was a little girl who lived in a house by the sea. Every morning she went down to the shore to look for shells, and every evening she put them in a row on the window sill. One day she found a shell that was larger than all the others. She held it to her ear and"

// Info implements [Lab].
func (memoryLab) Info() Info {
	return Info{
		Name: "memory", Title: "Memory and context",
		Question: "How large does a cache grow, and how many people can one machine serve?",
		Params: []Param{
			{Name: "preset", Label: "Model", Kind: Choice, Options: memoryKeys(), Default: "loaded", Help: "the model to calculate with; what follows changes it where it is not 0"},
			{Name: "layers", Label: "Layers", Unit: "layers", Kind: Int, Min: 0, Max: 1000, Step: 1, Default: "0", Help: "0 is the model's own"},
			{Name: "heads", Label: "Query heads", Unit: "heads", Kind: Int, Min: 0, Max: 1024, Step: 1, Default: "0", Help: "0 is the model's own"},
			{Name: "kv_heads", Label: "KV heads", Unit: "heads", Kind: Int, Min: 0, Max: 1024, Step: 1, Default: "0", Help: "0 is the model's own; a divisor of the query heads"},
			{Name: "head_dim", Label: "Head size", Unit: "values", Kind: Int, Min: 0, Max: 4096, Step: 8, Default: "0", Help: "0 is the model's own"},
			{Name: "precision", Label: "Cache precision", Kind: Choice, Options: precisionNames(), Default: "fp16", Help: "how keys and values are kept"},
			{Name: "weights", Label: "Weight precision", Kind: Choice, Options: precisionNames(), Default: "fp16", Help: "how weights are kept"},
			{Name: "positions", Label: "Positions", Unit: "tokens", Kind: Int, Min: 1, Max: 10_000_000, Step: 1, Default: "4096", Help: "prompt and answer together, of each text"},
			{Name: "batch", Label: "Texts at once", Unit: "texts", Kind: Int, Min: 1, Max: 100_000, Step: 1, Default: "1", Help: "each has a cache of its own"},
			{Name: "memory", Label: "Memory", Unit: "GiB", Kind: Float, Min: 0.001, Max: 100_000, Step: 1, Default: "24", Help: "that weights and caches share"},
			promptParam(story), tokensParam(64, 2048), seedParam(),
		},
		Try: []Preset{
			{Name: "The 32-layer example", Why: "At 131,072 tokens the cache is some five times as large as the weights.", Values: Values{"preset": "example-32", "positions": "131072", "memory": "80"}},
			{Name: "Shared heads", Why: "70 billion weights, and yet a smaller cache than a 7B model without shared heads: GQA.", Values: Values{"preset": "llama-2-70b", "memory": "160"}},
		},
		Includes: "The calculator is the formula 2 × layers × KV heads × head size × positions × bytes, and parameters × bytes for the weights; what a server needs besides is left out. The engine's bytes are those that its cache holds while it writes: used are the filled columns, reserved is what was allocated.",
	}
}

// Info implements [Lab].
func (prefillLab) Info() Info {
	return Info{
		Name: "prefill", Title: "Prefill and decode",
		Question: "How long until the first token, and how long between the others? What changes with the prompt's length?",
		Params: append([]Param{
			{Name: "lengths", Label: "Prompt lengths", Unit: "tokens", Kind: List, Min: 1, Max: 100_000, Default: "1,8,16,32,64,128,192,256", Help: "prompts of these lengths are read"},
			promptParam(story), tokensParam(48, 2048), seedParam(), repeatsParam(5),
			{Name: "stream", Label: "Streaming", Kind: Bool, Default: "true", Help: "show each token when it is there, or the whole answer at its end"},
		}, samplingParams(common())...),
		Try: []Preset{
			{Name: "A long prompt", Why: "Twice the prompt, about twice the wait for the first token; the gaps after it hardly change.", Values: Values{"prompt": longPrompt, "lengths": "64,128,256,448"}},
			{Name: "A long answer", Why: "Without streaming, you wait for all of it.", Values: Values{"tokens": "160"}},
		},
		Includes: "Time to the first token is the pass over the prompt, the scores of its last position, filters and draw. A gap is one turn of the loop. Network and drawing on a screen are left out; a real service adds a queue.",
	}
}

// Info implements [Lab].
func (billLab) Info() Info {
	price := func(name, label, value, help string) Param {
		return Param{Name: name, Label: label, Unit: "$ a million tokens", Kind: Float, Min: 0, Max: 10_000, Step: 0.1, Default: value, Help: help}
	}
	return Info{
		Name: "bill", Title: "The bill",
		Question: "What does this request cost, which change would have made it cheaper, and why does output cost more than input?",
		Params: append([]Param{
			promptParam(story),
			{Name: "max_tokens", Label: "max_tokens", Unit: "tokens", Kind: Int, Min: 1, Max: 4096, Step: 1, Default: "96", Help: "the most that may be written"},
			{Name: "stop", Label: "Stop strings", Kind: Strings, Help: "one a line; \\n is a newline"},
			{Name: "stream", Label: "Streaming", Kind: Bool, Default: "true", Help: "changes what is waited for, not what is paid"},
			seedParam(),
			price("input_price", "Input price", "3", "of tokens read"), price("output_price", "Output price", "15", "of tokens written"),
			{Name: "requests", Label: "Requests", Unit: "a day", Kind: Float, Min: 0, Max: 1e12, Step: 1000, Default: "100000", Help: "like this one"},
			{Name: "machine", Label: "Own machine", Unit: "$ an hour", Kind: Float, Min: 0, Max: 1e6, Step: 0.1, Default: "0.5", Help: "what it costs to run this model on a machine like this one"},
			{Name: "trained_tokens", Label: "Trained on", Unit: "tokens", Kind: Float, Min: 0, Max: 1e15, Step: 1e6, Default: "0", Help: "tokens that the model was trained on; 0 stands for 20 of each weight, a rule of thumb (Hoffmann et al. 2022)"},
			{Name: "try_stop", Label: "Another stop string", Kind: Strings, Default: ".", Help: "what it would have saved"},
			{Name: "try_max_tokens", Label: "A smaller max_tokens", Unit: "tokens", Kind: Int, Min: 1, Max: 4096, Step: 1, Default: "24", Help: "what it would have saved"},
			{Name: "try_prompt", Label: "A terser prompt", Unit: "bytes", Kind: Text, Min: 0, Max: promptBytes, Default: "Once there was a", Help: "what it would have saved; empty leaves it out"},
		}, samplingParams(common())...),
		Try: []Preset{
			{Name: "Long input, short output", Why: "Where the prompt is long and the answer short, a shorter prompt saves most, although each of its tokens costs less.", Values: Values{"prompt": longPrompt, "try_prompt": "She held the shell to her ear and", "max_tokens": "10", "try_max_tokens": "5"}},
			{Name: "Short input, long output", Why: "Output dominates, so max_tokens and stop strings save the most.", Values: Values{"max_tokens": "256", "try_max_tokens": "64"}},
		},
		Includes: "Input tokens are those that the tokenizer makes of the prompt, with its start mark; output tokens are all that the loop drew, those of a stop string and an end of text included. Prices are yours to set; a price is not a cost. Every saving was run with the same seed, not guessed. Times are of this machine.",
	}
}

// Info implements [Lab].
func (speculationLab) Info() Info {
	return Info{
		Name: "speculation", Title: "Speculative decoding",
		Question: "How many passes of the large model does a draft save, and does that save time on this machine?",
		Params: append([]Param{
			promptParam(story), tokensParam(96, 1024), seedParam(),
			{Name: "gamma", Label: "γ", Unit: "tokens", Kind: Int, Min: 1, Max: infer.MaxGamma, Step: 1, Default: "4", Help: "tokens drafted in a round of the run that is shown"},
			{Name: "gammas", Label: "γ compared", Unit: "tokens", Kind: List, Min: 1, Max: infer.MaxGamma, Default: "1,2,3,4,6,8", Help: "measured beside the target alone, with the γ above"},
			repeatsParam(5),
			{Name: "rounds", Label: "Synthetic rounds", Unit: "rounds", Kind: Int, Min: 100, Max: 200_000, Step: 1000, Default: "20000", Help: "rounds of the synthetic pair"},
		}, samplingParams(sampling.Settings{Temperature: 0.7, TopP: 0.9})...),
		Try: []Preset{
			{Name: "Greedy", Why: "Each proposal is then right or wrong, and the text is the one the target writes alone, token for token.", Values: Values{"temperature": "0", "top_p": "1"}},
			{Name: "Long rounds", Why: "The draft guesses this text badly. From γ = 8 to 16 hardly any more passes are saved, and most of the drafted tokens are thrown away: E levels off, the draft's work does not.", Values: Values{"prompt": "The sea was", "gamma": "16", "gammas": "2,4,8,16"}},
		},
		Includes: "Both sides write the same number of tokens after the same prompt; reading the prompt is left out of both. A time is that of whole turns or rounds: passes, scores, softmax, filters and draws. c and v are passes with their scores alone. The text of a seed need not be the same; its distribution is.",
	}
}

// Info implements [Lab].
func (stopsLab) Info() Info {
	return Info{
		Name: "stops", Title: "Stop conditions",
		Question: "Limit, end of text, stop string, full context: which one ends this text first?",
		Params: append([]Param{
			promptParam(story),
			{Name: "max_tokens", Label: "Max tokens", Unit: "tokens", Kind: Int, Min: 1, Max: infer.MaxMaxTokens, Step: 1, Default: "100", Help: "the limit that takes part in the race"},
			{Name: "stop", Label: "Stop strings", Kind: Strings, Default: "User:\n</answer>\n\\n\\n", Help: "one a line; \\n is a newline"},
			seedParam(),
			{Name: "tokens", Label: "Written in all", Unit: "tokens", Kind: Int, Min: 1, Max: 4096, Step: 1, Default: "240", Help: "how far the text is written whatever stops it; a full context ends it earlier"},
		}, samplingParams(common())...),
		Try: []Preset{
			{Name: "A dialogue", Why: "A stop string keeps the model from writing the other side's part.", Values: Values{"prompt": "User: Hello!\nAssistant:", "stop": "User:"}},
			{Name: "No stop but the limit", Why: "Past its end of text the model starts another text: max tokens limits that, but does not cure it.", Values: Values{"stop": "", "max_tokens": "400", "tokens": "400"}},
		},
		Includes: "One text is written, past every condition, and each is asked at every token: so all of them race on the same run. A stop string is compared with the text, not with tokens. Nothing here is timed.",
	}
}

// Info implements [Lab].
func (quantizationLab) Info() Info {
	return Info{
		Name: "quantization", Title: "What quantization does",
		Question: "Round every weight to a byte, or to four bits: how far do the model's probabilities move, and does its favourite token stay?",
		Params: append([]Param{
			promptParam(story), tokensParam(48, 256),
			{Name: "step", Label: "Step", Unit: "tokens", Kind: Int, Min: 1, Max: 256, Step: 1, Default: "1", Help: "the generated token whose bars are shown"},
			{Name: "rows", Label: "Bars", Unit: "tokens", Kind: Int, Min: 1, Max: 100, Step: 1, Default: "8", Help: "how many tokens have bars of their own"},
			seedParam(), repeatsParam(9),
		}, samplingParams(common())...),
		Try: []Preset{
			{Name: "A sure step", Why: "Where one token has nearly all the probability, even four bits don't move it: you can hardly tell the bars apart.", Values: Values{"prompt": "User: What is the capital of France?\nAssistant: The capital of", "tokens": "8", "temperature": "0"}},
			{Name: "A longer text", Why: "Over many steps, four bits change the favourite token now and then, mostly where two tokens were nearly equal; int8 hardly ever does.", Values: Values{"tokens": "200", "temperature": "1", "top_p": "1"}},
		},
		Includes: "The own weights write one text; int8 and Q4_0 read the same text and are asked at every step, at T = 1 over the whole vocabulary with nothing cut. KL is Σ p·ln(p/q) in nats, p by the own weights. Only the matrices of the blocks are rounded: the embedding table and the output matrix keep their values. Q4_0 is rounded as llama.cpp rounds it, its size is that of the format, and it is computed in float32 after widening: its time says nothing of the format. A time is one token's pass and scores behind the whole text.",
	}
}
