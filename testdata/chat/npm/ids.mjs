// Encodes the texts of chats with the npm package @huggingface/tokenizers, for a test of
// infer/chat. The argument is a JSON file that has, for each template, the path of a
// tokenizer.json, the special tokens to add to it, and texts with the offsets of the special
// tokens in them.
//
// The output has two lists of ids for each text. For "whole", the package finds all names of
// special tokens itself, including names that somebody typed. For "parts", the text between
// the given offsets is encoded without special tokens, and each offset becomes the special
// token whose name is there.
import { readFileSync } from 'node:fs';
import { Tokenizer } from '@huggingface/tokenizers';

function parts(tokenizer, special, { text, marks }) {
  const bytes = Buffer.from(text);
  const ids = [];
  let from = 0;
  const plain = (to) => to > from && ids.push(...tokenizer.encode(bytes.subarray(from, to).toString(), options).ids);
  for (const at of marks) {
    const here = bytes.subarray(at).toString();
    const { id, content } = special.find((t) => here.startsWith(t.content));
    plain(at);
    ids.push(id);
    from = at + Buffer.byteLength(content);
  }
  plain(bytes.length);
  return ids;
}

const options = { add_special_tokens: false };
const answers = {};
for (const [name, { file, added, texts }] of Object.entries(JSON.parse(readFileSync(process.argv[2], 'utf8')))) {
  const config = JSON.parse(readFileSync(file, 'utf8'));
  config.added_tokens.push(...added);
  const whole = new Tokenizer(config, {});
  const special = config.added_tokens.filter((t) => t.special).sort((a, b) => b.content.length - a.content.length);
  const without = new Tokenizer({ ...config, added_tokens: config.added_tokens.filter((t) => !t.special) }, {});
  answers[name] = texts.map((t) => ({ whole: whole.encode(t.text, options).ids, parts: parts(without, special, t) }));
}
console.log(JSON.stringify(answers));
