// Package kernel contains the operations in which the engine spends nearly all of its time:
// products of weight matrices and vectors, and a few vector operations for attention, activations
// and the draw.
//
// # Packing
//
// A product with one vector reads every weight once and uses it once, so its speed is limited by
// memory bandwidth. A product with several vectors is limited by the multipliers. Both kinds of
// product are fastest if the weights are stored in the order in which they are used. A matrix is
// therefore divided into panels of 32 rows, and a panel is stored column by column:
//
//	          columns →                       memory →
//	row  0    a0 a1 a2 a3 …                   a0 b0 c0 … | a1 b1 c1 … | a2 b2 …
//	row  1    b0 b1 b2 b3 …        becomes    └ 32 rows ┘ └ 32 rows ┘
//	row  2    c0 c1 c2 c3 …
//	  ⋮
//	row 31    …
//
// One value x1 of the vector, copied to all lanes of a register, is then multiplied by 32
// neighboring weights, and each lane sums one row:
//
//	lanes     sum of row 0   sum of row 1   sum of row 2  …
//	  +=         a1 · x1        b1 · x1        c1 · x1    …
//
// Lanes never mix, and every result is a single sum in the order of the columns, ((w₀x₀ + w₁x₁) +
// w₂x₂) + …, no matter how many vectors are multiplied together. So a position's result has the
// same bits whether the position is processed alone (decode) or with others (prefill). The only
// difference with more vectors is that each loaded weight's products are added to sums in more
// registers. A last panel with fewer rows is padded with zeros.
//
// Most models are stored as bfloat16, the upper half of float32. If all weights of a matrix are
// bfloat16, the weights of rows i and i+16 share a word. This halves the amount of memory to read.
// A shift and a mask convert them back to float32, with bit-identical results.
//
// # Int8
//
// [Quantize] stores one byte per weight. 64 neighboring weights of a row share a scale, chosen so
// that the weight with the largest magnitude becomes ±127. A panel then contains, block after block
// of 64 columns,
//
//	32 heads | a0 a1 a2 a3 b0 b1 b2 b3 … | a4 a5 a6 a7 b4 … | …
//	           └ 4 columns of 32 rows ─┘
//
// This order suits the instruction that sums four products of bytes in a 32-bit lane. Vectors are
// rounded to 16 bits before they are multiplied. Rounding them to 8 bits would lose three times as
// much accuracy as rounding the weights does (LOG.md). The two bytes of each value are multiplied
// separately:
//
//	x = 256 · upper + lower      Σ w·x = 256 · Σ w·upper + Σ w·lower
//
// All these numbers are integers, so the sums are exact on every machine. The AVX-512 instruction
// treats the bytes of x as unsigned. So lower bytes are 0 … 255, and 128 is added to upper bytes.
// To compensate for that, each head contains −Σ w next to the scale. AVX2 has an instruction that
// sums two products in 16 bits and saturates at 32,767. On that path, |x| is multiplied by
// w·sign(x), so a sum is at most 2·128·127.
//
// # Levels
//
// In ggml's formats Q8_0, Q5_0, Q4_0 and IQ4_NL, a weight is an integer from −127 to 127 times a scale that
// 32 neighboring weights of a row share. [PackLevels] stores these integers, so the weights are exact. A
// block of a panel then has two parts of 32 columns:
//
//	32 scales | 32 times −Σ w | a0 a1 a2 a3 b0 … | … | 32 scales | …
//
// Scales are float32. Everything else is as in int8, with a conversion to float32 after each part.
//
// # Paths
//
// The assembly is for amd64: AVX-512 (with VNNI for int8), or AVX2 with FMA. The processor
// determines which of them is used ([Current]). Other processors run portable Go. All three paths
// read the same packed weights. The environment variable VIZ_KERNEL, which is read once at startup,
// can select a path: portable, avx2 or avx512. It cannot select a faster path than the processor
// supports. This package ignores any other value; a program should reject it ([ParsePath]). On any
// given path, results are always the same, bit for bit, and the two vector paths produce the same
// bits in all functions. The portable path rounds each product before adding it, so its float32
// results differ from the vector paths' results in the last digits, but its int8 products do not.
//
// With AVX-512, which has enough registers, attention processes three queries together if they have
// the same keys and values ([ScoresEach], [MixEach]).
//
// # Scores
//
// A draw begins with the scores of the whole vocabulary. This package also contains the operations
// on scores that package sampling needs ([Max], [ExpSum], [DivideBy], [Between]). They use float64,
// and on every path, e^x has the same bits as in the standard library.
//
// The matrix functions are generated (gen); LOG.md lists their speeds and the changes that made
// them fast.
package kernel

//go:generate go run ./gen
