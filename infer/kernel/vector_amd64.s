#include "textflag.h"

// Operations on the short vectors of attention and activations, with AVX2 and FMA
// in registers of 8 float32. Both vector paths use these functions.

// Eight times −1, then eight times 0: the 8 values from byte 4·(8−n) on are a mask
// for the first n lanes.
DATA lanes<>+0(SB)/8, $-1
DATA lanes<>+8(SB)/8, $-1
DATA lanes<>+16(SB)/8, $-1
DATA lanes<>+24(SB)/8, $-1
DATA lanes<>+32(SB)/8, $0
DATA lanes<>+40(SB)/8, $0
DATA lanes<>+48(SB)/8, $0
DATA lanes<>+56(SB)/8, $0
GLOBL lanes<>(SB), RODATA|NOPTR, $64

// TAIL splits the length n into whole registers (CX, in values) and the rest,
// whose mask it puts into Y15; n becomes the rest. Clobbers AX and R13.
#define TAIL(n) \
	MOVQ n, CX; \
	ANDQ $-8, CX; \
	SUBQ CX, n; \
	LEAQ lanes<>+32(SB), AX; \
	MOVQ n, R13; \
	SHLQ $2, R13; \
	SUBQ R13, AX; \
	VMOVUPS (AX), Y15

// func dotAVX2(dst, q, key *float32, size int, scale float32)
//
// One dot product: eight sums, one per lane, then ((0+1)+(2+3))+((4+5)+(6+7)).
//	SI q, BX key, CX values in whole registers, DX values in the rest
TEXT ·dotAVX2(SB), NOSPLIT, $0-36
	MOVQ q+8(FP), SI
	MOVQ key+16(FP), BX
	MOVQ size+24(FP), DX
	TAIL(DX)
	VXORPS X0, X0, X0
	XORQ AX, AX

whole:
	CMPQ AX, CX
	JGE  rest
	VMOVUPS (SI)(AX*4), Y4
	VFMADD231PS (BX)(AX*4), Y4, Y0
	ADDQ $8, AX
	JMP  whole

rest:
	TESTQ DX, DX
	JZ    reduce
	VMASKMOVPS (SI)(AX*4), Y15, Y4
	VMASKMOVPS (BX)(AX*4), Y15, Y5
	VFMADD231PS Y5, Y4, Y0

reduce:
	VHADDPS Y0, Y0, Y0
	VHADDPS Y0, Y0, Y0
	VEXTRACTF128 $1, Y0, X1
	VADDSS X1, X0, X0
	VMULSS scale+32(FP), X0, X0
	MOVQ dst+0(FP), DI
	VMOVSS X0, (DI)
	VZEROUPPER
	RET

// PAIRS puts the result of VHADDPS into a: the sums of pairs of a, then of b.
// VHADDPS takes several micro-operations; three plain instructions are faster.
// Clobbers Y4 and Y5.
#define PAIRS(b, a) \
	VSHUFPS $0x88, b, a, Y4; \
	VSHUFPS $0xdd, b, a, Y5; \
	VADDPS Y5, Y4, a

// func scoresAVX2(dst, q, keys *float32, stride, size, groups int, scale float32)
//
// Four dot products at a time, each summed like dotAVX2's.
//	DI dst, SI q, R8 bytes from key to key, R12 groups of four left
//	BX R9 R10 R11 the four keys, CX values in whole registers, DX in the rest
//	Y0–Y3 sums of the four, X14 scale
TEXT ·scoresAVX2(SB), NOSPLIT, $0-52
	MOVQ dst+0(FP), DI
	MOVQ q+8(FP), SI
	MOVQ keys+16(FP), BX
	MOVQ stride+24(FP), R8
	MOVQ size+32(FP), DX
	MOVQ groups+40(FP), R12
	VBROADCASTSS scale+48(FP), X14
	SHLQ $2, R8
	TAIL(DX)

