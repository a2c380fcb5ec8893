// Code that the client scripts share. They read their requests from a JSON file, and write one
// line of JSON for each call, with the answer as the client parsed it. end is the id of the
// token that ends a text.
import { readFileSync } from 'node:fs';

export const { servers, model, end, requests } = JSON.parse(readFileSync(process.argv[2], 'utf8'));

export const say = (line) => console.log(JSON.stringify(line));

// attempt makes a call that the server should refuse, and prints the error that the client threw.
export async function attempt(call, errorOf, f) {
  try {
    await f();
    say({ call, error: { name: 'none' } });
  } catch (e) {
    say({ call, error: errorOf(e) });
  }
}

// busy sends more requests at the same time than one client may: hold starts a long answer and
// returns a function that aborts it and returns the client's error; ask must be refused in the
// meantime. If ask arrived first, or the long answer was over before it, both are repeated.
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

// left waits for an answer that its client aborts, and returns the error that the package throws.
export const left = (answer, errorOf) => answer.then(() => ({ name: 'none' }), errorOf);
