// Texts of people, models and files within a page's own sentences.
const rightToLeft = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

// isolated is a text for the middle of a sentence: written from right to left, it would change
// the order of the words and numbers beside it. Elements do it with dir="auto".
export const isolated = (text) => (rightToLeft.test(text) ? `\u2068${text}\u2069` : text);
