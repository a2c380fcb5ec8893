// Sends requests of every kind to a server through the npm package openai, as its documentation
// describes.
import OpenAI from 'openai';
import { zodResponseFormat } from 'openai/helpers/zod';
import { z } from 'zod';
import { attempt, busy, end, left, model, requests, say, servers } from './shared.mjs';

const clientOf = (server, apiKey = 'not-needed') => new OpenAI({ baseURL: `${server}/v1`, apiKey, maxRetries: 0 });
const client = clientOf(servers.open);

// errorOf describes an error that the package threw. Its name is the class that the
// documentation lists for the status.
function errorOf(e) {
  const kinds = ['BadRequestError', 'AuthenticationError', 'NotFoundError', 'RateLimitError', 'APIUserAbortError'];
  return {
    name: kinds.find((k) => e instanceof OpenAI[k]) ?? e.constructor.name, status: e.status, message: e.message,
    param: e.param ?? '', code: e.code ?? '', type: e.type ?? '', wait: e.headers?.get('retry-after') ?? '',
  };
}

const usageOf = (u) => [u.prompt_tokens, u.completion_tokens, u.total_tokens];

// completion requests a completion, first whole and then streamed.
async function completion(body) {
  const whole = await client.completions.create(body);
  const choices = new Map();
  let usage = [];
  const asks = { ...body, stream: true, stream_options: { include_usage: true } };
  for await (const part of await client.completions.create(asks)) {
    if (part.usage) usage = usageOf(part.usage);
    for (const c of part.choices) {
      const all = choices.get(c.index) ?? { text: '', tokens: [], probs: [], end: '' };
      all.text += c.text;
      all.tokens.push(...(c.logprobs?.tokens ?? []));
      all.probs.push(...(c.logprobs?.token_logprobs ?? []));
      all.end = c.finish_reason ?? all.end;
      choices.set(c.index, all);
    }
  }
  say({
    call: 'completion', asks: body,
    whole: {
      usage: usageOf(whole.usage),
      choices: whole.choices.map(({ text, logprobs: l, finish_reason: end }) => ({
        text, end, tokens: l?.tokens ?? [], probs: l?.token_logprobs ?? [],
      })),
    },
    streamed: { usage, choices: [...choices.entries()].sort(([a], [b]) => a - b).map(([, c]) => c) },
  });
}

const saidOf = ({ message, logprobs, finish_reason: end }) => ({
  text: message.content, end, tokens: logprobs?.content.map((t) => t.token) ?? [],
  probs: logprobs?.content.map((t) => t.logprob) ?? [],
});

// chat requests an answer, first whole and then through the package's own stream helper.
async function chat(body) {
  const whole = await client.chat.completions.create(body);
  const stream = client.chat.completions.stream({ ...body, stream_options: { include_usage: true } });
  const streamed = await stream.finalChatCompletion();
  say({
    call: 'chat', asks: body,
    whole: { usage: usageOf(whole.usage), choices: whole.choices.map(saidOf) },
    streamed: { usage: usageOf(streamed.usage), choices: streamed.choices.map(saidOf) },
  });
}

for (const { chat: talks, body } of requests) await (talks ? chat(body) : completion(body));

const models = await client.models.list();
say({ call: 'models', models: models.data.map((m) => m.id) });
say({ call: 'models', models: [(await client.models.retrieve(model)).id] });

const messages = [{ role: 'user', content: 'Tell me of a cat.' }];
const cat = z.object({ name: z.string(), kind: z.enum(['house', 'wild']), tame: z.boolean() });
const parsed = await client.chat.completions.parse({
  model, messages, seed: 2, max_tokens: 60, response_format: zodResponseFormat(cat, 'cat'),
});
say({ call: 'form', form: parsed.choices[0].message.parsed });

const ask = (more) => () => client.chat.completions.create({ model, messages, max_tokens: 2, ...more });
const part = (p) => ask({ messages: [{ role: 'user', content: [{ type: 'text', text: 'What is this?' }, p] }] });
const tool = { type: 'function', function: { name: 'look', parameters: { type: 'object', properties: {} } } };
await attempt('temperature', errorOf, ask({ temperature: 101 }));
await attempt('temperature, streamed', errorOf, ask({ temperature: 101, stream: true }));
await attempt('model', errorOf, ask({ model: 'gpt-5' }));
await attempt('tools', errorOf, ask({ tools: [tool] }));
await attempt('image', errorOf, part({ type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } }));
await attempt('sound', errorOf, part({ type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } }));
await attempt('speech', errorOf, ask({ modalities: ['text', 'audio'], audio: { voice: 'ash', format: 'wav' } }));
await attempt('embeddings', errorOf, () => client.embeddings.create({ model, input: 'a' }));
await attempt('responses', errorOf, () => client.responses.create({ model, input: 'a' }));
await attempt('key', errorOf, () => clientOf(servers.keyed, 'another-key-of-mine').models.list());
say({ call: 'models', models: (await clientOf(servers.keyed, servers.key).models.list()).data.map((m) => m.id) });

// A server that handles one request at a time, and two requests that their client aborts.
const narrow = clientOf(servers.narrow);
const one = (options) => narrow.completions.create({ model, prompt: 'A', max_tokens: 1 }, options);
const long = { model, prompt: 'Once', n: 16, max_tokens: 480, logprobs: 20, logit_bias: { [end]: -100 } };
await busy(errorOf, async () => {
  await one({ maxRetries: 100 }); // wait until the server is free
  const stream = await narrow.completions.create({ ...long, stream: true });
  const parts = stream[Symbol.asyncIterator]();
  await parts.next();
  return async () => {
    stream.controller.abort();
    for (let next = await parts.next(); !next.done; next = await parts.next());
    return { name: 'ended' }; // as documented: aborting a stream throws nothing
  };
}, one);
await busy(errorOf, async () => {
  await one({ maxRetries: 100 });
  const leaves = new AbortController();
  const answer = left(narrow.completions.create(long, { signal: leaves.signal }), errorOf);
  return () => (leaves.abort(), answer);
}, one);
const after = await one({ maxRetries: 100 });
say({ call: 'after leaving', end: after.choices[0].finish_reason });
