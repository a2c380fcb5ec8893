// Writes strings.jsonl: texts with their token ids from an independent
// implementation, the npm package @huggingface/tokenizers. A test of
// infer/tokenizer encodes every text and compares the ids.
//
// The first line identifies the source of the ids: the SHA-256 of the
// tokenizer.json, the package and its version, and the number of texts. Run it
// again whenever the built-in model's tokenizer.json changes, from the root of
// the repository, with Node 20 or later:
//
//     mkdir oracle && (cd oracle && npm i @huggingface/tokenizers@0.2.0)
//     ORACLE=oracle node testdata/tokenizer/make.mjs infer/bundled/target/tokenizer.json
//     rm -r oracle
//
// ORACLE is the folder with node_modules; by default, it is the current one. A
// second argument names another output file. The texts are generated from a fixed
// seed, so the same tokenizer.json gives the same file.
//
// The Rust reference defines the meaning of the split pattern. JavaScript
// interprets some characters differently, so the texts avoid them: U+0085 is
// whitespace but not in JavaScript's \s; U+FEFF is not whitespace but is in \s;
// some implementations treat characters newer than Unicode 15 as letters, and
// others as unassigned; and a lone surrogate or invalid UTF-8 cannot be part of a
// JavaScript text. The texts also contain no names of special tokens, because the
// package encodes them as special tokens, and the program as plain text.

import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const PACKAGE = "@huggingface/tokenizers";
const VERSION = "0.2.0";
const COUNT = 2000;

const [tokenizerPath, outPath = join(dirname(fileURLToPath(import.meta.url)), "strings.jsonl")] = process.argv.slice(2);
if (!tokenizerPath) {
  console.error("usage: node make.mjs TOKENIZER.JSON [OUTPUT.JSONL]");
  process.exit(2);
}

const oracle = resolve(process.env.ORACLE ?? ".");
const installed = JSON.parse(readFileSync(join(oracle, "node_modules", PACKAGE, "package.json"), "utf8")).version;
if (installed !== VERSION) throw new Error(`${PACKAGE} is ${installed}, want ${VERSION}`);
const { Tokenizer } = createRequire(join(oracle, "package.json"))(PACKAGE);

const file = readFileSync(tokenizerPath);
const config = JSON.parse(file);
const tokenizer = new Tokenizer(config, {});
const specials = config.added_tokens.map((t) => t.content);

// A generator with a fixed seed (xorshift32), so that every run gives the same texts.
let state = 0x2545f491;
function below(n) {
  state ^= state << 13;
  state ^= state >>> 17;
  state ^= state << 5;
  return (state >>> 0) % n;
}
const pick = (list) => list[below(list.length)];
const between = (low, high) => low + below(high - low + 1);
const times = (n, make) => Array.from({ length: n }, make);
const chance = (percent) => below(100) < percent;

const words = (
  "the a an and or but she he they we it once upon time there was little girl boy dog cat bird tree house " +
  "garden river mountain happy sad brave clever quick brown red blue old young said asked ran jumped looked " +
  "found wanted loved played friend mother father day night morning sun moon star very much always never " +
  "because through under over between strange wonderful unbelievable extraordinarily misunderstanding " +
  "tokenization transformer probability vocabulary antidisestablishmentarianism"
).split(" ");
const names = "Lily Tom Anna Ben Max Zoë Björn Siobhán McDonald O'Brien D'Angelo".split(" ");
const contractions = (
  "I'm you're he's she'd we'll they've isn't don't can't won't it's let's y'all'd've o'clock 'tis 'twas rock'n'roll " +
  "I'M YOU'RE HE'S SHE'D WE'LL THEY'VE ISN'T DON'T It'S We'Ll 's 't 're 've 'm 'll 'd 'S 'LL 'l 'v 'r 'x it’s don’t"
).split(" ");
const marks = [..."!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", "...", "--", "?!", "''", "\"'", "—", "–", "…", "«", "»", "€",
  "£", "©", "™", "°", "→", "≠", "∑"];
const blanks = [" ", "  ", "   ", "\n", "\n\n", "\t", "\t\t", "\r\n", " \n", "\n ", "\v", "\f", "\u00a0", "\u1680",
  "\u2003", "\u2009", "\u2028", "\u2029", "\u202f", "\u205f", "\u3000", " \u3000", "\u00a0 "];
const invisible = ["\u200b", "\u200d", "\u00ad", "\u2060", "\u180e", "\0", "\u0001", "\u001b", "\u001c", "\u007f"];
const scripts = [
  "Größe naïve façade Ångström mañana coração œuvre żółw đặc İstanbul ŒUVRE",
  "αβγ Ελλάδα λόγος ΣΊΣΥΦΟΣ",
  "привет мир Быстрая лиса ёжик",
  "שלום עולם",
  "مرحبا بالعالم السلام",
  "नमस्ते दुनिया हिन्दी",
  "สวัสดี ชาวโลก",
  "你好 世界 汉字 漢字",
  "こんにちは カタカナ 日本語",
  "안녕하세요 세계",
  "გამარჯობა Բարեւ ሰላም",
  "𝒜𝓁𝑔 𝔘𝔫𝔦 𐐷 𠮷",
].map((line) => line.split(" "));
const digits = ["0", "1", "7", "42", "100", "1,234", "3.14159", "-273.15", "1e-9", "0x1F", "2024-11-05", "12:30",
  "50%", "$9.99", "²", "½", "Ⅳ", "٣٤", "१२", "４２", "1st", "x²", "7th", "000000", "123456789012"];
