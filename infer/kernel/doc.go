// Package kernel contains the operations that take nearly all of the engine's
// time: products of weight matrices with vectors, and the few vector operations
// of attention, activations and the draw.
//
// # Packing
//
// A product with one vector reads every weight once and uses it once, so memory
// bandwidth limits its speed; a product with several vectors is limited by the
// multipliers. Both want the weights in the order of use. A matrix is therefore
// cut into panels of 32 rows, and a panel is stored column by column:
//
//	          columns →                       memory →
//	row  0    a0 a1 a2 a3 …                   a0 b0 c0 … | a1 b1 c1 … | a2 b2 …
//	row  1    b0 b1 b2 b3 …        becomes    └ 32 rows ┘ └ 32 rows ┘
//	row  2    c0 c1 c2 c3 …
//	  ⋮
//	row 31    …
//
// One value x1 of the vector, copied to all lanes of a register, then serves 32
// neighboring weights, and each lane sums one row:
//
//	lanes     sum of row 0   sum of row 1   sum of row 2  …
//	  +=         a1 · x1        b1 · x1        c1 · x1    …
//
// Lanes never mix, and every result is one sum in the order of the columns,
// ((w₀x₀ + w₁x₁) + w₂x₂) + …, however many vectors are multiplied at once: a
// position gives the same bits alone (decode) and among others (prefill). More
// vectors only mean more registers of sums for each weight loaded. Rows that
// fill no panel are padded with zeros.
//
// Most models are stored as bfloat16, the upper half of float32. If all weights of a matrix are,
// the weights of row i and row i+16 share a word: half the memory to read, and a shift and a mask
// make them float32 again, with bit-identical results.
//
// # Int8
//
// [Quantize] keeps a byte a weight: 64 neighboring weights of a row share a
// scale, by which the largest of them becomes ±127. A panel then holds, block
// after block of 64 columns,
//
//	32 heads | a0 a1 a2 a3 b0 b1 b2 b3 … | a4 a5 a6 a7 b4 … | …
//	           └ 4 columns of 32 rows ─┘
//
// since one instruction sums four products of bytes in a lane of 32 bits.
// Vectors are rounded when they are multiplied, to 16 bits: rounding them to 8
// would lose three times the accuracy that rounding the weights does (LOG.md).
// The two bytes of each value are multiplied apart:
//
//	x = 256 · upper + lower      Σ w·x = 256 · Σ w·upper + Σ w·lower
//
// All these are whole numbers, so they are exact on every machine. The AVX-512
// instruction reads bytes of x as unsigned: lower bytes are then 0 … 255, and
// upper bytes get 128 added, which a head undoes with the −Σ w that it holds
// next to the scale. AVX2 has an instruction that sums two products in 16 bits
// and saturates at 32,767; there |x| is multiplied with w·sign(x), at most
// 2·128·127.
//
// # Paths
//
// The assembly is for amd64: AVX-512 (with VNNI for int8), or AVX2 with FMA.
// The processor decides which ([Current]); others run portable Go. All three
// read the same packed weights. The environment variable VIZ_KERNEL, read once
// at the start, selects a slower path than the processor could run: portable,
// avx2 or avx512. This package ignores any other value; a program should reject
// it ([ParsePath]). Within a path results never differ by a bit; the two vector
// paths give the same bits in everything; the portable path rounds each product
// before it is added, so its float32 results differ in the last places, its
// int8 products in none.
//
// Where AVX-512 has the registers for it, attention handles three queries with
// the same keys and values together ([ScoresEach], [MixEach]).
//
// # Scores
//
// A draw begins with the scores of the whole vocabulary. The operations that
// package sampling needs on them are here too ([Max], [ExpSum], [DivideBy],
// [Between]): in float64, and on every path with the bits of the standard
// library's e^x.
//
// The matrix functions are generated (gen); LOG.md has their rates and what
// made them fast.
package kernel

//go:generate go run ./gen