four:
	LEAQ (BX)(R8*1), R9
	LEAQ (BX)(R8*2), R10
	LEAQ (R9)(R8*2), R11
	VXORPS X0, X0, X0
	VXORPS X1, X1, X1
	VXORPS X2, X2, X2
	VXORPS X3, X3, X3
	XORQ AX, AX

whole:
	CMPQ AX, CX
	JGE  rest
	VMOVUPS (SI)(AX*4), Y4
	VFMADD231PS (BX)(AX*4), Y4, Y0
	VFMADD231PS (R9)(AX*4), Y4, Y1
	VFMADD231PS (R10)(AX*4), Y4, Y2
	VFMADD231PS (R11)(AX*4), Y4, Y3
	ADDQ $8, AX
	JMP  whole

rest:
	TESTQ DX, DX
	JZ    reduce
	VMASKMOVPS (SI)(AX*4), Y15, Y4
	VMASKMOVPS (BX)(AX*4), Y15, Y5
	VFMADD231PS Y5, Y4, Y0
	VMASKMOVPS (R9)(AX*4), Y15, Y5
	VFMADD231PS Y5, Y4, Y1
	VMASKMOVPS (R10)(AX*4), Y15, Y5
	VFMADD231PS Y5, Y4, Y2
	VMASKMOVPS (R11)(AX*4), Y15, Y5
	VFMADD231PS Y5, Y4, Y3

reduce:
	PAIRS(Y1, Y0)
	PAIRS(Y3, Y2)
	PAIRS(Y2, Y0)
	VEXTRACTF128 $1, Y0, X1
	VADDPS X1, X0, X0
	VMULPS X14, X0, X0
	VMOVUPS X0, (DI)
	ADDQ $16, DI
	LEAQ (BX)(R8*4), BX
	DECQ R12
	JNZ  four
	VZEROUPPER
	RET

// func mixAVX2(dst, weights, values *float32, stride, size, count int)
//
// dst = Σ weights[j] · values[j], j ascending, lane by lane.
//	DI dst, SI weights, BX values, R8 bytes from vector to vector
//	DX size left, R12 count, AX the current vector, R9 weights passed
TEXT ·mixAVX2(SB), NOSPLIT, $0-48
	MOVQ dst+0(FP), DI
	MOVQ weights+8(FP), SI
	MOVQ values+16(FP), BX
	MOVQ stride+24(FP), R8
	MOVQ size+32(FP), DX
	MOVQ count+40(FP), R12
	SHLQ $2, R8

wide: // 32 values in four registers
	CMPQ DX, $32
	JLT  narrow
	VXORPS X0, X0, X0
	VXORPS X1, X1, X1
	VXORPS X2, X2, X2
	VXORPS X3, X3, X3
	MOVQ BX, AX
	XORQ R9, R9

wideNext:
	VBROADCASTSS (SI)(R9*4), Y4
	VFMADD231PS (AX), Y4, Y0
	VFMADD231PS 32(AX), Y4, Y1
	VFMADD231PS 64(AX), Y4, Y2
	VFMADD231PS 96(AX), Y4, Y3
	ADDQ R8, AX
	INCQ R9
	CMPQ R9, R12
	JLT  wideNext
	VMOVUPS Y0, (DI)
	VMOVUPS Y1, 32(DI)
	VMOVUPS Y2, 64(DI)
	VMOVUPS Y3, 96(DI)
	ADDQ $128, DI
	ADDQ $128, BX
	SUBQ $32, DX
	JMP  wide

narrow: // 8 values in one register
	CMPQ DX, $8
	JLT  rest
	VXORPS X0, X0, X0
	MOVQ BX, AX
	XORQ R9, R9

narrowNext:
	VBROADCASTSS (SI)(R9*4), Y4
	VFMADD231PS (AX), Y4, Y0
	ADDQ R8, AX
	INCQ R9
	CMPQ R9, R12
	JLT  narrowNext
	VMOVUPS Y0, (DI)
	ADDQ $32, DI
	ADDQ $32, BX
	SUBQ $8, DX
	JMP  narrow

