// Measures llama.cpp (through node-llama-cpp) and viz bench alternately, on one
// thread, with the models that bench_model.c writes.
//
//	mkdir oracle && (cd oracle && npm i --ignore-scripts node-llama-cpp@3.22.1)
//	go build -o viz ./cmd/viz
//	ORACLE=oracle VIZ=./viz node testdata/ggml/bench.mjs 5 random-q4_k_m.gguf random-q8_0.gguf
//
// It prints each round and then the medians and ranges, in tokens per second, of
// reading 128 tokens and of generating 64 tokens after a first one.

import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { loadavg } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const [rounds, ...files] = process.argv.slice(2);
const oracle = resolve(process.env.ORACLE ?? ".");
const installed = JSON.parse(readFileSync(join(oracle, "node_modules/node-llama-cpp/package.json"), "utf8")).version;
if (installed !== "3.22.1") throw new Error(`node-llama-cpp is ${installed}, want 3.22.1`);
const { getLlama } = await import(pathToFileURL(createRequire(join(oracle, "package.json")).resolve("node-llama-cpp")));
const llama = await getLlama({ gpu: false, build: "never", skipDownload: true, logLevel: "error", maxThreads: 1 });

const read = 128, written = 64; // tokens
const prompt = Array.from({ length: read }, (_, i) => (i === 0 ? 1 : 300 + ((i * 7919) % 48000)));

async function theirs(model) {
  const context = await model.createContext({ contextSize: 512, batchSize: 512, threads: 1, flashAttention: false });
  let start = performance.now();
  for await (const _ of context.getSequence().evaluate(prompt, { temperature: 0, yieldEogToken: true })) break;
  const reading = (1000 * read) / (performance.now() - start);
  await context.dispose();
  const again = await model.createContext({ contextSize: 512, batchSize: 512, threads: 1, flashAttention: false });
  let count = 0;
  for await (const _ of again.getSequence().evaluate([1], { temperature: 0, yieldEogToken: true })) {
    if (++count === 1) start = performance.now();
    if (count > written) break;
  }
  const writing = (1000 * written) / (performance.now() - start);
  await again.dispose();
  return { reading, writing };
}

function ours(file) {
  const args = ["bench", "-model", file, "-threads", "1", "-texts", "1", "-prompt-tokens", `${read}`, "-n",
    `${written}`, "-time", "1s", "-json"];
  const rows = JSON.parse(execFileSync(process.env.VIZ ?? "viz", args, { stdio: ["ignore", "pipe", "ignore"] })).speed;
  const rate = (phase, quant) => rows.find((r) => r.phase === phase && r.quant === quant).rate;
  return Object.fromEntries(["none", "int8"]
    .map((q) => [q, { reading: rate("prefill", q), writing: rate("decode", q) }]));
}

function summary(list) {
  const sorted = [...list].sort((a, b) => a - b);
  return `${sorted[sorted.length >> 1].toFixed(1)} (${sorted[0].toFixed(1)} to ${sorted.at(-1).toFixed(1)})`;
}

for (const file of files) {
  const model = await llama.loadModel({ modelPath: file, defaultContextFlashAttention: false });
  const found = {};
  const keep = (name, x) => { for (const k of ["reading", "writing"]) ((found[name] ??= {})[k] ??= []).push(x[k]); };
  for (let i = 0; i < Number(rounds); i++) {
    const t = await theirs(model);
    keep("llama.cpp", t);
    const o = ours(file);
    keep("viz", o.none);
    keep("viz, int8", o.int8);
    const round = [t, o.none, o.int8].map((x) => `${x.reading.toFixed(0)} ${x.writing.toFixed(1)}`).join(", ");
    console.log(`  round ${i + 1}: ${round} (load ${loadavg()[0].toFixed(1)})`);
  }
  await model.dispose();
  console.log(`${file}, ${rounds} rounds, load average ${loadavg().map((x) => x.toFixed(1)).join(" ")}`);
  for (const [name, x] of Object.entries(found)) {
    console.log(`  ${name.padEnd(13)} reads ${summary(x.reading)}, writes ${summary(x.writing)} tokens/s`);
  }
}
await llama.dispose();
