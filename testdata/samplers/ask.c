// Applies llama.cpp's own samplers to random scores. The results for a few hundred
// vectors are stored next to this file:
//
//	npm pack @node-llama-cpp/linux-x64@3.22.1 && tar xzf node-llama-cpp-linux-x64-3.22.1.tgz
//	gcc -O1 -o ask ask.c -ldl -lm
//	./ask package/bins/linux-x64/libllama.v0.5.0.so 360 | gzip -9n > answers.json.gz
//
// So are the results of llama.cpp's XTC with its own random draws, which a test
// reproduces one by one:
//
//	./ask package/bins/linux-x64/libllama.v0.5.0.so draws | gzip -9n > draws.json.gz
//
// The long tests repeat all of this, compare the results with the stored ones, and
// check ten thousand more vectors.
//
// A case has the scores z, all different, in units of 1/4096; the settings under this
// program's names; the text so far; and, for each step, the tokens that are left and
// their probabilities. Mirostat goes through several steps, each with the token that
// llama.cpp drew; the other cases have one step. XTC always strikes if it is on, so its
// random draws do not matter.
#include <dlfcn.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 64, TEXT = 48, STEPS = 6, LETTERS = 4 };

typedef struct { int32_t id; float logit, p; } candidate;
typedef struct { candidate *data; size_t size; int64_t selected; bool sorted; } candidates;
typedef struct { int32_t token; float bias; } biased;
typedef struct { bool no_perf; } chain_params;
typedef struct { void *begin, *end, *full; } vector; // a std::vector of the GNU C++ library

static void *library;

// of returns a function of the library.
static void *of(const char *name) {
    void *f = dlsym(library, name);
    if (!f) fprintf(stderr, "%s\n", dlerror()), exit(1);
    return f;
}

static uint64_t state = 19;