rest: // up to 7 values
	TESTQ DX, DX
	JZ    done
	TAIL(DX)
	VXORPS X0, X0, X0
	XORQ R9, R9

restNext:
	VBROADCASTSS (SI)(R9*4), Y4
	VMASKMOVPS (BX), Y15, Y5
	VFMADD231PS Y5, Y4, Y0
	ADDQ R8, BX
	INCQ R9
	CMPQ R9, R12
	JLT  restNext
	VMASKMOVPS Y0, Y15, (DI)

done:
	VZEROUPPER
	RET

// func addScaledAVX2(dst, x *float32, n int, s float32)
TEXT ·addScaledAVX2(SB), NOSPLIT, $0-28
	MOVQ dst+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ n+16(FP), DX
	VBROADCASTSS s+24(FP), Y4
	TAIL(DX)
	XORQ AX, AX

whole:
	CMPQ AX, CX
	JGE  rest
	VMOVUPS (DI)(AX*4), Y0
	VFMADD231PS (SI)(AX*4), Y4, Y0
	VMOVUPS Y0, (DI)(AX*4)
	ADDQ $8, AX
	JMP  whole

rest:
	TESTQ DX, DX
	JZ    done
	VMASKMOVPS (DI)(AX*4), Y15, Y0
	VMASKMOVPS (SI)(AX*4), Y15, Y5
	VFMADD231PS Y5, Y4, Y0
	VMASKMOVPS Y0, Y15, (DI)(AX*4)

done:
	VZEROUPPER
	RET

// func scaleByAVX2(dst, x, weight *float32, n int, s float32)
//
// dst = (x · s) · weight, rounded after each of the two.
TEXT ·scaleByAVX2(SB), NOSPLIT, $0-36
	MOVQ dst+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ weight+16(FP), BX
	MOVQ n+24(FP), DX
	VBROADCASTSS s+32(FP), Y4
	TAIL(DX)
	XORQ AX, AX

whole:
	CMPQ AX, CX
	JGE  rest
	VMULPS (SI)(AX*4), Y4, Y0
	VMULPS (BX)(AX*4), Y0, Y0
	VMOVUPS Y0, (DI)(AX*4)
	ADDQ $8, AX
	JMP  whole

rest:
	TESTQ DX, DX
	JZ    done
	VMASKMOVPS (SI)(AX*4), Y15, Y0
	VMASKMOVPS (BX)(AX*4), Y15, Y5
	VMULPS Y4, Y0, Y0
	VMULPS Y5, Y0, Y0
	VMASKMOVPS Y0, Y15, (DI)(AX*4)

done:
	VZEROUPPER
	RET

// The constants of EXP, eight times each.
#define EIGHT(name, bits) \
	DATA name<>+0(SB)/8, bits; \
	DATA name<>+8(SB)/8, bits; \
	DATA name<>+16(SB)/8, bits; \
	DATA name<>+24(SB)/8, bits; \
	GLOBL name<>(SB), RODATA|NOPTR, $32

EIGHT(most, $0x42b0000042b00000)   // 88
EIGHT(least, $0xc2ae0000c2ae0000)  // −87
EIGHT(log2e, $0x3fb8aa3b3fb8aa3b)  // 1 / ln 2
EIGHT(ln2hi, $0x3f3180003f318000)  // ln 2, the first bits
EIGHT(ln2lo, $0xb95e8083b95e8083)  // ln 2, the rest (negative)
EIGHT(one, $0x3f8000003f800000)    // 1
EIGHT(half, $0x3f0000003f000000)   // 1/2!
EIGHT(third, $0x3e2aaaab3e2aaaab)  // 1/3!
EIGHT(fourth, $0x3d2aaaab3d2aaaab) // 1/4!
EIGHT(fifth, $0x3c0888893c088889)  // 1/5!
EIGHT(sixth, $0x3ab60b613ab60b61)  // 1/6!
EIGHT(bias, $0x3f8000003f800000)   // the exponent field of 1