const emoji = ["😀", "😂", "❤️", "👍🏽", "👩‍👩‍👧‍👦", "🏳️‍🌈", "🇩🇪", "🇯🇵", "1️⃣", "🧑🏿‍💻", "☃", "✨", "🫠", "🤷‍♀️"];
const accents = ["\u0301", "\u0308", "\u0327", "e\u0301", "a\u0300\u0316", "n\u0303o", "o\u0308 ", " \u0301",
  "Z\u0335\u0348a\u0322l\u0337"];
const code = [
  "func main() {\n\tfmt.Println(\"hi\")\n}",
  "for (let i = 0; i < n; i++) { a[i] += 1; }",
  "if x==1:\n    return None",
  "SELECT * FROM t WHERE id='7';",
  "<div class=\"box\">text</div>",
  "x = {'a': [1, 2], \"b\": null}",
  "#include <stdio.h>\n\n",
  "https://example.com/a?b=c&d=%20#e",
  "user.name+tag@example.org",
  "C:\\path\\to\\file.txt",
  "snake_case camelCase SCREAMING_CASE kebab-case",
  "a->b != c && !d || ~e",
  "\t\t// note:  two spaces",
  "<|im_start|>user",
  "\\frac{1}{2} \\sum_{i=0}^{n}",
];

function sentence() {
  const list = times(between(3, 12), () => (chance(12) ? pick(contractions) : chance(8) ? pick(names) : pick(words)));
  let text = list.join(chance(6) ? "  " : " ");
  if (chance(70)) text = text[0].toUpperCase() + text.slice(1);
  if (chance(8)) text = text.toUpperCase();
  return text + pick([".", "!", "?", ",", "", "...", ".\n", ". "]);
}
const any = [
  () => pick(words), () => pick(contractions), () => pick(marks), () => pick(blanks), () => pick(invisible),
  () => pick(pick(scripts)), () => pick(digits), () => pick(emoji), () => pick(accents), () => pick(names),
];
const kinds = [
  sentence,
  sentence,
  () => times(between(1, 8), () => pick(contractions)).join(pick([" ", "", "\n", ", "])),
  () => times(between(1, 10), () => pick(marks) + (chance(30) ? pick(words) : "") + (chance(30) ? " " : "")).join(""),
  () => times(between(1, 8), () => pick(digits)).join(pick([" ", "", ", ", "/"])),
  () => times(between(1, 6), () => pick(pick(scripts))).join(pick([" ", "", "-"])),
  () => times(between(1, 6), () => (chance(70) ? pick(emoji) : pick(words))).join(pick([" ", "", "  "])),
  () => times(between(1, 6), () => pick(blanks) + (chance(60) ? pick([...words, ...digits, ...marks]) : "")).join(""),
  () => pick(code) + (chance(40) ? pick(blanks) + pick(code) : ""),
  () => pick([...words, ...emoji, ..."aeszAZ.-=_ \n日é0"]).repeat(between(2, 25)) + (chance(50) ? pick(words) : ""),
  () => times(between(1, 6), () => pick(accents) + (chance(40) ? pick(words) : "")).join(""),
  () => times(between(1, 14), () => pick(any)()).join(""),
  () => times(between(1, 10), () => String.fromCharCode(between(32, 126))).join(""),
];

const texts = new Set([
  "", " ", "  ", "\n", "a", "'", "'s", " 's", "é", "😀",
  "a".repeat(1500), "the".repeat(300), " ".repeat(400), "=".repeat(300), "日".repeat(200),
]);
for (let i = 0; texts.size < COUNT; i++) {
  const text = kinds[i % kinds.length]();
  if (!text.isWellFormed()) throw new Error(`lone surrogate in ${JSON.stringify(text)}`);
  if (/[\u0085\ufeff]/.test(text)) throw new Error(`U+0085 or U+FEFF in ${JSON.stringify(text)}`);
  if (!specials.some((s) => text.includes(s))) texts.add(text);
}

const head = {
  tokenizer_sha256: createHash("sha256").update(file).digest("hex"),
  oracle: `${PACKAGE}@${VERSION}`,
  strings: texts.size,
};
const lines = [...texts].map((text) => ({ text, ids: tokenizer.encode(text, { add_special_tokens: false }).ids }));
writeFileSync(outPath, [head, ...lines].map((line) => JSON.stringify(line) + "\n").join(""));
