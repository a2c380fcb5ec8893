// What the scripts of the clients share: they are given what to ask as JSON, and write a
// line of JSON for each call, with what the client made of the answer. end is the token that
// ends a text.
import { readFileSync } from 'node:fs';

export const { servers, model, end, requests } = JSON.parse(readFileSync(process.argv[2], 'utf8'));

export const say = (line) => console.log(JSON.stringify(line));

// attempt makes a call that is to be refused, and says with what the client threw.
export async function attempt(call, errorOf, f) {
  try {
    await f();
    say({ call, error: { name: 'none' } });
  } catch (e) {
    say({ call, error: errorOf(e) });
  }
}

// busy asks for more than one client may ask for at a time: hold begins a long answer and
// returns what leaves it and says what its client makes of that; ask is refused while it
// goes on. Where ask was first, or the long answer was over before it, both are tried again.
export async function busy(errorOf, hold, ask) {
  for (let tries = 1; ; tries++) {
    const leave = await hold();
    let error = { name: 'none' };
    try {
      await ask();
    } catch (e) {
      error = errorOf(e);
    }
    const left = await leave();
    if ((error.status !== 429 || left.status === 429) && tries < 100) continue;
    say({ call: 'two at a time', error });
    return say({ call: 'leaving', error: left });
  }
}

// left awaits an answer that its client leaves, and returns what the package throws.
export const left = (answer, errorOf) => answer.then(() => ({ name: 'none' }), errorOf);
