package drill

import (
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer/terms"
)

// answer is one row of a table that was worked out by hand: an input and the expected response.
type answer struct {
	cell, text string
	state      State
	mistake    Mistake
}

func checkAll(t *testing.T, p *Problem, list []answer) {
	t.Helper()
	for _, a := range list {
		if v := p.Check(a.cell, a.text); v.State != a.state || v.Mistake != a.mistake {
			t.Errorf("%s = %q: %+v; want %s %q", a.cell, a.text, v, a.state, a.mistake)
		}
	}
}

// TestShiftByHand: the logits are 2, 1 and 0, and the shift adds −3 to each of them. e², e and 1
// add up to 11.107. Multiplied by e^−3 = 0.0498, they become 0.3679, 0.1353 and 0.0498, which add
// up to 0.5530. The shares stay the same.
func TestShiftByHand(t *testing.T) {
	checkAll(t, mustNew(t, Shift, 0, 1), []answer{
		{"before.exp.0", "7.389", Right, ""},
		{"before.sum", "11.107", Right, ""},
		{"before.p.0", "0.6652", Right, ""}, // 7.389 / 11.107
		{"before.p.1", "0.3679", Wrong, Largest},
		{"after.z.0", "-1", Right, ""},
		{"after.z.0", "−1", Right, ""},
		{"after.z.0", "-6", Wrong, Multiplied},
		{"after.z.0", "5", Wrong, Swapped},
		{"after.exp.0", "0.3679", Right, ""},
		{"after.exp.0", "4.389", Wrong, AfterT}, // 7.389 − 3
		{"after.sum", "0.553", Right, ""},
		{"after.p.0", "0.6652", Right, ""},
		{"after.p.0", "0.0331", Wrong, IgnoredT}, // 0.3679 / 11.107
		{"after.p.0", "-2.3348", Wrong, AfterT},  // 0.6652 − 3
		{"after.what", "same", Right, ""},
		{"after.what", "scaled", Wrong, Renormalize},
		{"after.sign", "nothing", Right, ""},
		{"after.sign", "impossible", Wrong, OtherOption},
	})
}

