#include "textflag.h"

// Attention and activations with AVX-512. Every result is the same as with AVX2
// (vector_amd64.s), bit for bit: lanes are added in the same order, but more of
// them at a time.

// FOUR adds up 8 lanes of a query times those of four keys, Y16–Y19.
#define FOUR(query, a, b, c, d) \
	VFMADD231PS Y16, query, a; \
	VFMADD231PS Y17, query, b; \
	VFMADD231PS Y18, query, c; \
	VFMADD231PS Y19, query, d

// PAIRS puts the result of VHADDPS into a: the sums of pairs of a, then of b.
// VHADDPS takes several micro-operations; three plain instructions are faster.
// Clobbers Y12 and Y13.
#define PAIRS(b, a) \
	VSHUFPS $0x88, b, a, Y12; \
	VSHUFPS $0xdd, b, a, Y13; \
	VADDPS Y13, Y12, a

// SUMS adds up the lanes of four registers, scales the sums and writes them to
// dst. Clobbers Y12 and Y13.
#define SUMS(a, b, c, d, ax, dst) \
	PAIRS(b, a); \
	PAIRS(d, c); \
	PAIRS(c, a); \
	VEXTRACTF128 $1, a, X13; \
	VADDPS X13, ax, ax; \
	VMULPS X14, ax, ax; \
	VMOVUPS ax, dst

// func scoresAVX512x3(dst *float32, dstStride int, q, keys *float32, stride, size, count int, scale float32)
//
// Three queries with the same keys, four keys at a time: each key is loaded
// once. size is a multiple of 8, count is 4 or more. If count is not a multiple
// of 4, some of the last keys are computed twice.
//	DI R8 R9 results of the three queries, SI R10 R11 the queries
//	BX DX R12 R13 four keys, AX bytes from key to key, CX keys left, R15 bytes of a query done
//	Y0–Y3, Y4–Y7, Y8–Y11 sums, X14 scale
TEXT ·scoresAVX512x3(SB), NOSPLIT, $0-60
	MOVQ dst+0(FP), DI
	MOVQ dstStride+8(FP), R9
	MOVQ q+16(FP), SI
	MOVQ keys+24(FP), BX
	MOVQ stride+32(FP), AX
	MOVQ count+48(FP), CX
	VBROADCASTSS scale+56(FP), X14
	SHLQ $2, R9
	LEAQ (DI)(R9*1), R8
	ADDQ R8, R9
	MOVQ size+40(FP), R11
	SHLQ $2, R11
	LEAQ (SI)(R11*1), R10
	ADDQ R10, R11
	SHLQ $2, AX

four:
	LEAQ (BX)(AX*1), DX
	LEAQ (BX)(AX*2), R12
	LEAQ (DX)(AX*2), R13
	VXORPS X0, X0, X0
	VXORPS X1, X1, X1
	VXORPS X2, X2, X2
	VXORPS X3, X3, X3
	VXORPS X4, X4, X4
	VXORPS X5, X5, X5
	VXORPS X6, X6, X6
	VXORPS X7, X7, X7
	VXORPS X8, X8, X8
	VXORPS X9, X9, X9
	VXORPS X10, X10, X10
	VXORPS X11, X11, X11
	XORQ R15, R15

eight:
	VMOVUPS (BX)(R15*4), Y16
	VMOVUPS (DX)(R15*4), Y17
	VMOVUPS (R12)(R15*4), Y18
	VMOVUPS (R13)(R15*4), Y19
	VMOVUPS (SI)(R15*4), Y20
	VMOVUPS (R10)(R15*4), Y21
	VMOVUPS (R11)(R15*4), Y22
	FOUR(Y20, Y0, Y1, Y2, Y3)
	FOUR(Y21, Y4, Y5, Y6, Y7)
	FOUR(Y22, Y8, Y9, Y10, Y11)
	ADDQ $8, R15
	CMPQ R15, size+40(FP)
	JLT  eight
	SUMS(Y0, Y1, Y2, Y3, X0, (DI))
	SUMS(Y4, Y5, Y6, Y7, X4, (R8))
	SUMS(Y8, Y9, Y10, Y11, X8, (R9))
	SUBQ $4, CX
	JZ   done
	CMPQ CX, $4
	JLT  last
	ADDQ $16, DI
	ADDQ $16, R8
	ADDQ $16, R9
	LEAQ (BX)(AX*4), BX
	JMP  four

