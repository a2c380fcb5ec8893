package infer

import "fmt"

// A PartKind is the kind of a [Part].
type PartKind string

// The kinds of parts whose outputs add up to the residual stream, and so to a token's score.
const (
	PartEmbedding   PartKind = "embedding"    // the token's row of the embedding table
	PartPlaces      PartKind = "positions"    // the position's learned vector
	PartHead        PartKind = "head"         // one attention head
	PartBias        PartKind = "bias"         // the part of a block's attention that does not come from its heads
	PartFeedForward PartKind = "feed_forward" // one block's feed-forward layer, including its bias
	PartFinalBias   PartKind = "final_bias"   // the final norm's bias
	// PartRounding is the effect of rounding vectors before they are multiplied by 8-bit weights: the
	// score minus the sum of the other parts' contributions.
	PartRounding PartKind = "rounding"
)

// A Part is a part of the model that adds to the residual stream. Blocks and heads are numbered
// from 1. Block and Head are 0 for kinds of parts that have none.
type Part struct {
	Kind  PartKind
	Block int
	Head  int
}

// String returns the part's name in flags, links and JSON: L3.H2, L4.ffn,
// L4.bias.
func (p Part) String() string {
	switch p.Kind {
	case PartHead:
		return fmt.Sprintf("L%d.H%d", p.Block, p.Head)
	case PartFeedForward:
		return fmt.Sprintf("L%d.ffn", p.Block)
	case PartBias:
		return fmt.Sprintf("L%d.bias", p.Block)
	}
	return string(p.Kind)
}

// Parts lists all parts of the model in the order in which they add to the stream.
func (m *Model) Parts() []Part {
	parts := []Part{{Kind: PartEmbedding}}
	if m.positions != nil {
		parts = append(parts, Part{Kind: PartPlaces})
	}
	for l := range m.blocks {
		parts = append(parts, m.BlockParts(l+1)...)
	}
	if m.norm.bias != nil {
		parts = append(parts, Part{Kind: PartFinalBias})
	}
	if m.roundsVectors() {
		parts = append(parts, Part{Kind: PartRounding})
	}
	return parts
}

// BlockParts lists the parts of a block (numbered from 1): its heads, its attention bias if it has
// one, and its feed-forward layer.
func (m *Model) BlockParts(block int) []Part {
	var parts []Part
	for h := range m.config.Heads {
		parts = append(parts, Part{PartHead, block, h + 1})
	}
	if b := &m.blocks[block-1]; b.oBias != nil || b.attnPostNorm.bias != nil {
		parts = append(parts, Part{Kind: PartBias, Block: block})
	}
	return append(parts, Part{Kind: PartFeedForward, Block: block})
}