// TestAttentionByHand: q = (2, 1) and the keys (1, 0), (2, 1) and (0, 2) give the scores 2·1 + 1·0 = 2,
// 2·2 + 1·1 = 5 and 2·0 + 1·2 = 2. Divided by √2 = 1.41421, they are 1.4142, 3.5355 and 1.4142. e to
// their power is 4.1133, 34.3133 and 4.1133, which add up to 42.5398, so the weights are 0.0967, 0.8066
// and 0.0967. The first numbers of the values are 1, 2 and 1: the message is 0.0967 + 1.6132 + 0.0967 =
// 1.8066, and added to 1 it is 2.8066. The later key (3, 1) would score 7 and 4.9497, e to which is
// 141.139.
func TestAttentionByHand(t *testing.T) {
	p := mustNew(t, Attention, 0, 1)
	if n := len(p.Order()); n != 6 {
		t.Errorf("the drill asks for %d answers, want 6", n)
	}
	checkAll(t, p, []answer{
		{"scores.score", "5", Right, ""},
		{"scores.score", "2×2 + 1×1", Right, ""},
		{"scores.score", "4", Wrong, LeftOut},
		{"scores.score", "2", Wrong, OtherRow},
		{"scores.score", "3.54", Wrong, Swapped},
		{"scores.scaled", "3.54", Right, ""},
		{"scores.scaled", "3.536", Right, ""},
		{"scores.scaled", "5/√2", Right, ""},
		{"scores.scaled", "5", Wrong, NoRoot},
		{"scores.scaled", "2.5", Wrong, NoRoot},
		{"scores.scaled", "1.414", Wrong, OtherRow},
		{"weights.w", "0.8066", Right, ""},
		{"weights.w", "0.807", Right, ""},
		{"weights.w", "0.808", Right, ""}, // e^3.54 / (e^1.41 + e^3.54 + e^1.41) = 34.467 / 42.659
		{"weights.w", "e^(5/√2) / (e^(5/√2) + 2e^(2/√2))", Right, ""},
		{"weights.w", "0.81", Part, Rounding},
		{"weights.w", "80.7", Part, Percent},
		{"weights.w", "0.909", Wrong, NoRoot},          // e^5 / (e^5 + 2e^2) = 148.41 / 163.19
		{"weights.w", "0.556", Wrong, NoExp},           // 5 / 9
		{"weights.w", "0.187", Wrong, LookedAhead},     // 34.3133 / (42.5398 + 141.139)
		{"weights.w", "0.665", Wrong, NoQuery},         // e^3 / (e^1 + e^3 + e^2), from the sums of the keys
		{"weights.w", "0.5", Wrong, NoQuery},           // 3 / 6
		{"weights.w", "0.0967", Wrong, OtherRow},       //
		{"weights.w", "34.31", Wrong, Swapped},         //
		{"weights.later", "0", Right, ""},              //
		{"weights.later", "0%", Right, ""},             //
		{"weights.later", "0.768", Wrong, LookedAhead}, // 141.139 / 183.679
		{"message.message", "1.807", Right, ""},
		{"message.message", "1.808", Right, ""}, // 0.097 + 2 × 0.807 + 0.097
		{"message.message", "1.81", Right, ""},
		{"message.message", "4", Wrong, Missing},         // 1 + 2 + 1
		{"message.message", "1.613", Wrong, LeftOut},     // 2 × 0.8066
		{"message.message", "1.710", Wrong, Swapped},     // 0.0967·1 + 0.8066·2 + 0.0967·0, from the keys
		{"message.message", "1.193", Wrong, Swapped},     // 0.0967·0 + 0.8066·1 + 0.0967·4
		{"message.message", "2.724", Wrong, LookedAhead}, // 2·0.0224 + 2·0.1868 + 3·0.7684
		{"message.message", "1.909", Wrong, NoRoot},      // 1 + 0.9094
		{"message.added", "2.807", Right, ""},
		{"message.added", "1 + 1.807", Right, ""},
		{"message.added", "1.807", Wrong, NotAdded},
		{"message.added", "1", Wrong, NotAdded},
		{"message.added", "3.724", Wrong, LookedAhead},
	})
}

// TestKVBytesByHand: 2 × 32 × 128 values in a layer × 32 layers = 262,144 values, × 2 bytes = 512
// KiB for each position. 4,096 positions take 2 GiB, and 131,072 take 64 GiB.
func TestKVBytesByHand(t *testing.T) {
	p := mustNew(t, KVBytes, 0, 1)
	checkAll(t, p, []answer{
		{"position.layer", "8192", Right, ""},
		{"position.layer", "4,096", Wrong, KeysAlone},
		{"position.layer", "256", Wrong, Missing},
		{"position.layers", "262,144", Right, ""},
		{"position.bytes", "512 KiB", Right, ""},
		{"position.bytes", "524288", Right, ""},
		{"position.bytes", "512 KB", Part, Units},
		{"cache.short", "2,147,483,648", Right, ""},
		{"cache.short", "2 GiB", Right, ""},
		{"cache.short", "2^31", Right, ""},
		{"cache.short", "2.147 GB", Right, ""},
		{"cache.short", "2 GB", Part, Units},
		{"cache.short", "1 GiB", Wrong, KeysAlone},
		{"cache.short", "1 GB", Wrong, KeysAlone}, // the value printed in another source
		{"cache.short", "64 MiB", Wrong, Missing}, // one layer or one head
		{"cache.short", "16 GiB", Wrong, Units},   // in bits
		{"cache.long", "64 GiB", Right, ""},
		{"cache.long", "32 GiB", Wrong, KeysAlone},
		{"cache.long", "much", Refused, ""},
	})
	if v := p.Check("cache.short", "2 GiB"); v.Understood != "2 GiB is 2,147,483,648 bytes" {
		t.Errorf("2 GiB is understood as %q, want %q", v.Understood, "2 GiB is 2,147,483,648 bytes")
	}
}

