// Text as characters that a reader sees as one: a letter with its accents, a flag, an emoji of several parts. Text is only cut
// between these.

/** Matches text in which each UTF-16 unit is a character. */
const PLAIN = /^[\0-\u02ff]*$/;

/** The most UTF-16 units of a character. In a longer one, such as a letter with a hundred accents, each code point counts. */
export const LONGEST_CLUSTER = 32;

/** All browsers since 2024 have it. Without it, each code point counts. */
const segmenter = typeof Intl.Segmenter === "function" ? new Intl.Segmenter("en", { granularity: "grapheme" }) : null;

/** Returns the characters of a text. @param {string} text @returns {string[]} */
export const clustersOf = (text) => {
  if (PLAIN.test(text)) return text.split("");
  if (segmenter === null) return [...text];
  return Array.from(segmenter.segment(text)).flatMap(({ segment }) => (segment.length <= LONGEST_CLUSTER ? [segment] : [...segment]));
};
