// Writes small tokenizers modeled on published ones, and the ids that the
// reference implementation gives to texts with each of them:
//
//     kinds/NAME.json   a tokenizer.json. The parts around the model, the added
//                       tokens with their flags, and the missing bytes are the
//                       published file's; the vocabulary is trained on the few
//                       lines of CORPUS
//     kinds.json.gz     for each tokenizer, texts and their ids
//
// The texts are llama.cpp's (published.json), a part of strings.jsonl, and texts
// that mix words, runs of blanks and the tokenizer's added tokens. The ids come
// from Hugging Face's tokenizers, written in Rust, through the npm package
// @anush008/tokenizers. The script also runs @huggingface/tokenizers, written in
// JavaScript, and prints on how many texts the two differ: in JavaScript, \d
// matches only the ten digits, and that package interprets single_word, lstrip
// and rstrip differently.
//
// The texts contain no names of special tokens, because the packages encode them
// as special tokens, and the program as plain text. For a byte that a vocabulary
// lacks, the reference returns no token; the program refuses the text, but its
// ids without that byte are the same.
//
// Run it again from the root of the repository, with Node 20 or later:
//
//     mkdir oracle && (cd oracle && npm i @anush008/tokenizers@0.6.0 @huggingface/tokenizers@0.2.0)
//     ORACLE=oracle node testdata/tokenizer/kinds.mjs
//     rm -r oracle

import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

const here = dirname(fileURLToPath(import.meta.url));
const oracle = resolve(process.env.ORACLE ?? ".");
const need = createRequire(join(oracle, "package.json"));
for (const [name, version] of [["@anush008/tokenizers", "0.6.0"], ["@huggingface/tokenizers", "0.2.0"]]) {
  const installed = JSON.parse(readFileSync(join(oracle, "node_modules", name, "package.json"), "utf8")).version;
  if (installed !== version) throw new Error(`${name} is ${installed}, want ${version}`);
}
const Rust = need("@anush008/tokenizers").Tokenizer;
const JavaScript = need("@huggingface/tokenizers").Tokenizer;

// ------------------------------------------------------------------ training

const CORPUS = `Once upon a time there was a little girl who loved the garden. She said: "I'm happy, we'll play!"
The cat wasn't sad; it's 12:30 and they've found 1,234 apples for $9.99 in 2024. I'D GO, HE'S HERE, WE'RE OLD.
func main() {\n\tfmt.Println("hi")\n\n\treturn x == 1 || y != 2\n}\r\n\r\nfor (let i = 0; i < n; i++) { a[i] += 1; }
def f(x):\n    if x:\n        return None\n\n\nclass A:\n\tpass\n<table><tr><td>1</td></tr></table>
Größe naïve façade mañana привет мир λόγος こんにちは 日本語 你好 世界 안녕하세요 שלום مرحبا हिन्दी 😀😂👍 cafe\u0301
the the the and and was was there their then that this with his her    she   he  a  to of in on at
`.repeat(3);

const ROUGH = /'(?:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+|\s*[\r\n]+|\s+(?!\S)|\s+/giu;

// train repeatedly joins the most frequent pair of neighbors.
function train(words, count) {
  const rules = [];
  while (rules.length < count) {
    const pairs = new Map();
    for (const word of words) {
      for (let i = 1; i < word.length; i++) {
        const key = word[i - 1] + "\0" + word[i];
        pairs.set(key, (pairs.get(key) ?? 0) + 1);
      }
    }
    const [best] = [...pairs].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1))[0];
    const [left, right] = best.split("\0");
    rules.push([left, right]);
    for (const word of words) {
      for (let i = 0; i + 1 < word.length; i++) {
        if (word[i] === left && word[i + 1] === right) word.splice(i, 2, left + right);
      }
    }
  }
  return rules;
}

// alphabet is GPT-2's spelling of the 256 bytes.
const alphabet = [];
for (let b = 0, next = 256; b < 256; b++) {
  const itself = (b >= 33 && b <= 126) || (b >= 161 && b !== 173);
  alphabet.push(String.fromCharCode(itself ? b : next++));
}

// --------------------------------------------------- the parts around the model