// TestMultiplyAddsByHand: L 10, d 100, h 10, g 5, s 10, f 200, V 1000, n 20. Attention's matrices
// take 2·10,000 (100·10·10 each) plus 10,000 (2·100·5·10), which is 30,000. Feed-forward takes
// 3·100·200 = 60,000. For 10 layers, both take 900,000. Attention takes 2·10·100·20 = 40,000, and the
// scores take 100·1000 = 100,000. The total is 1,040,000.
func TestMultiplyAddsByHand(t *testing.T) {
	checkAll(t, mustNew(t, MultiplyAdds, 0, 1), []answer{
		{"layer.projections", "30000", Right, ""},
		{"layer.projections", "40,000", Wrong, QueryHeads}, // 4 × 10,000
		{"layer.projections", "25,000", Wrong, KeysAlone},  // without 100·5·10
		{"layer.feed", "60,000", Right, ""},
		{"layer.feed", "40,000", Wrong, LeftOut}, // 2·100·200
		{"cached.matrices", "900,000", Right, ""},
		{"cached.attention", "40,000", Right, ""},
		{"cached.attention", "20,000", Wrong, KeysAlone},
		{"cached.attention", "38,000", Wrong, OffByOne}, // n = 19
		{"cached.output", "100,000", Right, ""},
		{"cached.total", "1,040,000", Right, ""},
		{"cached.total", "1.04 million", Right, ""},
		{"cached.total", "940,000", Wrong, LeftOut},      // without the scores
		{"scratch.matrices", "18,000,000", Right, ""},    // 20 × 900,000
		{"scratch.attention", "420,000", Right, ""},      // 10·100·20·21
		{"scratch.attention", "800,000", Wrong, Missing}, // 2·10·100·20²
		{"scratch.total", "18,520,000", Right, ""},
		{"scratch.total", "20,800,000", Wrong, Missing}, // 20 × 1,040,000
		{"scratch.ratio", "17.8", Right, ""},            // 18,520,000 / 1,040,000 = 17.808
		{"scratch.ratio", "20", Wrong, OtherOption},
		{"run.again", "104,950", Right, ""}, // 100·1000 + 100·99/2
		{"run.again", "100,000", Wrong, Missing},
		{"run.again", "105,050", Wrong, OffByOne}, // 100·101/2
		{"run.once", "1,099", Right, ""},
		{"run.once", "1,100", Wrong, OffByOne},
		{"run.ratio", "95.5", Right, ""}, // 104,950 / 1,099 = 95.496
		{"run.ratio", "95.5 times", Right, ""},
	})
}

// TestBillByHand: with the lesson's own numbers, 1,000 × $3 / 1,000,000 = $0.003 and 500 × $15 /
// 1,000,000 = $0.0075.
func TestBillByHand(t *testing.T) {
	checkAll(t, mustNew(t, Bill, 0, 1), []answer{
		{"call.in", "0.003", Right, ""},
		{"call.in", "$0.0030", Right, ""},
		{"call.in", "0.3 cents", Right, ""},
		{"call.in", "0.015", Wrong, Swapped}, // 1,000 × 15
		{"call.in", "3", Wrong, Units},       // for a thousand
		{"call.in", "3000", Wrong, Missing},
		{"call.out", "0.0075", Right, ""},
		{"call.out", "0.75", Wrong, Units}, // in cents
		{"call.total", "0.0105", Right, ""},
		{"call.total", "0.0225", Wrong, OtherOption}, // 1,500 × 15
		{"call.total", "0.0165", Wrong, Swapped},     // 1,000 × 15 + 500 × 3
		{"call.share", "71.4%", Right, ""},           // 0.0075 / 0.0105
		{"call.share", "0.333", Wrong, Swapped},      // 500 / 1,500
		{"call.share", "0.286", Wrong, Swapped},
		{"call.saving", "out", Right, ""},
		{"call.saving", "same", Wrong, OtherOption},
	})
}

