#include "textflag.h"

// e^x in float64 for the scores of a vocabulary, with AVX2 and FMA. Every lane
// does what math.Exp does on this processor, instruction by instruction (Shibata
// 2010, "Efficient evaluation methods of elementary functions suitable for SIMD
// computation"), so the results are the same, bit for bit; a test compares
// them.

// The constants, four times each.
#define FOUR(name, bits) \
	DATA name<>+0(SB)/8, bits; \
	DATA name<>+8(SB)/8, bits; \
	DATA name<>+16(SB)/8, bits; \
	DATA name<>+24(SB)/8, bits; \
	GLOBL name<>(SB), RODATA|NOPTR, $32

FOUR(nothing, $-746.0)                                // up to this argument, e^x is 0
FOUR(normal, $-708.0)                                 // from this argument on, e^x has full precision
FOUR(log2e, $1.4426950408889634073599246810018920)    // 1 / ln 2
FOUR(ln2hi, $0.69314718055966295651160180568695068359375)
FOUR(ln2lo, $0.28235290563031577122588448175013436025525412068e-12)
FOUR(sixteenth, $0.0625)
FOUR(eighthFactor, $2.4801587301587301587e-5)  // 1/8!
FOUR(seventhFactor, $1.9841269841269841270e-4) // 1/7!
FOUR(sixthFactor, $1.3888888888888888889e-3)   // 1/6!
FOUR(fifthFactor, $8.3333333333333333333e-3)   // 1/5!
FOUR(fourthFactor, $4.1666666666666666667e-2)  // 1/4!
FOUR(thirdFactor, $1.6666666666666666667e-1)   // 1/3!
FOUR(half, $0.5)
FOUR(one, $1.0)
FOUR(two, $2.0)
FOUR(bias, $1023) // of the exponent

// func expSum64AVX2(dst *float64, z *float32, n int, max, t, before float64) (done int, sum float64)
//
// dst = e^{(z−max)/t} for n values, n a multiple of 4, none above max; sum is
// before plus all of them, added one by one. It stops early at four values of
// which one is between −746 and −708, where e^x gradually loses precision.
//	DI dst, SI z, CX values left, AX values done
//	Y15 max, Y14 t, X13 sum, Y12 lanes whose result is 0
TEXT ·expSum64AVX2(SB), NOSPLIT, $0-64
	MOVQ dst+0(FP), DI
	MOVQ z+8(FP), SI
	MOVQ n+16(FP), CX
	VBROADCASTSD max+24(FP), Y15
	VBROADCASTSD t+32(FP), Y14
	VMOVSD before+40(FP), X13
	XORQ AX, AX
	TESTQ CX, CX
	JZ    done

next:
	VCVTPS2PD (SI)(AX*4), Y0
	VSUBPD Y15, Y0, Y0
	VDIVPD Y14, Y0, Y0
	VCMPPD $17, nothing<>(SB), Y0, Y12
	VCMPPD $17, normal<>(SB), Y0, Y2
	VANDNPD Y2, Y12, Y2
	VMOVMSKPD Y2, DX
	TESTL DX, DX
	JNZ   done
	VMAXPD normal<>(SB), Y0, Y0

	// x = n·ln 2 + r
	VMULPD log2e<>(SB), Y0, Y1
	VCVTPD2DQY Y1, X2
	VCVTDQ2PD X2, Y1
	VFNMADD231PD ln2hi<>(SB), Y1, Y0
	VFNMADD231PD ln2lo<>(SB), Y1, Y0

	// e^{r/16} − 1 by its Taylor series, then four times (1 + y)² − 1 = y·(2 + y)
	VMULPD sixteenth<>(SB), Y0, Y0
	VMOVUPD eighthFactor<>(SB), Y1
	VFMADD213PD seventhFactor<>(SB), Y0, Y1
	VFMADD213PD sixthFactor<>(SB), Y0, Y1
	VFMADD213PD fifthFactor<>(SB), Y0, Y1
	VFMADD213PD fourthFactor<>(SB), Y0, Y1
	VFMADD213PD thirdFactor<>(SB), Y0, Y1
	VFMADD213PD half<>(SB), Y0, Y1
	VFMADD213PD one<>(SB), Y0, Y1
	VMULPD Y1, Y0, Y0
	VADDPD two<>(SB), Y0, Y1
	VMULPD Y1, Y0, Y0
	VADDPD two<>(SB), Y0, Y1
	VMULPD Y1, Y0, Y0
	VADDPD two<>(SB), Y0, Y1
	VMULPD Y1, Y0, Y0
	VADDPD two<>(SB), Y0, Y1
	VFMADD213PD one<>(SB), Y1, Y0

	// times 2ⁿ
	VPMOVSXDQ X2, Y2
	VPADDQ bias<>(SB), Y2, Y2
	VPSLLQ $52, Y2, Y2
	VMULPD Y2, Y0, Y0
	VANDNPD Y0, Y12, Y0
	VMOVUPD Y0, (DI)(AX*8)

	// The sum is one chain of additions, which overlaps with the next values.
	VEXTRACTF128 $1, Y0, X1
	VADDSD X0, X13, X13
	VUNPCKHPD X0, X0, X0
	VADDSD X0, X13, X13
	VADDSD X1, X13, X13
	VUNPCKHPD X1, X1, X1
	VADDSD X1, X13, X13
	ADDQ $4, AX
	CMPQ AX, CX
	JLT  next