// EXP replaces Y0 with e^Y0 = 2ⁿ · (1 + r + r²/2! + … + r⁶/6!), where n is the
// integer nearest to Y0/ln 2, and r = Y0 − n·ln 2, so |r| ≤ ln 2 / 2. The argument
// is clamped to −87 … 88, so that 2ⁿ is a normal number. Clobbers Y1, Y2.
#define EXP \
	VMAXPS least<>(SB), Y0, Y0; \
	VMINPS most<>(SB), Y0, Y0; \
	VMULPS log2e<>(SB), Y0, Y1; \
	VROUNDPS $0, Y1, Y1; \
	VFNMADD231PS ln2hi<>(SB), Y1, Y0; \
	VFNMADD231PS ln2lo<>(SB), Y1, Y0; \
	VMOVUPS sixth<>(SB), Y2; \
	VFMADD213PS fifth<>(SB), Y0, Y2; \
	VFMADD213PS fourth<>(SB), Y0, Y2; \
	VFMADD213PS third<>(SB), Y0, Y2; \
	VFMADD213PS half<>(SB), Y0, Y2; \
	VFMADD213PS one<>(SB), Y0, Y2; \
	VFMADD213PS one<>(SB), Y0, Y2; \
	VCVTPS2DQ Y1, Y1; \
	VPSLLD $23, Y1, Y1; \
	VPADDD bias<>(SB), Y1, Y1; \
	VMULPS Y1, Y2, Y0

// func maxAVX2(x *float32, n int) float32
//
// The largest of n values, n a multiple of 8 and not 0.
TEXT ·maxAVX2(SB), NOSPLIT, $0-20
	MOVQ x+0(FP), SI
	MOVQ n+8(FP), CX
	VMOVUPS (SI), Y0

next:
	VMAXPS (SI), Y0, Y0
	ADDQ $32, SI
	SUBQ $8, CX
	JNZ  next
	VEXTRACTF128 $1, Y0, X1
	VMAXPS X1, X0, X0
	VPERMILPS $0x4e, X0, X1
	VMAXPS X1, X0, X0
	VPERMILPS $0xb1, X0, X1
	VMAXSS X1, X0, X0
	VMOVSS X0, ret+16(FP)
	VZEROUPPER
	RET

// func mostBitsAVX2(x *float32, n int) uint32
//
// Returns the largest of the n values' bits, as integers without the sign bits; n
// is a multiple of 8 and not 0.
TEXT ·mostBitsAVX2(SB), NOSPLIT, $0-20
	MOVQ x+0(FP), SI
	MOVQ n+8(FP), CX
	VPXOR X0, X0, X0
	VPCMPEQD Y2, Y2, Y2
	VPSRLD $1, Y2, Y2

next:
	VPAND (SI), Y2, Y1
	VPMAXSD Y1, Y0, Y0
	ADDQ $32, SI
	SUBQ $8, CX
	JNZ  next
	VEXTRACTI128 $1, Y0, X1
	VPMAXSD X1, X0, X0
	VPSHUFD $0x4e, X0, X1
	VPMAXSD X1, X0, X0
	VPSHUFD $0xb1, X0, X1
	VPMAXSD X1, X0, X0
	VMOVD X0, AX
	MOVL AX, ret+16(FP)
	VZEROUPPER
	RET

// func expSumAVX2(x *float32, n int, max float32) float32
//
// x = e^(x − max) for n values, n a multiple of 8 and not 0; returns the sum.
//	Y3 sum, Y4 max
TEXT ·expSumAVX2(SB), NOSPLIT, $0-28
	MOVQ x+0(FP), SI
	MOVQ n+8(FP), CX
	VBROADCASTSS max+16(FP), Y4
	VXORPS X3, X3, X3

