/* The element-by-element parts of training, each fused into one pass over memory.
 *
 * On two cores, the matrix products of this model take a third of a step, and the
 * memory traffic between them takes the rest. So each kernel here reads its inputs
 * once and writes bfloat16, which the next product reads. kernels.py compiles this
 * file, checks it against plain PyTorch on request, and wraps it for autograd.
 *
 * bf16 is stored as the upper half of a float32, rounded to nearest even.
 */

#include <math.h>
#include <stdint.h>
#include <string.h>

typedef uint16_t bf16;

static inline float widen(bf16 v) {
	uint32_t u = (uint32_t)v << 16;
	float f;
	memcpy(&f, &u, 4);
	return f;
}

static inline bf16 narrow(float f) {
	uint32_t u;
	memcpy(&u, &f, 4);
	return (bf16)((u + 0x7fff + ((u >> 16) & 1)) >> 16);
}

/* exp(x) to about 2e-7 for x <= 0, in arithmetic that the compiler can vectorize. */
static inline float expneg(float x) {
	x = x < -87.0f ? -87.0f : x;
	float n = __builtin_rintf(x * 1.44269504f);
	float r = x - n * 0.693359375f + n * 2.12194440e-4f;
	float p = 1.9875691500e-4f;
	p = p * r + 1.3981999507e-3f;
	p = p * r + 8.3334519073e-3f;
	p = p * r + 4.1665795894e-2f;
	p = p * r + 1.6666665459e-1f;
	p = p * r + 5.0000001201e-1f;
	p = p * r * r + r + 1.0f;
	int32_t k = ((int32_t)n + 127) << 23;
	float s;
	memcpy(&s, &k, 4);
	return p * s;
}

static inline float sigmoid(float x) {
	float e = expneg(-fabsf(x));
	float s = 1.0f / (1.0f + e);
	return x >= 0 ? s : e * s;
}

/* sum = x + r (r may be null), y = sum / rms(sum) * w.
 * x, sum [rows, d] float; r, y [rows, d] bf16; w [d]; rstd [rows]. */
void add_norm(const float *x, const bf16 *r, const float *w, float *sum, bf16 *y, float *rstd,
	      long rows, long d, float eps) {
#pragma omp parallel for schedule(static)
	for (long i = 0; i < rows; i++) {
		const float *xi = x + i * d;
		float *si = sum + i * d;
		float ss = 0;
		if (r) {
			const bf16 *ri = r + i * d;
			for (long j = 0; j < d; j++) si[j] = xi[j] + widen(ri[j]);
		} else if (si != xi) {
			memcpy(si, xi, d * sizeof(float));
		}
		for (long j = 0; j < d; j++) ss += si[j] * si[j];
		float s = 1.0f / sqrtf(ss / d + eps);
		rstd[i] = s;
		for (long j = 0; j < d; j++) y[i * d + j] = narrow(si[j] * s * w[j]);
	}
}

/* Backward of add_norm: dx = dsum + (gradient through the norm), also as bf16 in dr.
 * dsum may be null. dw [threads, d] is added to, one row a thread. */
void add_norm_back(const float *dsum, const bf16 *dy, const float *sum, const float *w, const float *rstd,
		   float *dx, bf16 *dr, float *dw, long rows, long d, long threads) {
#pragma omp parallel for schedule(static) num_threads(threads)
	for (long t = 0; t < threads; t++) {
		float *wt = dw + t * d;
		for (long i = rows * t / threads; i < rows * (t + 1) / threads; i++) {
			const float *si = sum + i * d;
			const bf16 *gi = dy + i * d;
			float s = rstd[i], dot = 0;
			for (long j = 0; j < d; j++) {
				float g = widen(gi[j]);
				wt[j] += g * si[j] * s;
				dot += g * w[j] * si[j];
			}
			dot *= s * s / d;
			for (long j = 0; j < d; j++) {
				float v = (widen(gi[j]) * w[j] - si[j] * dot) * s;
				if (dsum) v += dsum[i * d + j];
				dx[i * d + j] = v;
			}
			if (dr)
				for (long j = 0; j < d; j++) dr[i * d + j] = narrow(dx[i * d + j]);
		}
	}
}

/* h = silu(gate) * up; gu [rows, 2f] holds gate then up. */
void swiglu(const bf16 *gu, bf16 *h, long rows, long f) {
#pragma omp parallel for schedule(static)
	for (long i = 0; i < rows; i++) {
		const bf16 *g = gu + i * 2 * f, *u = g + f;
		for (long j = 0; j < f; j++) {
			float a = widen(g[j]);
			h[i * f + j] = narrow(a * sigmoid(a) * widen(u[j]));
		}
	}
}

void swiglu_back(const bf16 *dh, const bf16 *gu, bf16 *dgu, long rows, long f) {
#pragma omp parallel for schedule(static)
	for (long i = 0; i < rows; i++) {
		const bf16 *g = gu + i * 2 * f, *u = g + f;
		bf16 *dg = dgu + i * 2 * f, *du = dg + f;
		for (long j = 0; j < f; j++) {
			float a = widen(g[j]), s = sigmoid(a), d = widen(dh[i * f + j]);
			du[j] = narrow(d * a * s);
			dg[j] = narrow(d * widen(u[j]) * s * (1.0f + a * (1.0f - s)));
		}
	}
}