done:
	MOVQ AX, done+48(FP)
	VMOVSD X13, sum+56(FP)
	VZEROUPPER
	RET

// BOTH runs an instruction on two registers of values, so that neither waits for
// its own last result.
#define BOTH(op, with, a, b) \
	op with, a, a; \
	op with, b, b

// SERIES computes a step of a polynomial in x, Z0 and Z1: y = y·x + factor.
#define SERIES(factor) \
	VFMADD213PD factor, Z0, Z2; \
	VFMADD213PD factor, Z1, Z3

// SQUARE replaces y, Z0 and Z1, with (1 + y)² − 1 = y·(2 + y).
#define SQUARE \
	VADDPD Z28, Z0, Z2; \
	VADDPD Z28, Z1, Z3; \
	VMULPD Z2, Z0, Z0; \
	VMULPD Z3, Z1, Z1

// ADD adds two of the previous sixteen values to the sum, one by one. An addition
// waits for the one before it; between other instructions, that wait costs nothing.
#define ADD(at) \
	VADDSD at(R8), X9, X9; \
	VADDSD (at+8)(R8), X9, X9

DATA sixteenZeros<>+0(SB)/8, $0
GLOBL sixteenZeros<>(SB), RODATA|NOPTR, $128

// func expSum64AVX512(dst *float64, z *float32, n int, max, t, before float64) float64
//
// Like expSum64AVX2, for n values, n a multiple of 16 and not 0, but it never stops
// early: where e^x loses precision, VSCALEFPD rounds once, as math.Exp does.
//	DI dst, SI z, CX values left, R8 sixteen results that are still to be added
//	X9 sum, Z0 Z1 x and y, Z2 Z3 polynomials, Z4 Z5 n, Z16–Z31 max, t and constants
TEXT ·expSum64AVX512(SB), NOSPLIT, $0-56
	MOVQ dst+0(FP), DI
	MOVQ z+8(FP), SI
	MOVQ n+16(FP), CX
	VBROADCASTSD max+24(FP), Z16
	VBROADCASTSD t+32(FP), Z17
	VMOVSD before+40(FP), X9
	VBROADCASTSD nothing<>(SB), Z18
	VBROADCASTSD log2e<>(SB), Z19
	VBROADCASTSD ln2hi<>(SB), Z20
	VBROADCASTSD ln2lo<>(SB), Z21
	VBROADCASTSD sixteenth<>(SB), Z22
	VBROADCASTSD seventhFactor<>(SB), Z23
	VBROADCASTSD sixthFactor<>(SB), Z24
	VBROADCASTSD fifthFactor<>(SB), Z25
	VBROADCASTSD fourthFactor<>(SB), Z26
	VBROADCASTSD thirdFactor<>(SB), Z27
	VBROADCASTSD two<>(SB), Z28
	VBROADCASTSD half<>(SB), Z29
	VBROADCASTSD one<>(SB), Z30
	VBROADCASTSD eighthFactor<>(SB), Z31

	LEAQ sixteenZeros<>(SB), R8