// TestSpeculationByHand: 1 + 0.8 + 0.64 + 0.512 + 0.4096 = 3.3616 = (1 − 0.32768) /
// 0.2.
func TestSpeculationByHand(t *testing.T) {
	checkAll(t, mustNew(t, Speculation, 0, 1), []answer{
		{"powers.all.2", "0.64", Right, ""},
		{"powers.all.2", "64%", Right, ""},
		{"powers.all.3", "2.4", Wrong, Multiplied},
		{"powers.all.3", "0.64", Wrong, OffByOne},
		{"powers.all.4", "0.4096", Right, ""},
		{"expected.e", "3.36", Right, ""},
		{"expected.e", "3.3616", Right, ""},
		{"expected.e", "3.362 tokens", Right, ""},
		{"expected.e", "2.3616", Wrong, Missing},
		{"expected.e", "2.952", Wrong, OffByOne}, // (1 − 0.8^4) / 0.2
		{"expected.e", "3.2", Wrong, Multiplied}, // 4 × 0.8
		{"expected.e", "5", Wrong, OtherOption},
		{"expected.e", "0.6723", Wrong, LeftOut},
	})
}

// TestStopsByHand: for many seeds, the drill's answers match those that the test finds in the way a
// person would, without the engine's function. Every stop condition occurs.
func TestStopsByHand(t *testing.T) {
	ended := map[string]int{}
	for level := 1; level <= MaxLevel; level++ {
		for seed := range uint64(100) {
			p := mustNew(t, Stops, seed, level)
			w := newRun(p)
			text, reason, n := "", "", 0
			for i, token := range w.tokens {
				text += token
				n = i + 1
				switch at := strings.Index(text, w.stop.Strings[0]); {
				case token == "":
					reason = "eos"
				case at >= 0:
					reason, text = "stop_string", text[:at]
				case n == w.stop.MaxTokens:
					reason = "max_tokens"
				case w.prompt+n-1 >= w.context:
					reason = "context"
				}
				if reason != "" {
					break
				}
			}
			ended[reason]++
			if v := p.Check("run.reason", reason); v.State != Right {
				t.Errorf("level %d, seed %d ends by %q: %+v, want State = %q", level, seed, reason, v, Right)
			}
			if v := p.Check("run.count", terms.Count(n)); v.State != Right {
				t.Errorf("level %d, seed %d ends at token %d: %+v, want State = %q", level, seed, n, v, Right)
			}
			if v := p.Check("run.text", "…"+visible(tail(text))); v.State != Right {
				t.Errorf("level %d, seed %d returns …%q: %+v, want State = %q", level, seed, tail(text), v, Right)
			}
			if v := p.Check("run.count", terms.Count(n+w.prompt)); v.Mistake != Missing && v.State != Right {
				t.Errorf(
					"level %d, seed %d: counting the prompt: got %+v, want it named as that mistake", level,
					seed, v,
				)
			}
		}
	}
	for _, r := range terms.Stops() {
		if ended[r.Key] < 20 {
			t.Errorf("300 runs end by %v, want each reason at least 20 times", ended)
		}
	}
}

// TestRightChoiceVariesInPosition: the right choice occurs in every position.
func TestRightChoiceVariesInPosition(t *testing.T) {
	places := map[string]int{}
	for seed := range uint64(200) {
		places[mustNew(t, Stops, seed, 2).Answer("run.text")]++
	}
	if places["a"] < 30 || places["b"] < 30 || places["c"] < 20 {
		t.Errorf("the right text is at positions %v, want it often at each of a, b and c", places)
	}
}