next:
	VMOVUPS (SI), Y0
	VSUBPS Y4, Y0, Y0
	EXP
	VMOVUPS Y0, (SI)
	VADDPS Y0, Y3, Y3
	ADDQ $32, SI
	SUBQ $8, CX
	JNZ  next
	VHADDPS Y3, Y3, Y3
	VHADDPS Y3, Y3, Y3
	VEXTRACTF128 $1, Y3, X1
	VADDSS X1, X3, X3
	VMOVSS X3, ret+24(FP)
	VZEROUPPER
	RET

// func divideAVX2(x *float32, n int, by float32)
//
// x = x / by for n values.
TEXT ·divideAVX2(SB), NOSPLIT, $0-20
	MOVQ x+0(FP), DI
	MOVQ n+8(FP), DX
	VBROADCASTSS by+16(FP), Y4
	TAIL(DX)
	XORQ AX, AX

whole:
	CMPQ AX, CX
	JGE  rest
	VMOVUPS (DI)(AX*4), Y0
	VDIVPS Y4, Y0, Y0
	VMOVUPS Y0, (DI)(AX*4)
	ADDQ $8, AX
	JMP  whole

rest:
	TESTQ DX, DX
	JZ    done
	VMASKMOVPS (DI)(AX*4), Y15, Y0
	VDIVPS Y4, Y0, Y0
	VMASKMOVPS Y0, Y15, (DI)(AX*4)

done:
	VZEROUPPER
	RET

// func swigluAVX2(gate, up *float32, n int)
//
// gate = gate / (1 + e^−gate) · up for n values, n a multiple of 8 and not 0.
//	Y5 gate, Y6 sign bits
TEXT ·swigluAVX2(SB), NOSPLIT, $0-24
	MOVQ gate+0(FP), DI
	MOVQ up+8(FP), SI
	MOVQ n+16(FP), CX
	VPCMPEQD Y6, Y6, Y6
	VPSLLD $31, Y6, Y6

next:
	VMOVUPS (DI), Y5
	VXORPS Y6, Y5, Y0
	EXP
	VADDPS one<>(SB), Y0, Y0
	VDIVPS Y0, Y5, Y5
	VMULPS (SI), Y5, Y5
	VMOVUPS Y5, (DI)
	ADDQ $32, DI
	ADDQ $32, SI
	SUBQ $8, CX
	JNZ  next
	VZEROUPPER
	RET

// SPLIT rounds the 32 values from `at` on and writes their upper and lower bytes;
// quantizeAVX2 lists the registers. Packing works on each half of a register
// separately, so VPERMD then puts the bytes in order.
#define SPLIT(at, upper, lower) \
	VMULPS at+0(SI), Y3, Y0; \
	VMULPS at+32(SI), Y3, Y1; \
	VMULPS at+64(SI), Y3, Y2; \
	VMULPS at+96(SI), Y3, Y4; \
	VCVTPS2DQ Y0, Y0; \
	VCVTPS2DQ Y1, Y1; \
	VCVTPS2DQ Y2, Y2; \
	VCVTPS2DQ Y4, Y4; \
	VPACKSSDW Y1, Y0, Y0; \
	VPACKSSDW Y4, Y2, Y2; \
	VPADDW Y11, Y0, Y1; \
	VPADDW Y11, Y2, Y4; \
	VPSRAW $8, Y1, Y1; \
	VPSRAW $8, Y4, Y4; \
	VPACKSSWB Y4, Y1, Y1; \
	VPERMD Y1, Y10, Y1; \
	VPXOR Y7, Y1, Y1; \
	VMOVDQU Y1, upper(DI); \
	VPAND Y12, Y0, Y0; \
	VPAND Y12, Y2, Y2; \
	VPACKUSWB Y2, Y0, Y0; \
	VPERMD Y0, Y10, Y0; \
	VMOVDQU Y0, lower(DI)

