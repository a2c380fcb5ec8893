package checkpoint

// K-quants store 256 values in a superblock. A superblock consists of parts. Each part has its own
// scale, an integer that is multiplied by an F16 factor that the whole superblock shares. K-quants
// are the most common formats for llama.cpp today: a "Q4_K_M" file mixes Q4_K with Q6_K.
//
// Q4_K and Q5_K have eight parts of 32 values. A value is (d·scale)·q − (dmin·min)
// with a q of 4 or 5 bits:
//
//	d F16, dmin F16, 12 bytes with 8 scales and 8 minima of 6 bits,
//	Q5_K: 32 bytes; bit p of byte i is the fifth bit of value i of part p,
//	4 × 32 bytes: the low halves are a part, the high halves the next
//
// Q6_K has sixteen parts of 16 values. A value is (d·scale)·(q − 32):
//
//	128 bytes with the low 4 bits of q, 64 bytes with the upper 2,
//	16 signed bytes of scales, d F16

// superblock is the number of values in a superblock of a K-quant.
const superblock = 256

// scaleAndMin unpacks the scale and the minimum of one of eight parts. The first four scales and
// minima are in the low 6 bits of bytes 0 to 7. The low 4 bits of the other scales and minima are
// in bytes 8 to 11, and their upper 2 bits are in the upper 2 bits of bytes 0 to 7.
func scaleAndMin(packed []byte, part int) (scale, least byte) {
	if part < 4 {
		return packed[part] & 63, packed[part+4] & 63
	}
	return packed[part+4]&15 | packed[part-4]>>6<<4, packed[part+4]>>4 | packed[part]>>6<<4
}

func widenQ4K(dst []float32, src []byte) {
	for ; len(dst) > 0; dst, src = dst[superblock:], src[144:] {
		d, dmin, packed := half(src), half(src[2:]), src[4:16]
		for part := 0; part < 8; part += 2 {
			lowScale, lowMin := scaleAndMin(packed, part)
			highScale, highMin := scaleAndMin(packed, part+1)
			d1, m1 := d*float32(lowScale), dmin*float32(lowMin)
			d2, m2 := d*float32(highScale), dmin*float32(highMin)
			low, high := dst[32*part:][:32], dst[32*part+32:][:32]
			for i, b := range src[16+16*part:][:32] {
				low[i], high[i] = float32(d1*float32(b&15))-m1, float32(d2*float32(b>>4))-m2
			}
		}
	}
}

func widenQ5K(dst []float32, src []byte) {
	for ; len(dst) > 0; dst, src = dst[superblock:], src[176:] {
		d, dmin, packed, fifth := half(src), half(src[2:]), src[4:16], src[16:48]
		for part := 0; part < 8; part += 2 {
			lowScale, lowMin := scaleAndMin(packed, part)
			highScale, highMin := scaleAndMin(packed, part+1)
			d1, m1 := d*float32(lowScale), dmin*float32(lowMin)
			d2, m2 := d*float32(highScale), dmin*float32(highMin)
			low, high := dst[32*part:][:32], dst[32*part+32:][:32]
			for i, b := range src[48+16*part:][:32] {
				q1, q2 := b&15|fifth[i]>>part&1<<4, b>>4|fifth[i]>>(part+1)&1<<4
				low[i], high[i] = float32(d1*float32(q1))-m1, float32(d2*float32(q2))-m2
			}
		}
	}
}

func widenQ6K(dst []float32, src []byte) {
	for ; len(dst) > 0; dst, src = dst[superblock:], src[210:] {
		d := half(src[208:])
		for half := range 2 { // of the superblock: 128 values
			low, upper, scales := src[64*half:][:64], src[128+32*half:][:32], src[192+8*half:][:8]
			out := dst[128*half:][:128]
			var scale [8]float32
			for i, s := range scales {
				scale[i] = d * float32(int8(s))
			}
			for i, u := range upper {
				q := [4]byte{
					low[i]&15 | u&3<<4, low[32+i]&15 | u>>2&3<<4, low[i]>>4 | u>>4&3<<4, low[32+i]>>4 | u>>6<<4,
				}
				for j, q := range q {
					out[32*j+i] = scale[2*j+i/16] * float32(int(q)-32)
				}
			}
		}
	}
}
