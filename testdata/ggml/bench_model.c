// Writes a GGUF model with SmolLM-135M's shape and random weights, for
// comparisons with llama.cpp (bench.mjs):
//
//	gcc -O2 -o bench_model bench_model.c -ldl -lm
//	./bench_model package/bins/linux-x64/libggml-base.so q4_k_m random-q4_k_m.gguf
//	./bench_model package/bins/linux-x64/libggml-base.so q8_0 random-q8_0.gguf
//
// q4_k_m is llama.cpp's mix of that name. A row of 576 values does not consist of
// whole blocks of 256, so most matrices fall back from Q4_K to Q5_0 and from Q6_K
// to Q8_0.
#include <dlfcn.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LAYERS = 30, WIDTH = 576, HEADS = 9, KV_HEADS = 3, FFN = 1536, VOCAB = 49152, CONTEXT = 2048, TENSORS = 2 + 9 * LAYERS };
enum { F32 = 0, Q5_0 = 6, Q8_0 = 8, Q4_K = 12, Q6_K = 14 };

static FILE *out;
static size_t (*quantize)(int, const float *, void *, int64_t, int64_t, int64_t, const float *);
static size_t (*row_size)(int, int64_t);

static void u32(uint32_t v) { fwrite(&v, 4, 1, out); }
static void u64(uint64_t v) { fwrite(&v, 8, 1, out); }
static void text(const char *s) { u64(strlen(s)), fwrite(s, 1, strlen(s), out); }
static void number(const char *key, uint32_t v) { text(key), u32(4), u32(v); }
static void real(const char *key, float v) { text(key), u32(6), fwrite(&v, 4, 1, out); }
static void words(const char *key, const char *v) { text(key), u32(8), text(v); }

static struct tensor {
    char name[64];
    int rows, columns, type;
    uint64_t offset;
} tensors[TENSORS];

// more reports whether Q4_K_M uses more bits in a layer.
static int more(int layer) { return layer < LAYERS / 8 || layer >= 7 * LAYERS / 8 || (layer - LAYERS / 8) % 3 == 2; }

static int type_of(const char *part, int layer, int mixed) {
    if (!mixed) return Q8_0;
    if (!strcmp(part, "ffn_down")) return more(layer) ? Q6_K : Q4_K;
    if (!strcmp(part, "attn_v")) return more(layer) ? Q8_0 : Q5_0;
    return Q5_0;
}

static void token(int id, char *to) {
    static const char *marks[] = {"<unk>", "<s>", "</s>"};
    if (id < 3) strcpy(to, marks[id]);
    else if (id < 259) sprintf(to, "<0x%02X>", id - 3);
    else sprintf(to, "\xe2\x96\x81w%d", id);
}

static void metadata(int mixed) {
    char s[16];
    words("general.architecture", "llama"), words("general.type", "model"), words("general.name", "Random 135M");
    words("general.size_label", "135M"), number("general.file_type", mixed ? 15 : 7), number("general.quantization_version", 2);
    number("llama.block_count", LAYERS), number("llama.context_length", CONTEXT), number("llama.embedding_length", WIDTH);
    number("llama.feed_forward_length", FFN), number("llama.attention.head_count", HEADS), number("llama.attention.head_count_kv", KV_HEADS);
    number("llama.vocab_size", VOCAB), number("llama.rope.dimension_count", WIDTH / HEADS), real("llama.rope.freq_base", 10000);
    real("llama.attention.layer_norm_rms_epsilon", 1e-5f), words("tokenizer.ggml.model", "llama"), words("tokenizer.ggml.pre", "default");
    text("tokenizer.ggml.tokens"), u32(9), u32(8), u64(VOCAB);
    for (int i = 0; i < VOCAB; i++) token(i, s), text(s);
    text("tokenizer.ggml.scores"), u32(9), u32(6), u64(VOCAB);
    for (int i = 0; i < VOCAB; i++) {
        float score = -(float)i;
        fwrite(&score, 4, 1, out);
    }
    text("tokenizer.ggml.token_type"), u32(9), u32(5), u64(VOCAB);
    for (int i = 0; i < VOCAB; i++) u32(i == 0 ? 2 : i < 3 ? 3 : i < 259 ? 6 : 1);
    number("tokenizer.ggml.bos_token_id", 1), number("tokenizer.ggml.eos_token_id", 2);
}
enum { PAIRS = 23 };