const level = (more) => ({ type: "ByteLevel", add_prefix_space: false, trim_offsets: true, use_regex: true, ...more });
const sequence = (...pretokenizers) => ({ type: "Sequence", pretokenizers });
const token = (content, special, normalized = false, more = {}) =>
  ({ content, single_word: false, lstrip: false, rstrip: false, normalized, special, ...more });
const specials = (text) => text.split(" ").map((name) => token(name, true));
const others = (text) => text.split(" ").map((name) => token(name, false));
// runs returns the runs of n characters down to two.
const runs = (character, n, normalized) =>
  Array.from({ length: n - 1 }, (_, i) => token(character.repeat(n - i), false, normalized));

const MODERN = (numbers) =>
  `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|${numbers}|` +
  ` ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+`;
const split = (regex, behavior = "Isolated", invert = false) =>
  ({ type: "Split", pattern: { Regex: regex }, behavior, invert });
const digits = sequence({ type: "Digits", individual_digits: true }, level());
const template = (name, id) => ({
  type: "TemplateProcessing",
  single: [{ SpecialToken: { id: name, type_id: 0 } }, { Sequence: { id: "A", type_id: 0 } }],
  pair: [{ SpecialToken: { id: name, type_id: 0 } }, { Sequence: { id: "A", type_id: 0 } },
    { Sequence: { id: "B", type_id: 1 } }],
  special_tokens: { [name]: { id: name, ids: [id], tokens: [name] } },
});

// Bytes that no UTF-8 text contains, and others that the training texts did not contain.
const NEVER = [0xc0, 0xc1, 0xf5, 0xf6, 0xf7, 0xf8, 0xf9, 0xfa, 0xfb, 0xfc, 0xfd, 0xfe, 0xff];

const CODE = "<issue_start> <issue_comment> <issue_closed> " +
  "<jupyter_start> <jupyter_text> <jupyter_code> <jupyter_output> <jupyter_script> <empty_output>";
// front: added tokens that have the first ids and are in the vocabulary;
// inside: added tokens whose ids follow the trained tokens, in the vocabulary;
// behind: likewise, but only in added_tokens.
const LEVELS = {
  gptneox: { // also Pythia, MPT and the first OLMo
    front: specials("<|endoftext|> <|padding|>"), behind: runs(" ", 24, true), lacks: NEVER,
      normalizer: { type: "NFC" },
    pre: { type: "ByteLevel", add_prefix_space: false, trim_offsets: true }, lines: true,
  },
  codegen: { // also Phi
    inside: specials("<|endoftext|>"), behind: [...runs(" ", 31, true), ...runs("\t", 9, true)], pre: level(),
      post: level({ add_prefix_space: true, trim_offsets: false }), lines: true,
  },
  starcoder2: {
    front: specials("<|endoftext|> <fim_prefix> <fim_middle> <fim_suffix> <fim_pad> <repo_name> <file_sep> " +
      `${CODE} <NAME> <EMAIL>`),
    lacks: [...NEVER, 0xf1], pre: digits, lines: true,
  },
  smollm2: {
    front: specials("<|endoftext|> <|im_start|> <|im_end|> <repo_name> <reponame> <file_sep> <filename> " +
      `<gh_stars> ${CODE}`),
    lacks: [...NEVER, 0xf1, 0xf2, 4, 6, 0x13, 0x14, 0x16, 0x1d], pre: digits, post: null, lines: true,
  },
  smollm3: { // Llama 3's file with other added tokens
    behind: [...specials("<|begin_of_text|> <|end_of_text|>"), ...others("<think> </think>"),
      ...specials("<|im_start|> <|im_end|>")],
    pre: sequence(split(MODERN("\\p{N}{1,3}")), level({ use_regex: false })), whole: true,
  },
  olmo2: { // cl100k's pattern, keeping the matches
    inside: [...others("<|extra_id_0|>"), ...specials("<|endoftext|> <|fim_prefix|>"),
      ...others("|||PHONE_NUMBER||| |||EMAIL_ADDRESS||| |||IP_ADDRESS|||"),
      ...specials("<|im_start|> <|im_end|>"), ...others("<|extra_id_1|> <|extra_id_10|>"),
        ...specials("<|endofprompt|> <|pad|>")],
    pre: sequence(split(MODERN("\\p{N}{1,3}"), "Removed", true), level({ use_regex: false })), lines: true,
  },
  qwen3: {
    behind: [...specials("<|endoftext|> <|im_start|> <|im_end|>"),
      ...others("<tool_call> </tool_call> <|fim_prefix|> <think> </think>")],
    normalizer: { type: "NFC" },
      pre: sequence(split(MODERN("\\p{N}")), level({ use_regex: false, trim_offsets: false })),
  },
  flags: { // not a model's: every flag that an added token can have
    behind: [token("<|endoftext|>", true), token("<tool>", false, false, { lstrip: true }),
      token("</tool>", false, true, { rstrip: true }),
      token("zq", false, true, { single_word: true }), token("  ", false),
        token("e\u0301", false, true, { single_word: true, lstrip: true, rstrip: true }),
      token("<both>", false, false, { single_word: true, lstrip: true, rstrip: true }),
        token("<tool>x", false, false, { rstrip: true })],
    normalizer: { type: "NFC" }, pre: level({ add_prefix_space: true }),
  },
};