// func quantizeAVX2(q *int8, scale, x *float32, blocks int, unsigned bool)
//
// Each block of 64 values becomes 16-bit numbers and a scale = max |x| / 32,512:
// the values times 32,512 / max |x|, rounded to the nearest, ties to even. They
// are written as 64 upper bytes and 64 lower bytes: number = 256 · upper + lower,
// both signed. If unsigned is set, the lower bytes are 0 … 255 instead, and 128 is
// added to the upper ones. The maximum is computed from the bits of |x|, which
// sort as integers in the same order as the values, with Inf and NaN last, so Inf
// and NaN affect the scale.
//	DI q, R8 scale, SI x, CX blocks left, Y6 mask of |x|, X8 32,512
//	X9 the largest maximum that counts as 0, Y10 order of words after packing
//	Y7 value to XOR the upper bytes with: 128, or 0 if signed
//	Y11 value to add before the upper bytes are extracted: 0, or 128 if signed
//	Y12 mask of lower bytes
TEXT ·quantizeAVX2(SB), NOSPLIT, $0-33
	MOVQ q+0(FP), DI
	MOVQ scale+8(FP), R8
	MOVQ x+16(FP), SI
	MOVQ blocks+24(FP), CX
	VPCMPEQW Y6, Y6, Y6
	VPSRLW $8, Y6, Y12
	VPXOR Y7, Y7, Y7
	VPXOR Y11, Y11, Y11
	VPSRLD $1, Y6, Y6
	MOVL $0x80808080, AX
	VMOVD AX, X0
	VPBROADCASTD X0, Y0
	CMPB unsigned+32(FP), $0
	JEQ  signed
	VMOVDQA Y0, Y7
	JMP  constants

signed:
	VPSRLW $8, Y0, Y11

constants:
	MOVL $0x46fe0000, AX // 32512
	VMOVD AX, X8
	MOVL $0x0da24260, AX // 1e-30
	VMOVD AX, X9
	VMOVDQU order<>(SB), Y10

block:
	VPAND (SI), Y6, Y0
	VPAND 32(SI), Y6, Y1
	VPAND 64(SI), Y6, Y2
	VPAND 96(SI), Y6, Y3
	VPMAXSD Y1, Y0, Y0
	VPMAXSD Y3, Y2, Y2
	VPMAXSD Y2, Y0, Y0
	VPAND 128(SI), Y6, Y1
	VPAND 160(SI), Y6, Y2
	VPAND 192(SI), Y6, Y3
	VPAND 224(SI), Y6, Y4
	VPMAXSD Y2, Y1, Y1
	VPMAXSD Y4, Y3, Y3
	VPMAXSD Y3, Y1, Y1
	VPMAXSD Y1, Y0, Y0
	VEXTRACTI128 $1, Y0, X1
	VPMAXSD X1, X0, X0
	VPSHUFD $0x4e, X0, X1
	VPMAXSD X1, X0, X0
	VPSHUFD $0xb1, X0, X1
	VPMAXSD X1, X0, X0 // max |x|
	VXORPS X2, X2, X2  // scale and factor of a block of zeros
	VXORPS X3, X3, X3
	VUCOMISS X0, X9
	JCC    scaled      // 1e-30 ≥ max; NaN continues
	VDIVSS X8, X0, X2  // scale = max / 32,512
	VDIVSS X0, X8, X3  // factor = 32,512 / max

scaled:
	VMOVSS X2, (R8)
	VBROADCASTSS X3, Y3
	SPLIT(0, 0, 64)
	SPLIT(128, 32, 96)
	ADDQ $256, SI
	ADDQ $128, DI
	ADDQ $4, R8
	DECQ CX
	JNZ  block
	VZEROUPPER
	RET

// The order of the groups of four bytes after packing: 0 4 1 5 2 6 3 7.
DATA order<>+0(SB)/8, $0x0000000400000000
DATA order<>+8(SB)/8, $0x0000000500000001
DATA order<>+16(SB)/8, $0x0000000600000002
DATA order<>+24(SB)/8, $0x0000000700000003
GLOBL order<>(SB), RODATA|NOPTR, $32