static uint64_t state = 1;

// normal returns a number from approximately the standard normal distribution.
static float normal(void) {
    uint64_t z = (state += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb, z ^= z >> 31;
    int sum = (int)(z & 0xffff) + (int)(z >> 16 & 0xffff) + (int)(z >> 32 & 0xffff) + (int)(z >> 48) - 131070;
    return (float)sum / 37837.f;
}

static void add(int *n, const char *part, int layer, int rows, int columns, int type) {
    struct tensor *t = &tensors[(*n)++];
    if (layer < 0) snprintf(t->name, sizeof t->name, "%s.weight", part);
    else snprintf(t->name, sizeof t->name, "blk.%d.%s.weight", layer, part);
    t->rows = rows, t->columns = columns, t->type = type;
}

int main(int argc, char **argv) {
    void *ggml = argc == 4 ? dlopen(argv[1], RTLD_NOW) : NULL;
    if (!ggml) return fprintf(stderr, "usage: bench_model libggml-base.so q4_k_m|q8_0 FILE\n"), 2;
    quantize = (size_t(*)(int, const float *, void *, int64_t, int64_t, int64_t, const float *))dlsym(ggml, "ggml_quantize_chunk");
    row_size = (size_t(*)(int, int64_t))dlsym(ggml, "ggml_row_size");
    int mixed = !strcmp(argv[2], "q4_k_m"), n = 0, kv = WIDTH / HEADS * KV_HEADS;
    add(&n, "token_embd", -1, VOCAB, WIDTH, Q8_0);
    for (int l = 0; l < LAYERS; l++) {
        add(&n, "attn_norm", l, 1, WIDTH, F32), add(&n, "ffn_norm", l, 1, WIDTH, F32);
        add(&n, "attn_q", l, WIDTH, WIDTH, type_of("attn_q", l, mixed)), add(&n, "attn_k", l, kv, WIDTH, type_of("attn_k", l, mixed));
        add(&n, "attn_v", l, kv, WIDTH, type_of("attn_v", l, mixed)), add(&n, "attn_output", l, WIDTH, WIDTH, type_of("attn_output", l, mixed));
        add(&n, "ffn_gate", l, FFN, WIDTH, type_of("ffn_gate", l, mixed)), add(&n, "ffn_up", l, FFN, WIDTH, type_of("ffn_up", l, mixed));
        add(&n, "ffn_down", l, WIDTH, FFN, type_of("ffn_down", l, mixed));
    }
    add(&n, "output_norm", -1, 1, WIDTH, F32);
    if (!(out = fopen(argv[3], "wb"))) return perror(argv[3]), 1;
    fwrite("GGUF", 1, 4, out), u32(3), u64(n), u64(PAIRS);
    metadata(mixed);
    uint64_t at = 0;
    for (int i = 0; i < n; i++) {
        struct tensor *t = &tensors[i];
        text(t->name), u32(t->rows == 1 ? 1 : 2), u64(t->columns);
        if (t->rows > 1) u64(t->rows);
        u32(t->type), u64(at);
        at += (row_size(t->type, t->columns) * t->rows + 31) / 32 * 32;
    }
    while (ftell(out) % 32) fputc(0, out);
    float *row = malloc(FFN * sizeof *row);
    char *bytes = malloc(FFN * sizeof *row);
    for (int i = 0; i < n; i++) {
        struct tensor *t = &tensors[i];
        for (int r = 0; r < t->rows; r++) {
            for (int c = 0; c < t->columns; c++) row[c] = t->rows == 1 ? 1 : normal() / sqrtf((float)t->columns);
            size_t size = row_size(t->type, t->columns);
            if (t->type == F32) memcpy(bytes, row, size);
            else quantize(t->type, row, bytes, 0, 1, t->columns, NULL);
            fwrite(bytes, 1, size, out);
        }
        while (ftell(out) % 32) fputc(0, out);
    }
    return fclose(out) ? (perror(argv[3]), 1) : 0;
}
