// Text as what a reader takes for characters: a letter with its accents is one, a flag, a family of emoji. It is cut between
// these only.

/** Text of which each unit is a character of its own. */
const PLAIN = /^[\0-\u02ff]*$/;

/** How many UTF-16 units one may have: of more, as of a letter under a hundred accents, each code point counts. */
export const LONGEST_CLUSTER = 32;

/** Browsers have it since 2024 at the latest. */
const segmenter = typeof Intl.Segmenter === "function" ? new Intl.Segmenter("en", { granularity: "grapheme" }) : null;

/** Nearly the same where there is none. */
const CLUSTER = /\p{Regional_Indicator}{2}|[^](?:\p{Mark}|\p{Emoji_Modifier}|[\u{e0020}-\u{e007f}]|\u200d\p{Extended_Pictographic})*/gu;
const withoutSegmenter = (text) => text.match(CLUSTER) ?? [];

const segmented = (text) => (segmenter === null ? withoutSegmenter(text) : Array.from(segmenter.segment(text), ({ segment }) => segment));

/**
 * The characters of a text, as a reader takes them.
 * @param {string} text
 * @param {(text: string) => string[]} [cut] what tells them apart
 * @returns {string[]}
 */
export const clustersOf = (text, cut = segmented) => {
  if (PLAIN.test(text)) return text.split("");
  return cut(text).flatMap((cluster) => (cluster.length <= LONGEST_CLUSTER ? [cluster] : [...cluster]));
};

/** The same in a browser that lacks `Intl.Segmenter`. */
export const clustersByPattern = (text) => clustersOf(text, withoutSegmenter);