/* qkv [batch, time, (h+2g)*s] -> q [batch, g, h/g, time, s] rotated and scaled,
 * k [batch, g, time, s] rotated, v likewise. cos, sin [time, s/2]. back != 0 runs
 * the transpose of the same map: reads q, k, v and writes qkv. */
void rotary(bf16 *qkv, bf16 *q, bf16 *k, bf16 *v, const float *cos_, const float *sin_,
	    long batch, long time, long h, long g, long s, float scale, long back) {
	long half = s / 2;
#pragma omp parallel for collapse(2) schedule(static)
	for (long b = 0; b < batch; b++)
		for (long t = 0; t < time; t++) {
			bf16 *row = qkv + (b * time + t) * (h + 2 * g) * s;
			const float *c = cos_ + t * half, *n = sin_ + t * half;
			for (long i = 0; i < h + 2 * g; i++, row += s) {
				if (i >= h + g) {
					bf16 *vi = v + ((b * g + i - h - g) * time + t) * s;
					memcpy(back ? row : vi, back ? vi : row, s * sizeof(bf16));
					continue;
				}
				bf16 *head = i < h ? q + ((b * h + i) * time + t) * s : k + ((b * g + i - h) * time + t) * s;
				bf16 *from = back ? head : row, *to = back ? row : head;
				float z = i < h ? scale : 1.0f, sign = back ? -1.0f : 1.0f;
				for (long j = 0; j < half; j++) {
					float x = widen(from[j]), y = widen(from[j + half]), nn = n[j] * sign;
					to[j] = narrow((x * c[j] - y * nn) * z);
					to[j + half] = narrow((y * c[j] + x * nn) * z);
				}
			}
		}
}

/* In place: each row of scores [batch, heads, time, time] becomes its softmax over
 * the positions from start[batch, time] to its own; the rest become zero. */
void causal_softmax(bf16 *a, const int32_t *start, long batch, long heads, long time) {
#pragma omp parallel for collapse(2) schedule(static)
	for (long b = 0; b < batch; b++)
		for (long h = 0; h < heads; h++)
			for (long t = 0; t < time; t++) {
				bf16 *r = a + ((b * heads + h) * time + t) * time;
				float e[4096], top = -1e30f, sum = 0;
				long lo = start[b * time + t], n = t + 1 - lo;
				bf16 *v = r + lo;
				for (long j = 0; j < n; j++) {
					e[j] = widen(v[j]);
					top = e[j] > top ? e[j] : top;
				}
				for (long j = 0; j < n; j++) {
					e[j] = expneg(e[j] - top);
					sum += e[j];
				}
				sum = 1.0f / sum;
				for (long j = 0; j < n; j++) v[j] = narrow(e[j] * sum);
				memset(r, 0, lo * sizeof(bf16));
				memset(v + n, 0, (time - t - 1) * sizeof(bf16));
			}
}

/* dp (in place) = p * (dp - sum(p * dp)). */
void causal_softmax_back(const bf16 *p, bf16 *dp, const int32_t *start, long batch, long heads, long time) {
#pragma omp parallel for collapse(2) schedule(static)
	for (long b = 0; b < batch; b++)
		for (long h = 0; h < heads; h++)
			for (long t = 0; t < time; t++) {
				long at = ((b * heads + h) * time + t) * time, lo = start[b * time + t], n = t + 1 - lo;
				const bf16 *pr = p + at + lo;
				bf16 *dr = dp + at + lo;
				float dot = 0;
				for (long j = 0; j < n; j++) dot += widen(pr[j]) * widen(dr[j]);
				for (long j = 0; j < n; j++) dr[j] = narrow(widen(pr[j]) * (widen(dr[j]) - dot));
				memset(dp + at, 0, lo * sizeof(bf16));
				memset(dr + n, 0, (time - t - 1) * sizeof(bf16));
			}
}

/* Cross-entropy over a row of logits [rows, v], which are replaced by the gradient
 * (p - wanted) * scale. wanted is one-hot at label, mixed with the softmax of the
 * teacher's logits by share when teacher is not null. loss [rows] is -log p(label). */
void cross_entropy(bf16 *z, const bf16 *teacher, const int64_t *label, float *loss, long rows, long v,
		   float scale, float share) {
#pragma omp parallel for schedule(static)
	for (long i = 0; i < rows; i++) {
		float e[8192], q[8192];
		bf16 *zi = z + i * v;
		float top = -1e30f, sum = 0;
		for (long j = 0; j < v; j++) {
			e[j] = widen(zi[j]);
			top = e[j] > top ? e[j] : top;
		}
		float at = e[label[i]];
		for (long j = 0; j < v; j++) {
			e[j] = expneg(e[j] - top);
			sum += e[j];
		}
		loss[i] = logf(sum) + top - at;
		float inv = scale / sum, hard = scale;
		if (teacher) {
			const bf16 *ti = teacher + i * v;
			float ttop = -1e30f, tsum = 0;
			for (long j = 0; j < v; j++) {
				q[j] = widen(ti[j]);
				ttop = q[j] > ttop ? q[j] : ttop;
			}
			for (long j = 0; j < v; j++) {
				q[j] = expneg(q[j] - ttop);
				tsum += q[j];
			}
			float tinv = scale * share / tsum;
			for (long j = 0; j < v; j++) e[j] = e[j] * inv - q[j] * tinv;
			hard = scale * (1.0f - share);
		} else {
			for (long j = 0; j < v; j++) e[j] *= inv;
		}
		e[label[i]] -= hard;
		for (long j = 0; j < v; j++) zi[j] = narrow(e[j]);
	}
}
