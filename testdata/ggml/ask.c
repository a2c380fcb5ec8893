// Rounds and widens blocks of weights with ggml, llama.cpp's library. The results
// are stored next to this file, in one .gz file for each format:
//
//	npm pack @node-llama-cpp/linux-x64@3.22.1 && tar xzf node-llama-cpp-linux-x64-3.22.1.tgz
//	gcc -O1 -o ask ask.c -ldl
//	./ask package/bins/linux-x64/libggml-base.so . && gzip -9n *.bin
//	for f in *.bin.gz; do mv $f ${f%.bin.gz}.gz; done
//
// A file contains (all numbers are little-endian):
//
//	rounded uint32, wild uint32             two counts of blocks
//	the blocks' bytes                       first those that ggml rounded, then the wild ones
//	a uint64 for every block                FNV-1a of its widened values' float32 bits
//	the float32 values of the first blocks  SAMPLE of them
//
// inputs() generates the values that are rounded: integers times a power of two,
// so that a program in any language can generate the same values. Wild blocks
// are random bytes with finite scales: patterns that no quantizer writes, but
// that a file may contain.
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDED = 1000, WILD = 100, SAMPLE = 4, MAX_VALUES = 256, MAX_BYTES = 256 };

// The formats: ggml's number and name of the type, the number of values and of
// bytes in a block, and the offsets of its float16 scales (-1: no second scale).
static const struct format {
    int type;
    const char *name;
    int values, bytes, scale, second;
} formats[] = {
    {2, "Q4_0", 32, 18, 0, -1},   {3, "Q4_1", 32, 20, 0, 2},      {6, "Q5_0", 32, 22, 0, -1},
    {7, "Q5_1", 32, 24, 0, 2},    {8, "Q8_0", 32, 34, 0, -1},     {20, "IQ4_NL", 32, 18, 0, -1},
    {12, "Q4_K", 256, 144, 0, 2}, {13, "Q5_K", 256, 176, 0, 2},   {14, "Q6_K", 256, 210, 208, -1},
};

typedef void (*widen_fn)(const void *, float *, int64_t);
typedef size_t (*round_fn)(int, const float *, void *, int64_t, int64_t, int64_t, const float *);

static uint64_t state;

// next is splitmix64 (Steele, Lea and Flood 2014).
static uint64_t next(void) {
    uint64_t z = (state += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

// inputs fills block number `block` with sums of four 16-bit numbers, which are
// nearly normally distributed, times a power of two. Every eighth block has few
// distinct values, so that ties are common; block 0 is all zeros.
static void inputs(float *x, int values, int block) {
    float unit = 1.0f / (1 << (16 + block % 8));
    for (int i = 0; i < values; i++) {
        uint64_t r = next();
        int32_t sum = (int32_t)(r & 0xffff) + (int32_t)(r >> 16 & 0xffff) + (int32_t)(r >> 32 & 0xffff) + (int32_t)(r >> 48) - 131070;
        if (block % 8 == 7) sum = sum / 16384 * 16384;
        if (block == 0) sum = 0;
        x[i] = (float)sum * unit;
    }
}

// random_scale stores a float16 that is neither infinite nor NaN at p; for every
// fourth block, it is zero or subnormal.
static void random_scale(uint8_t *p, int block) {
    uint16_t h = (uint16_t)next();
    if ((h >> 10 & 31) == 31) h ^= 0x4000;
    if (block % 4 == 0) h &= 0x83ff;
    p[0] = (uint8_t)h, p[1] = (uint8_t)(h >> 8);
}

static uint64_t fnv(const void *data, size_t n) {
    uint64_t h = 0xcbf29ce484222325;
    for (const uint8_t *p = data; n > 0; n--) h = (h ^ *p++) * 0x100000001b3;
    return h;
}

int main(int argc, char **argv) {
    if (argc != 3) return fprintf(stderr, "usage: ask libggml-base.so DIR\n"), 2;
    void *ggml = dlopen(argv[1], RTLD_NOW);
    if (!ggml) return fprintf(stderr, "%s\n", dlerror()), 1;
    round_fn quantize = (round_fn)dlsym(ggml, "ggml_quantize_chunk");
    size_t (*row_size)(int, int64_t) = (size_t(*)(int, int64_t))dlsym(ggml, "ggml_row_size");
    const char *(*type_name)(int) = (const char *(*)(int))dlsym(ggml, "ggml_type_name");
    static float x[ROUNDED * MAX_VALUES], wide[MAX_VALUES];
    static uint8_t blocks[(ROUNDED + WILD) * MAX_BYTES];
    for (size_t f = 0; f < sizeof formats / sizeof *formats; f++) {
        const struct format *t = &formats[f];
        char symbol[64] = "dequantize_row_", path[4096];
        strcat(symbol, type_name(t->type));
        widen_fn widen = (widen_fn)dlsym(ggml, symbol);
        if (!widen || row_size(t->type, t->values) != (size_t)t->bytes) return fprintf(stderr, "%s is another here\n", t->name), 1;
        state = (uint64_t)t->type;
        for (int b = 0; b < ROUNDED; b++) inputs(x + b * t->values, t->values, b);
        quantize(t->type, x, blocks, 0, ROUNDED, t->values, NULL);
        for (int b = ROUNDED; b < ROUNDED + WILD; b++) {
            uint8_t *p = blocks + b * t->bytes;
            for (int i = 0; i < t->bytes; i++) p[i] = (uint8_t)next();
            random_scale(p + t->scale, b);
            if (t->second >= 0) random_scale(p + t->second, b + 1);
        }
        snprintf(path, sizeof path, "%s/%s.bin", argv[2], t->name);
        FILE *out = fopen(path, "wb");
        if (!out) return perror(path), 1;
        uint32_t counts[2] = {ROUNDED, WILD};
        fwrite(counts, sizeof counts, 1, out);
        fwrite(blocks, t->bytes, ROUNDED + WILD, out);
        for (int b = 0; b < ROUNDED + WILD; b++) {
            widen(blocks + b * t->bytes, wide, t->values);
            uint64_t h = fnv(wide, t->values * sizeof *wide);
            fwrite(&h, sizeof h, 1, out);
        }
        for (int b = 0; b < SAMPLE; b++) {
            widen(blocks + b * t->bytes, wide, t->values);
            fwrite(wide, sizeof *wide, t->values, out);
        }
        if (fclose(out)) return perror(path), 1;
    }
    return 0;
}
