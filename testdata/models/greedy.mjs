// Writes greedy.json: llama.cpp's greedy text after the first 24 token ids of each
// model in architectures.json.gz, for the float32 GGUF files next to it. It runs
// llama.cpp through the npm package node-llama-cpp, whose prebuilt library is in
// @node-llama-cpp/linux-x64. Weights, keys and values are float32 there too, so
// only the order of additions differs. A test of infer compares the texts.
//
// It also writes kquants-greedy.json: the same for the quantized files of
// kquants.json.gz, after their whole prompts. For these files, llama.cpp also
// rounds the activations, and the program does not.
//
// mistral-window-f32.gguf is omitted, because llama.cpp ignores the sliding window
// of a file whose general.architecture is "llama". mistral-f32.gguf has the same
// weights and no window.
//
// Run it again after architectures.py, from the root of the repository, on Linux
// x64 with Node 20 or later:
//
//     mkdir oracle && (cd oracle && npm i --ignore-scripts node-llama-cpp@3.22.1)
//     ORACLE=oracle node testdata/models/greedy.mjs
//     rm -r oracle

import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { gunzipSync } from "node:zlib";

const here = dirname(fileURLToPath(import.meta.url));
const oracle = resolve(process.env.ORACLE ?? ".");
for (const name of ["node-llama-cpp", "@node-llama-cpp/linux-x64"]) {
  const installed = JSON.parse(readFileSync(join(oracle, "node_modules", name, "package.json"), "utf8")).version;
  if (installed !== "3.22.1") throw new Error(`${name} is ${installed}, want 3.22.1`);
}
const entry = createRequire(join(oracle, "package.json")).resolve("node-llama-cpp");
const { getLlama } = await import(pathToFileURL(entry));

const llama = await getLlama({ gpu: false, build: "never", skipDownload: true, logLevel: "error", maxThreads: 1 });

async function greedy(name, prompt, written) {
  const model = await llama.loadModel({ modelPath: join(here, name), defaultContextFlashAttention: false });
  const context = await model.createContext({
    contextSize: 256, batchSize: 256, threads: 1, flashAttention: false, swaFullCache: true,
    experimentalKvCacheKeyType: "F32", experimentalKvCacheValueType: "F32",
  });
  const next = [];
  for await (const id of context.getSequence().evaluate(prompt, { temperature: 0, yieldEogToken: true })) {
    if (next.push(id) === written) break;
  }
  if (next.length !== written) throw new Error(`${name}: ${next.length} tokens`);
  await context.dispose();
  await model.dispose();
  return { prompt, next };
}

async function write(to, from, chosen, prompt, written) {
  const models = JSON.parse(gunzipSync(readFileSync(join(here, from))));
  const texts = {};
  for (const name of Object.keys(models).filter(chosen).sort()) {
    texts[name] = await greedy(name, models[name].ids.slice(0, prompt), written);
  }
  writeFileSync(join(here, to),
    JSON.stringify(texts, null, 1).replace(/\n\s+(-?\d+,?)/g, " $1").replace(/(\d)\n\s+\]/g, "$1 ]") + "\n");
}

// The prompt is longer than the sliding windows, and the text reaches up to 60 of
// 64 positions.
await write("greedy.json", "architectures.json.gz",
  (name) => name.endsWith("-f32.gguf") && name !== "mistral-window-f32.gguf", 24, 36);
await write("kquants-greedy.json", "kquants.json.gz", () => true, 12, 24);
await llama.dispose();
