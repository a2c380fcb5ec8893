package infer

import "github.com/tokenbytoken/viz/infer/checkpoint"

const float32Bytes = 4

// WeightMemory estimates how much memory a loaded model's weights and rotary-position tables use.
// Weights stored as bfloat16 stay bfloat16. Matrices stored in levels use one byte per weight, plus 6 bytes
// for the scale and the sum of every 32 weights. All other weights become float32. Int8 uses one byte per
// weight, plus 4 bytes for the scale and the sum of every 64 weights; the embedding table and the
// output matrix keep their format.
func WeightMemory(c *checkpoint.Checkpoint, quant Quant) int64 {
	g := c.Config
	kept := func(parameters, levels int64) int64 { return wideBytes(c)*(parameters-levels) + levels*(32+6)/32 }
	bytes := kept(c.Parameters(), c.LevelParameters())
	if quant == QuantInt8 {
		tables := int64(g.Vocab) * int64(g.Width)
		if !g.TieEmbeddings {
			tables *= 2
		}
		bytes = kept(tables, c.LevelParameters(checkpoint.Embedding, checkpoint.Output)) +
			(c.Parameters()-tables)*(64+4)/64
	}
	return bytes + float32Bytes*int64(len(g.Ropes()))*int64(g.Context)*int64(g.HeadDim) // cos and sin
}

// KeptAs returns the names of the formats in which weights that are not rounded are kept in memory:
// "float32" or "bfloat16", and "8-bit" for matrices in levels. It leaves out a format of less than a
// twentieth of the weights, such as norms.
func KeptAs(c *checkpoint.Checkpoint) []string {
	var all []string
	levels := c.LevelParameters()
	if levels < c.Parameters()/20*19 {
		all = append(all, map[int64]string{2: "bfloat16", float32Bytes: "float32"}[wideBytes(c)])
	}
	if levels > c.Parameters()/20 {
		all = append(all, "8-bit")
	}
	return all
}

// wideBytes returns the size in memory of a weight that is neither rounded nor kept in levels.
func wideBytes(c *checkpoint.Checkpoint) int64 {
	if types := c.Types(); len(types) > 0 && types[0] == "BF16" {
		return 2
	}
	return float32Bytes
}
