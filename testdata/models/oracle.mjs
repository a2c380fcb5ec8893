// Writes tokens.json.gz and gguf.json: the results of two independent
// implementations, the npm packages @huggingface/tokenizers and @huggingface/gguf,
// for the models in this folder. Tests of infer/tokenizer and infer/checkpoint
// compare them.
//
// tokens.json.gz holds, for the tokenizer.json of each folder, the token ids of all
// texts in ../tokenizer/strings.jsonl and of the texts listed below. The texts avoid
// the characters that JavaScript's \s and \p classes treat differently from the Rust
// reference (../tokenizer/make.mjs lists them), and the names of special tokens.
// gguf.json holds the metadata of each .gguf file, without long lists, and its
// tensors.
//
// Run it again after make.py, from the root of the repository, with Node 20 or later:
//
//     mkdir oracle && (cd oracle && npm i @huggingface/tokenizers@0.2.0 @huggingface/gguf@0.4.6)
//     ORACLE=oracle node testdata/models/oracle.mjs
//     rm -r oracle

import { createHash } from "node:crypto";
import { existsSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

const here = dirname(fileURLToPath(import.meta.url));
const oracle = resolve(process.env.ORACLE ?? ".");
const need = createRequire(join(oracle, "package.json"));
for (const [name, version] of [["tokenizers", "0.2.0"], ["gguf", "0.4.6"]]) {
  const file = join(oracle, "node_modules/@huggingface", name, "package.json");
  const installed = JSON.parse(readFileSync(file, "utf8")).version;
  if (installed !== version) throw new Error(`${name} is ${installed}, want ${version}`);
}
const { Tokenizer } = need("@huggingface/tokenizers");
const { gguf } = need("@huggingface/gguf");

const blanks = [" ", "  ", "   ", "\n", "\n\n", "\r\n", " \n", "\n ", "\t", " \t", "\r", "\u00a0", "\u3000", " \n\n  "];
const bits = ["a", "The", "cat", "'s", "'S", "'LL", "'Ve", "'re", "'ſ", "it's", "IT'S", "1", "12", "123", "1234",
  "12345678", "３４", "²", "½",
  "!", "...", "?!", "-", "/*", "(x)", "😀", "👩‍👩‍👧", "🇩🇪", "日本", "привет", "é", "e\u0301", "한국", "हि", "▁", "_",
    "<0x41>", "ñandú"];
const extra = ["a".repeat(20000), " ".repeat(3000), "\n".repeat(500), "ab".repeat(5000), "😀".repeat(700),
  "1".repeat(1000), "日".repeat(2000), "'s".repeat(500)];
for (const left of bits) {
  for (const blank of blanks) {
    for (const right of [bits[(extra.length * 7) % bits.length], bits[(extra.length * 11 + 5) % bits.length]]) {
      extra.push(left + blank + right, blank + left, left + right + blank, left + right);
    }
  }
}
const texts = readFileSync(join(here, "../tokenizer/strings.jsonl"), "utf8").trim().split("\n").slice(1)
  .map((l) => JSON.parse(l).text);
texts.push(...new Set(extra));

const kinds = {};
const known = new Set(); // some folders have the same tokenizer; one of them is enough
for (const name of readdirSync(here).sort().reverse()) {
  const path = join(here, name, "tokenizer.json");
  if (!existsSync(path)) continue;
  const file = readFileSync(path);
  const sha256 = createHash("sha256").update(file).digest("hex");
  if (known.has(sha256)) continue;
  known.add(sha256);
  const tokenizer = new Tokenizer(JSON.parse(file), {});
  const encode = (text) => (text === "" ? [] : [...tokenizer.encode(text, { add_special_tokens: false }).ids]);
  kinds[name] = { sha256, ids: texts.map(encode) };
}
writeFileSync(join(here, "tokens.json.gz"),
  gzipSync(JSON.stringify({ extra: texts.slice(2000), kinds }), { level: 9 }));

const files = {};
for (const name of readdirSync(here).filter((n) => n.endsWith(".gguf")).sort()) {
  const { metadata, tensorInfos, tensorDataOffset } = await gguf(join(here, name), { allowLocalFile: true });
  const plain = {};
  for (const [key, value] of Object.entries(metadata)) {
    plain[key] = Array.isArray(value) ? { length: value.length, first: value[0], last: value.at(-1) }
      : typeof value === "bigint" ? Number(value) : value;
  }
  files[name] = {
    metadata: plain,
    tensors: tensorInfos.map((t) => ({
      name: t.name, shape: t.shape.map(Number).reverse(), type: t.dtype,
      offset: Number(tensorDataOffset) + Number(t.offset),
    })),
  };
}
writeFileSync(join(here, "gguf.json"), JSON.stringify(files, null, 1) + "\n");
