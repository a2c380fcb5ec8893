// Inserts text from people, models and files into the page's own sentences.
const rightToLeft = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

// isolated prepares a string for the middle of a sentence, since right-to-left text would
// otherwise change the order of the words and numbers around it. In elements, dir="auto" does the
// same.
export const isolated = (text) => (rightToLeft.test(text) ? `\u2068${text}\u2069` : text);
