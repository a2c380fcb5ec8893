// Sends requests of every kind to a server through the npm package ai and its provider for
// OpenAI-compatible servers, as their documentation describes.
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { APICallError, Output, embed, generateImage, generateText, streamText, tool } from 'ai';
import { z } from 'zod';
import { attempt, busy, end, left, model, requests, say, servers } from './shared.mjs';

const providerOf = (server, apiKey = 'not-needed') => createOpenAICompatible({
  name: 'viz', baseURL: `${server}/v1`, apiKey, includeUsage: true, supportsStructuredOutputs: true,
});
const open = providerOf(servers.open);

function errorOf(e) {
  const { param, code, type } = e.data?.error ?? {};
  return {
    name: APICallError.isInstance(e) ? 'APICallError' : e.name, status: e.statusCode, message: e.message,
    param: param ?? '', code: code ?? '', type: type ?? '', wait: e.responseHeaders?.['retry-after'] ?? '',
  };
}

const usageOf = (u) => [u.inputTokens, u.outputTokens, u.totalTokens];
const listOf = (body) => (typeof body === 'string' ? JSON.parse(body) : body);

// probsOf returns the tokens and log-probabilities of an answer from the server's raw
// response, because the package has no field for them.
function probsOf(choices) {
  const lists = choices.map((c) => c.logprobs).filter(Boolean);
  return {
    tokens: lists.flatMap((l) => l.tokens ?? l.content.map((t) => t.token)),
    probs: lists.flatMap((l) => l.token_logprobs ?? l.content.map((t) => t.logprob)),
  };
}

// optionsOf returns a request's fields under the package's names.
function optionsOf({ chat, body }) {
  const more = chat ? { logprobs: true, top_logprobs: 2 } : { logprobs: 2 };
  const options = {
    model: chat ? open.chatModel(model) : open.completionModel(model), maxRetries: 0, seed: body.seed,
    temperature: body.temperature, topP: body.top_p, maxOutputTokens: body.max_completion_tokens ?? body.max_tokens,
    stopSequences: body.stop, providerOptions: { viz: more },
  };
  if (!chat) return { ...options, prompt: body.prompt };
  const [system, ...messages] = body.messages;
  return { ...options, system: system.content, messages };
}

async function both(request) {
  const options = optionsOf(request);
  const whole = await generateText({ ...options, include: { requestBody: true, responseBody: true } });
  const stream = streamText({ ...options, include: { requestBody: true, rawChunks: true } });
  const raw = [];
  let text = '';
  for await (const part of stream.fullStream) {
    if (part.type === 'text-delta') text += part.text;
    if (part.type === 'raw') raw.push(...part.rawValue.choices);
    if (part.type === 'error') throw part.error;
  }
  say({
    call: request.chat ? 'chat' : 'completion', asks: listOf(whole.request.body),
    whole: {
      usage: usageOf(whole.usage),
      choices: [{ text: whole.text, end: whole.finishReason, ...probsOf(listOf(whole.response.body).choices) }],
    },
    streamed: {
      usage: usageOf(await stream.usage), choices: [{ text, end: await stream.finishReason, ...probsOf(raw) }],
    },
  });
}

for (const request of requests) await both(request);

const cat = z.object({ name: z.string(), kind: z.enum(['house', 'wild']), tame: z.boolean() });
const asks = { model: open.chatModel(model), prompt: 'Tell me of a cat.', seed: 2, maxOutputTokens: 60, maxRetries: 0 };
const output = Output.object({ schema: cat });
say({ call: 'form', form: (await generateText({ ...asks, output })).output });
say({ call: 'form', form: await streamText({ ...asks, output }).output });

const ask = (more) => () => generateText({ ...asks, ...more });
const file = (mediaType) => ask({
  prompt: undefined,
  messages: [{
    role: 'user',
    content: [{ type: 'text', text: 'What is this?' }, { type: 'file', mediaType, data: new Uint8Array(9) }],
  }],
});
const look = tool({ description: 'Looks.', inputSchema: z.object({}) });
await attempt('temperature', errorOf, ask({ temperature: 101 }));
await attempt('temperature, streamed', errorOf, async () => {
  for await (const part of streamText({ ...asks, temperature: 101, onError: () => {} }).fullStream) {
    if (part.type === 'error') throw part.error;
  }
});
await attempt('model', errorOf, ask({ model: open.chatModel('gpt-5') }));
await attempt('tools', errorOf, ask({ tools: { look } }));
await attempt('image', errorOf, file('image/png'));
await attempt('sound', errorOf, file('audio/wav'));
const speech = { modalities: ['text', 'audio'], audio: { voice: 'ash' } };
await attempt('speech', errorOf, ask({ providerOptions: { viz: speech } }));
await attempt('embeddings', errorOf, () => embed({ model: open.embeddingModel(model), value: 'a', maxRetries: 0 }));
await attempt('pictures', errorOf, () => generateImage({ model: open.imageModel(model), prompt: 'a', maxRetries: 0 }));
await attempt('key', errorOf, ask({ model: providerOf(servers.keyed, 'another-key-of-mine').chatModel(model) }));
const keyed = await ask({ model: providerOf(servers.keyed, servers.key).chatModel(model) })();
say({ call: 'with a key', end: keyed.finishReason });

// A server that handles one request at a time, and two requests that their client aborts.
const narrow = providerOf(servers.narrow).completionModel(model);
const one = (options) => generateText({ model: narrow, prompt: 'A', maxOutputTokens: 1, maxRetries: 0, ...options });
const long = {
  model: narrow, prompt: 'Once', maxRetries: 0, maxOutputTokens: 480,
  providerOptions: { viz: { logprobs: 20, n: 16, logit_bias: { [end]: -100 } } },
};
await busy(errorOf, async () => {
  await one({ maxRetries: 20 }); // wait until the server is free
  const leaves = new AbortController();
  const parts = streamText({ ...long, abortSignal: leaves.signal }).fullStream[Symbol.asyncIterator]();
  for (let next = await parts.next(); next.value.type !== 'text-delta'; next = await parts.next());
  return async () => {
    leaves.abort();
    for (let next = await parts.next(); !next.done; next = await parts.next()) {
      if (next.value.type === 'abort') return { name: 'AbortError' };
    }
    return { name: 'none' };
  };
}, one);
await busy(errorOf, async () => {
  await one({ maxRetries: 20 }); // wait until the server is free
  const leaves = new AbortController();
  const answer = left(generateText({ ...long, abortSignal: leaves.signal }), errorOf);
  return () => (leaves.abort(), answer);
}, one);
say({ call: 'after leaving', end: (await one({ maxRetries: 20 })).finishReason });