function byteLevel({ front = [], inside = [], behind = [], lacks = [], normalizer = null, pre, post = level(),
  whole = false, lines = false }) {
  const words = CORPUS.match(ROUGH).map((word) => [...Buffer.from(word)].map((b) => alphabet[b]));
  const rules = train(words, 260);
  const spelled = alphabet.filter((_, b) => !lacks.includes(b)).sort();
  const tokens = [...new Set([...front.map((t) => t.content), ...spelled, ...rules.map((r) => r.join("")),
    ...inside.map((t) => t.content)])];
  const vocab = Object.fromEntries(tokens.map((t, id) => [t, id]));
  const added = [...front, ...inside].map((t) => ({ id: vocab[t.content], ...t }));
  behind.forEach((t, i) => added.push({ id: tokens.length + i, ...t }));
  return {
    version: "1.0", truncation: null, padding: null, added_tokens: added, normalizer, pre_tokenizer: pre,
    post_processor: post, decoder: level({ add_prefix_space: true }),
    model: {
      type: "BPE", dropout: null, unk_token: null, continuing_subword_prefix: null, end_of_word_suffix: null,
        fuse_unk: false,
      byte_fallback: false, ignore_merges: whole, vocab, merges: lines ? rules.map((r) => r.join(" ")) : rules,
    },
  };
}

// gemma3 uses SentencePiece's BPE: runs of line breaks and of ▁, and some tags, are
// added tokens and in the vocabulary, and the runs are merged before anything else.
function gemma3() {
  const words = CORPUS.replaceAll("\r", "").replaceAll(" ", "▁").match(/▁*[^▁\n]+|\n+/gu).map((w) => [...w]);
  const learned = [...new Set(train(words, 260).map((r) => r.join("")))];
  const run = (c) => Array.from({ length: 7 }, (_, i) => c.repeat(i + 2));
  const front = ["<pad>", "<eos>", "<bos>", "<unk>", "<mask>", "[multimodal]", "<unused0>", "<unused1>"];
  const inside = [...run("\n"), ...run("▁"), "<table>", "<tr>", "<td>", "</h1>", "<start_of_image>"];
  const characters = [...new Set([...words.flat().join(""), "\n", "▁", ..."0123456789", "\t"])].sort();
  const bytes = Array.from({ length: 256 }, (_, b) => `<0x${b.toString(16).toUpperCase().padStart(2, "0")}>`);
  const tokens = [...new Set([...front, ...inside, ...bytes, ...learned, ...characters])];
  const vocab = Object.fromEntries(tokens.map((t, id) => [t, id]));
  const merges = [];
  const made = [...run("\n").reverse(), ...run("▁").reverse(), ...learned.filter((t) => !inside.includes(t))];
  for (const piece of made) {
    const all = [...piece];
    for (let i = 1; i < all.length; i++) {
      const [left, right] = [all.slice(0, i).join(""), all.slice(i).join("")];
      if (left in vocab && right in vocab) merges.push([left, right]);
    }
  }
  const special = new Set(["<pad>", "<eos>", "<bos>", "<unk>", "<start_of_image>"]);
  const added = [...front, ...inside].map((t) => ({ id: vocab[t], ...token(t, special.has(t)) }));
  added.push({ id: tokens.length, ...token("<image_soft_token>", true) });
  return {
    version: "1.0", truncation: null, padding: null, added_tokens: added,
    normalizer: { type: "Replace", pattern: { String: " " }, content: "▁" },
    pre_tokenizer: { type: "Split", pattern: { String: " " }, behavior: "MergedWithPrevious", invert: false },
    post_processor: template("<bos>", 2),
    decoder: { type: "Sequence",
      decoders: [{ type: "Replace", pattern: { String: "▁" }, content: " " }, { type: "ByteFallback" },
      { type: "Fuse" }] },
    model: {
      type: "BPE", dropout: null, unk_token: "<unk>", continuing_subword_prefix: null, end_of_word_suffix: null,
        fuse_unk: true,
      byte_fallback: true, ignore_merges: false, vocab, merges,
    },
  };
}

