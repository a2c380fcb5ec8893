package sampling

// excludeTop is XTC, "exclude top choices" (p-e-w 2024, text-generation-webui pull request 6335).
// With the given probability (if u is below it), and if at least two tokens reach the threshold, it
// cuts all of these except the least probable, so a less likely but still sensible word is chosen.
// Otherwise it keeps everything.
//
// The rule's u is a function of the seed and the step alone ([UFor], [ForRule]). So with the same
// link, log or trace, it strikes at the same steps; if it strikes at a step, it also strikes when
// the step is repeated; and moving the rule within the order does not change when it strikes. Other
// programs draw from a generator that advances from call to call: llama.cpp's rule
// (llama_sampler_xtc) has its own Mersenne Twister, so with the same seed, it strikes at other
// steps, but just as often. Given the u that llama.cpp draws, this rule strikes when llama.cpp's
// rule does and leaves the same tokens (testdata/samplers).
func excludeTop(f field, in input) mask {
	least, _ := in.Value("xtc_threshold")
	all := mask{n: len(f.ids), bound: least}
	if in.u >= in.XTCProbability {
		return all
	}
	reach := 0
	for reach < len(f.ids) && f.p[f.ids[reach]]/f.mass >= least {
		reach++
	}
	if reach < 2 {
		return all
	}
	m := mask{n: len(f.ids) - reach + 1, some: make([]bool, len(f.ids)), bound: least}
	for r := reach - 1; r < len(f.ids); r++ {
		m.some[r] = true
	}
	return m
}

func topChoice(f field, m mask, at int, _ Settings) Reason {
	return Reason{Value: f.share(at), Bound: m.bound}
}