last: // CX keys, and enough keys before them to make four
	LEAQ (DI)(CX*4), DI
	LEAQ (R8)(CX*4), R8
	LEAQ (R9)(CX*4), R9
	MOVQ CX, R15
	IMULQ AX, R15
	ADDQ R15, BX
	MOVQ $4, CX
	JMP  four

done:
	VZEROUPPER
	RET

// func mixAVX512x3(dst, weights *float32, weightStride int, values *float32, stride, size, count int)
//
// Three rows of weights with the same values: each value is loaded once. size
// is a multiple of 32.
//	DI R8 R9 results, SI R10 R11 the rows of weights, BX values, DX size left
//	AX the current vector, CX weights passed, R12 count, R13 bytes from vector to vector
TEXT ·mixAVX512x3(SB), NOSPLIT, $0-56
	MOVQ dst+0(FP), DI
	MOVQ weights+8(FP), SI
	MOVQ weightStride+16(FP), R11
	MOVQ values+24(FP), BX
	MOVQ stride+32(FP), R13
	MOVQ size+40(FP), DX
	MOVQ count+48(FP), R12
	SHLQ $2, R11
	LEAQ (SI)(R11*1), R10
	ADDQ R10, R11
	LEAQ (DI)(DX*4), R8
	LEAQ (R8)(DX*4), R9
	SHLQ $2, R13

wide: // 32 values
	VXORPS X0, X0, X0
	VXORPS X1, X1, X1
	VXORPS X2, X2, X2
	VXORPS X3, X3, X3
	VXORPS X4, X4, X4
	VXORPS X5, X5, X5
	MOVQ BX, AX
	XORQ CX, CX

next:
	VMOVUPS (AX), Z16
	VMOVUPS 64(AX), Z17
	VBROADCASTSS (SI)(CX*4), Z18
	VBROADCASTSS (R10)(CX*4), Z19
	VBROADCASTSS (R11)(CX*4), Z20
	VFMADD231PS Z16, Z18, Z0
	VFMADD231PS Z17, Z18, Z1
	VFMADD231PS Z16, Z19, Z2
	VFMADD231PS Z17, Z19, Z3
	VFMADD231PS Z16, Z20, Z4
	VFMADD231PS Z17, Z20, Z5
	ADDQ R13, AX
	INCQ CX
	CMPQ CX, R12
	JLT  next
	VMOVUPS Z0, (DI)
	VMOVUPS Z1, 64(DI)
	VMOVUPS Z2, (R8)
	VMOVUPS Z3, 64(R8)
	VMOVUPS Z4, (R9)
	VMOVUPS Z5, 64(R9)
	ADDQ $128, DI
	ADDQ $128, R8
	ADDQ $128, R9
	ADDQ $128, BX
	SUBQ $32, DX
	JNZ  wide
	VZEROUPPER
	RET

// The constants of EXP in vector_amd64.s, once each.
#define ONCE(name, bits) \
	DATA name<>+0(SB)/4, bits; \
	GLOBL name<>(SB), RODATA|NOPTR, $4

ONCE(expMost, $0x42b00000)   // 88
ONCE(expLeast, $0xc2ae0000)  // −87
ONCE(expLog2e, $0x3fb8aa3b)  // 1 / ln 2
ONCE(expLn2hi, $0x3f318000)  // ln 2, the first bits
ONCE(expLn2lo, $0xb95e8083)  // ln 2, the rest (negative)
ONCE(expOne, $0x3f800000)    // 1
ONCE(expHalf, $0x3f000000)   // 1/2!
ONCE(expThird, $0x3e2aaaab)  // 1/3!
ONCE(expFourth, $0x3d2aaaab) // 1/4!
ONCE(expFifth, $0x3c088889)  // 1/5!
ONCE(expSixth, $0x3ab60b61)  // 1/6!

