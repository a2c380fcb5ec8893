// Texts by people, models and in files within the page's own sentences.
const rightToLeft = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

// isolated prepares a text for the middle of a sentence: right-to-left text would otherwise
// change the order of the words and numbers around it. Elements use dir="auto" for that.
export const isolated = (text) => (rightToLeft.test(text) ? `\u2068${text}\u2069` : text);