next:
	VCVTPS2PD (SI), Z0
	VCVTPS2PD 32(SI), Z1
	BOTH(VSUBPD, Z16, Z0, Z1)
	BOTH(VDIVPD, Z17, Z0, Z1)
	BOTH(VMAXPD, Z18, Z0, Z1)
	VMULPD Z19, Z0, Z4
	VMULPD Z19, Z1, Z5
	VRNDSCALEPD $0, Z4, Z4
	VRNDSCALEPD $0, Z5, Z5
	ADD(0)
	VFNMADD231PD Z20, Z4, Z0
	VFNMADD231PD Z20, Z5, Z1
	VFNMADD231PD Z21, Z4, Z0
	VFNMADD231PD Z21, Z5, Z1
	BOTH(VMULPD, Z22, Z0, Z1)
	VMOVAPD Z31, Z2
	VMOVAPD Z31, Z3
	ADD(16)
	SERIES(Z23)
	SERIES(Z24)
	ADD(32)
	SERIES(Z25)
	SERIES(Z26)
	ADD(48)
	SERIES(Z27)
	SERIES(Z29)
	ADD(64)
	SERIES(Z30)
	VMULPD Z2, Z0, Z0
	VMULPD Z3, Z1, Z1
	SQUARE
	ADD(80)
	SQUARE
	SQUARE
	ADD(96)
	VADDPD Z28, Z0, Z2
	VADDPD Z28, Z1, Z3
	VFMADD213PD Z30, Z2, Z0
	VFMADD213PD Z30, Z3, Z1
	ADD(112)
	VSCALEFPD Z4, Z0, Z0
	VSCALEFPD Z5, Z1, Z1
	VMOVUPD Z0, (DI)
	VMOVUPD Z1, 64(DI)
	MOVQ DI, R8
	ADDQ $64, SI
	ADDQ $128, DI
	SUBQ $16, CX
	JNZ  next
	ADD(0)
	ADD(16)
	ADD(32)
	ADD(48)
	ADD(64)
	ADD(80)
	ADD(96)
	ADD(112)
	VMOVSD X9, ret+48(FP)
	VZEROUPPER
	RET

// func divide64AVX2(x *float64, n int, by float64)
//
// x / by for n values, n a multiple of 4 and not 0.
TEXT ·divide64AVX2(SB), NOSPLIT, $0-24
	MOVQ x+0(FP), DI
	MOVQ n+8(FP), CX
	VBROADCASTSD by+16(FP), Y1

next:
	VMOVUPD (DI), Y0
	VDIVPD Y1, Y0, Y0
	VMOVUPD Y0, (DI)
	ADDQ $32, DI
	SUBQ $4, CX
	JNZ  next
	VZEROUPPER
	RET

// func betweenAVX2(dst *int32, z *float32, n int, from, below float32) int
//
// Writes the indices of the values in [from, below), in order, and returns their
// number; n is a multiple of 8.
//	DI dst, SI z, CX values left, BX index of the next eight
TEXT ·betweenAVX2(SB), NOSPLIT, $0-40
	MOVQ dst+0(FP), DI
	MOVQ z+8(FP), SI
	MOVQ n+16(FP), CX
	VBROADCASTSS from+24(FP), Y1
	VBROADCASTSS below+28(FP), Y2
	XORL BX, BX
	TESTQ CX, CX
	JZ    done

eight:
	VMOVUPS (SI)(BX*4), Y0
	VCMPPS $29, Y1, Y0, Y3
	VCMPPS $17, Y2, Y0, Y4
	VANDPS Y3, Y4, Y3
	VMOVMSKPS Y3, AX
	TESTL AX, AX
	JZ    next

each: // bit set, from the lowest
	BSFL AX, DX
	ADDL BX, DX
	MOVL DX, (DI)
	ADDQ $4, DI
	LEAL -1(AX), DX
	ANDL DX, AX
	JNZ  each

next:
	ADDQ $8, BX
	CMPQ BX, CX
	JLT  eight

done:
	SUBQ dst+0(FP), DI
	SHRQ $2, DI
	MOVQ DI, ret+32(FP)
	VZEROUPPER
	RET