// LOADEXP loads them into Z20 to Z30 for EXP512.
#define LOADEXP \
	VBROADCASTSS expLeast<>(SB), Z20; \
	VBROADCASTSS expMost<>(SB), Z21; \
	VBROADCASTSS expLog2e<>(SB), Z22; \
	VBROADCASTSS expLn2hi<>(SB), Z23; \
	VBROADCASTSS expLn2lo<>(SB), Z24; \
	VBROADCASTSS expSixth<>(SB), Z25; \
	VBROADCASTSS expFifth<>(SB), Z26; \
	VBROADCASTSS expFourth<>(SB), Z27; \
	VBROADCASTSS expThird<>(SB), Z28; \
	VBROADCASTSS expHalf<>(SB), Z29; \
	VBROADCASTSS expOne<>(SB), Z30

// EXP512 replaces y with e^y, as EXP does for half as many values. Clobbers n and p.
#define EXP512(y, n, p) \
	VMAXPS Z20, y, y; \
	VMINPS Z21, y, y; \
	VMULPS Z22, y, n; \
	VRNDSCALEPS $0, n, n; \
	VFNMADD231PS Z23, n, y; \
	VFNMADD231PS Z24, n, y; \
	VMOVAPS Z25, p; \
	VFMADD213PS Z26, y, p; \
	VFMADD213PS Z27, y, p; \
	VFMADD213PS Z28, y, p; \
	VFMADD213PS Z29, y, p; \
	VFMADD213PS Z30, y, p; \
	VFMADD213PS Z30, y, p; \
	VSCALEFPS n, p, y

// func expSumAVX512(x *float32, n int, max float32) float32
//
// Like expSumAVX2, for n values, n a multiple of 8 and not 0. The first half of a
// register is added to the 8 sums, then the second half.
//	Y3 sums, Z4 max
TEXT ·expSumAVX512(SB), NOSPLIT, $0-28
	MOVQ x+0(FP), SI
	MOVQ n+8(FP), CX
	VBROADCASTSS max+16(FP), Z4
	VXORPS X3, X3, X3
	LOADEXP
	CMPQ CX, $16
	JLT  half

next:
	VMOVUPS (SI), Z0
	VSUBPS Z4, Z0, Z0
	EXP512(Z0, Z1, Z2)
	VMOVUPS Z0, (SI)
	VEXTRACTF64X4 $1, Z0, Y1
	VADDPS Y0, Y3, Y3
	VADDPS Y1, Y3, Y3
	ADDQ $64, SI
	SUBQ $16, CX
	CMPQ CX, $16
	JGE  next

half: // 8 values are left, or none
	TESTQ CX, CX
	JZ    sums
	VMOVUPS (SI), Y0
	VSUBPS Y4, Y0, Y0
	EXP512(Z0, Z1, Z2)
	VMOVUPS Y0, (SI)
	VADDPS Y0, Y3, Y3

sums:
	VHADDPS Y3, Y3, Y3
	VHADDPS Y3, Y3, Y3
	VEXTRACTF128 $1, Y3, X1
	VADDSS X1, X3, X3
	VMOVSS X3, ret+24(FP)
	VZEROUPPER
	RET

// func swigluAVX512(gate, up *float32, n int)
//
// Like swigluAVX2, for n values, n a multiple of 16 and not 0.
//	Z5 gate, Z6 sign bits
TEXT ·swigluAVX512(SB), NOSPLIT, $0-24
	MOVQ gate+0(FP), DI
	MOVQ up+8(FP), SI
	MOVQ n+16(FP), CX
	VPTERNLOGD $255, Z6, Z6, Z6
	VPSLLD $31, Z6, Z6
	LOADEXP

next:
	VMOVUPS (DI), Z5
	VPXORD Z6, Z5, Z0
	EXP512(Z0, Z1, Z2)
	VADDPS Z30, Z0, Z0
	VDIVPS Z0, Z5, Z5
	VMULPS (SI), Z5, Z5
	VMOVUPS Z5, (DI)
	ADDQ $64, DI
	ADDQ $64, SI
	SUBQ $16, CX
	JNZ  next
	VZEROUPPER
	RET