// next is splitmix64 (Steele, Lea and Flood 2014).
static uint64_t next(void) {
    uint64_t z = (state += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

static int below(int n) { return (int)(next() % (uint64_t)n); }

// between returns a random number from lo to hi, rounded to thousandths.
static double between(double lo, double hi) { return (lo * 1000 + below((int)round((hi - lo) * 1000) + 1)) / 1000; }

static int z[MOST], n;           // the scores, and their number
static int text[TEXT], length;   // the text so far
static void *chain;              // the samplers to apply, in order
static const char *comma;        // printed before the next setting

static void set(const char *name, double x) { printf("%s\"%s\":%.10g", comma, name, x), comma = ","; }

static void add(void *sampler) { ((void (*)(void *, void *))of("llama_sampler_chain_add"))(chain, sampler); }

// scores generates a steep or flat vector whose scores are all different.
static void scores(void) {
    n = 2 + below(MOST - 1);
    int spread = 4096 * (1 + below(12));
    for (int i = 0; i < n; i++) {
        int same;
        do {
            z[i] = below(2 * spread) - spread;
            same = 0;
            for (int j = 0; j < i; j++) same |= z[i] == z[j];
        } while (same);
    }
}

// words generates a text of a few letters, so that passages recur.
static void words(void) {
    length = below(TEXT + 1);
    int letters = n < LETTERS ? n : LETTERS;
    for (int i = 0; i < length; i++) text[i] = i > 6 && below(3) ? text[i - 4 - below(3)] : below(letters);
}

static void bias(void) {
    biased list[3];
    int count = 1 + below(3), first = below(n);
    if (count > n) count = n;
    printf("%s\"logit_bias\":{", comma), comma = ",";
    for (int i = 0; i < count; i++) {
        list[i] = (biased){(first + i) % n, (float)between(-9, 9)};
        printf("%s\"%d\":%.10g", i ? "," : "", list[i].token, round(list[i].bias * 1000) / 1000);
    }
    printf("}");
    add(((void *(*)(int32_t, int32_t, const biased *))of("llama_sampler_init_logit_bias"))(n, count, list));
}

static void penalties(void) {
    double repeat = below(3) ? between(1, 2) : 1, often = below(3) ? between(-2, 2) : 0;
    double once = below(3) ? between(-2, 2) : 0;
    set("repetition_penalty", repeat), set("frequency_penalty", often), set("presence_penalty", once);
    typedef void *(*init)(int32_t, int32_t, float, float, float);
    add(((init)of("llama_sampler_init_penalties"))(n, TEXT, repeat, often, once));
}

// dry adds DRY. In half of the cases, the last letter ends passages. llama.cpp looks for the
// tokens that end passages in a vocabulary; like its own tests, this calls a C++ function that
// takes the tokens.
static void dry(void) {
    double multiplier = between(0.1, 3), base = between(1, 3);
    int allowed = 1 + below(4), breaker = below(2) ? (n < LETTERS ? n : LETTERS) - 1 : -1;
    set("dry_multiplier", multiplier), set("dry_base", base), set("dry_allowed_length", allowed);
    if (breaker >= 0) set("breaker", breaker);
    vector inner = {&breaker, &breaker + 1, &breaker + 1}, outer = {&inner, &inner + 1, &inner + 1};
    if (breaker < 0) outer.end = outer.begin;
    typedef void *(*testing)(float, float, int32_t, int32_t, const vector *);
    testing init = (testing)of("_Z30llama_sampler_init_dry_testingffiiRKSt6vectorIS_IiSaIiEESaIS1_EE");
    add(init(multiplier, base, allowed, TEXT, &outer));
}

static void top_k(void) {
    int k = 1 + below(n);
    set("top_k", k), add(((void *(*)(int32_t))of("llama_sampler_init_top_k"))(k));
}

// share adds a rule whose sampler takes a share and the minimum number of tokens to keep.
static void share(const char *name, const char *init, double lo, double hi) {
    double p = between(lo, hi);
    set(name, p), add(((void *(*)(float, size_t))of(init))(p, 1));
}

static void top_p(void) { share("top_p", "llama_sampler_init_top_p", 0.01, 0.999); }
static void min_p(void) { share("min_p", "llama_sampler_init_min_p", 0.001, 0.999); }
static void typical(void) { share("typical_p", "llama_sampler_init_typical", 0.01, 0.999); }

static void sigma(void) {
    double x = between(0.1, 4);
    set("top_n_sigma", x), add(((void *(*)(float))of("llama_sampler_init_top_n_sigma"))(x));
}

static void xtc(void) {
    double least = between(0.01, below(4) ? 0.2 : 0.6);
    set("xtc_probability", 1), set("xtc_threshold", least);
    add(((void *(*)(float, float, size_t, uint32_t))of("llama_sampler_init_xtc"))(1, least, 1, 1));
}

static void temperature(void) {
    double t = between(0.05, 3);
    set("temperature", t), add(((void *(*)(float))of("llama_sampler_init_temp"))(t));
}

static void mirostat(void) {
    double tau = between(0.2, 6), eta = between(0.01, 0.9);
    set("mirostat_tau", tau), set("mirostat_eta", eta);
    add(((void *(*)(uint32_t, float, float))of("llama_sampler_init_mirostat_v2"))((uint32_t)next(), tau, eta));
}

static void penalize(void) { words(), penalties(); }
static void dry_alone(void) { words(), dry(); }

// whole is llama.cpp's default chain with some of its rules. Its typical-p sums p · log p,
// which is NaN if a p is 0, that is, if top-nσ has cut tokens before it, or if DRY has lowered
// a score so much that p underflows in float32. It then sorts by NaN and keeps arbitrary
// tokens, so typical-p is never combined with these two.
static void whole(void) {
    words();
    int narrow = below(2);
    if (below(2)) bias();
    if (below(2)) penalties();
    if (narrow && below(2)) dry();
    if (narrow && below(2)) sigma();
    if (below(2)) top_k();
    if (!narrow && below(2)) typical();
    if (below(2)) top_p();
    if (below(2)) min_p();
    if (below(2)) xtc();
    temperature();
}

static const struct kind { const char *name; void (*build)(void); int steps; } kinds[] = {
    {"logit_bias", bias, 1}, {"penalties", penalize, 1}, {"dry", dry_alone, 1},
    {"top_k", top_k, 1},     {"top_p", top_p, 1},        {"min_p", min_p, 1},
    {"typical_p", typical, 1}, {"top_n_sigma", sigma, 1}, {"xtc", xtc, 1},
    {"mirostat", mirostat, STEPS}, {"temperature", temperature, 1}, {"whole", whole, 1},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static int before(const void *a, const void *b) { return ((const candidate *)a)->id - ((const candidate *)b)->id; }

// step applies the chain once, and prints the tokens that are left and their probabilities.
static void step(int draws) {
    candidate list[MOST];
    for (int i = 0; i < n; i++) list[i] = (candidate){i, (float)z[i] / 4096, 0};
    candidates c = {list, (size_t)n, -1, false};
    ((void (*)(void *, candidates *))of("llama_sampler_apply"))(chain, &c);
    int32_t drawn = draws ? c.data[c.selected].id : -1;
    double most = -INFINITY, sum = 0;
    for (size_t i = 0; i < c.size; i++) if (c.data[i].logit > most) most = c.data[i].logit;
    for (size_t i = 0; i < c.size; i++) sum += exp(c.data[i].logit - most);
    qsort(c.data, c.size, sizeof *c.data, before);
    printf("{\"kept\":[");
    const char *between = "";
    for (size_t i = 0; i < c.size; i++)
        if (c.data[i].logit != -INFINITY) printf("%s%d", between, c.data[i].id), between = ",";
    printf("],\"p\":["), between = "";
    for (size_t i = 0; i < c.size; i++)
        if (c.data[i].logit != -INFINITY) printf("%s%.7g", between, exp(c.data[i].logit - most) / sum), between = ",";
    printf("],\"drawn\":%d}", drawn);
}

static void numbers(const char *name, const int *list, int count) {
    printf("\"%s\":[", name);
    for (int i = 0; i < count; i++) printf("%s%d", i ? "," : "", list[i]);
    printf("],");
}

// draws applies one XTC sampler many times to each of a few vectors. If XTC keeps all tokens,
// the printed list is empty.
static void draws(void) {
    enum { VECTORS = 30, TIMES = 100 };
    printf("[");
    for (int i = 0; i < VECTORS; i++) {
        scores();
        double p = between(0.02, 0.98), least = between(0.01, below(4) ? 0.2 : 0.5);
        uint32_t seed = (uint32_t)next();
        void *xtc = ((void *(*)(float, float, size_t, uint32_t))of("llama_sampler_init_xtc"))(p, least, 1, seed);
        printf("%s\n{\"probability\":%.10g,\"threshold\":%.10g,\"seed\":%u,", i ? "," : "", p, least, seed);
        numbers("z", z, n), printf("\"kept\":[");
        for (int j = 0; j < TIMES; j++) {
            candidate list[MOST];
            for (int k = 0; k < n; k++) list[k] = (candidate){k, (float)z[k] / 4096, 0};
            candidates c = {list, (size_t)n, -1, false};
            ((void (*)(void *, candidates *))of("llama_sampler_apply"))(xtc, &c);
            qsort(c.data, c.size, sizeof *c.data, before);
            printf("%s[", j ? "," : "");
            for (size_t k = 0; k < c.size && c.size < (size_t)n; k++) printf("%s%d", k ? "," : "", c.data[k].id);
            printf("]");
        }
        printf("]}");
        ((void (*)(void *))of("llama_sampler_free"))(xtc);
    }
    printf("\n]\n");
}

int main(int argc, char **argv) {
    if (argc != 3) return fprintf(stderr, "usage: ask libllama.so VECTORS, or draws\n"), 2;
    if (!(library = dlopen(argv[1], RTLD_NOW))) return fprintf(stderr, "%s\n", dlerror()), 1;
    if (!strcmp(argv[2], "draws")) return draws(), 0;
    printf("[");
    for (int i = 0; i < atoi(argv[2]); i++) {
        const struct kind *k = &kinds[i % KINDS];
        chain = ((void *(*)(chain_params))of("llama_sampler_chain_init"))((chain_params){true});
        scores(), length = 0, comma = "";
        printf("%s\n{\"kind\":\"%s\",\"set\":{", i ? "," : "", k->name);
        k->build();
        printf("},"), numbers("z", z, n), numbers("text", text, length);
        for (int j = 0; j < length; j++) ((void (*)(void *, int32_t))of("llama_sampler_accept"))(chain, text[j]);
        printf("\"steps\":[");
        for (int j = 0; j < k->steps; j++) printf("%s", j ? "," : ""), step(k->steps > 1);
        printf("]}");
        ((void (*)(void *))of("llama_sampler_free"))(chain);
    }
    printf("\n]\n");
    return 0;
}
