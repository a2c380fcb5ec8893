package infer

import "github.com/tokenbytoken/viz/infer/checkpoint"

const float32Bytes = 4

// WeightMemory estimates how much memory a loaded model's weights and rotary-position tables use.
// Weights stored as bfloat16 stay bfloat16, and all others become float32. Int8 uses one byte per
// weight, plus 4 bytes for the scale and the sum of every 64 weights; the embedding table and the
// output matrix keep their format.
func WeightMemory(c *checkpoint.Checkpoint, quant Quant) int64 {
	g := c.Config
	wide, _ := KeptAs(c)
	bytes := wide * c.Parameters()
	if quant == QuantInt8 {
		tables := int64(g.Vocab) * int64(g.Width)
		if !g.TieEmbeddings {
			tables *= 2
		}
		bytes = wide*tables + (c.Parameters()-tables)*(64+4)/64
	}
	return bytes + float32Bytes*int64(len(g.Ropes()))*int64(g.Context)*int64(g.HeadDim) // cos and sin
}

// KeptAs returns the size per weight, in bytes, and the name of the in-memory format of weights
// that are not rounded.
func KeptAs(c *checkpoint.Checkpoint) (bytes int64, called string) {
	if types := c.Types(); len(types) > 0 && types[0] == "BF16" {
		return 2, "bfloat16"
	}
	return float32Bytes, "float32"
}