// --------------------------------------------------------------------- texts

let state = 0x1f123bb5; // xorshift32, so that every run gives the same texts
function below(n) {
  state ^= state << 13;
  state ^= state >>> 17;
  state ^= state << 5;
  return (state >>> 0) % n;
}
const pick = (list) => list[below(list.length)];
const blanks = [" ", " ", " ", "\t", "\n", " \n", "\r\n", "\u00a0", "\u3000", "\u0085"];
const words = ["a", "The", " x", "foo", "é", "e\u0301", "日本", "1", "12", "12345", "½", "²", "!", "('", "'s", "'LL",
  "def", "😀", "_", "it's", "▁", "▁▁", " ▁▁▁a", "\u{50000}", "\x03", "\x04x", "\x13"];

const published = JSON.parse(readFileSync(join(here, "published.json"), "utf8")).texts;
const varied = readFileSync(join(here, "strings.jsonl"), "utf8").trim().split("\n").slice(1)
  .map((line) => JSON.parse(line).text)
  .filter((_, i) => i % 8 === 3);

function mixed(names) {
  const text = [];
  for (let n = 1 + below(6); n > 0; n--) {
    const kind = below(10);
    if (kind < 4) text.push(pick(blanks).repeat(1 + below(below(3) ? 4 : 40)));
    else if (kind < 6 && names.length > 0) text.push(pick(names));
    else text.push(pick(words));
  }
  return text.join("");
}

mkdirSync(join(here, "kinds"), { recursive: true });
const kinds = {};
for (const name of [...Object.keys(LEVELS), "gemma3"].sort()) {
  const config = name === "gemma3" ? gemma3() : byteLevel(LEVELS[name]);
  const file = JSON.stringify(config) + "\n";
  writeFileSync(join(here, "kinds", `${name}.json`), file);
  const kept = config.added_tokens.filter((t) => t.special).map((t) => t.content);
  const names = config.added_tokens.filter((t) => !t.special).map((t) => t.content);
  const texts = new Set([...published, ...varied]);
  while (texts.size < published.length + varied.length + 250) texts.add(mixed(names));
  const rust = Rust.fromString(file);
  const javascript = new JavaScript(config, {});
  const vectors = [];
  let differ = 0;
  for (const text of texts) {
    if (kept.some((s) => text.includes(s))) continue;
    const ids = [...(await rust.encode(text, null, { addSpecialTokens: false })).getIds()];
    vectors.push({ text, ids });
    const other = text === "" ? [] : [...javascript.encode(text, { add_special_tokens: false }).ids];
    differ += String(ids) !== String(other);
  }
  kinds[name] = { sha256: createHash("sha256").update(file).digest("hex"), vectors };
  console.log(`${name}: ${Object.keys(config.model.vocab).length} tokens, ${vectors.length} texts, ` +
    `the two packages differ on ${differ}`);
}
writeFileSync(join(here, "kinds.json.gz"), gzipSync(JSON.stringify(kinds), { level: 9 }));
