// Inflates raw deflate streams, up to a limit.

/** The most bytes of an inflated chunk, so that a damaged one can't fill the memory. */
const MOST_INFLATED = 1 << 28;

/**
 * Returns whether the browser can inflate raw deflate streams. Chrome has DecompressionStream from 80 on, this format from
 * 103 on.
 * @returns {boolean}
 */
export function canInflate() {
  try {
    return Boolean(new DecompressionStream("deflate-raw"));
  } catch {
    return false;
  }
}

/**
 * Inflates one raw deflate stream.
 * @param {Uint8Array} bytes
 * @returns {Promise<Uint8Array>}
 * @throws {Error} if it is damaged, cut or larger than 256 MiB
 */
export async function inflateRaw(bytes) {
  const stream = new DecompressionStream("deflate-raw");
  const writer = stream.writable.getWriter();
  // Errors of the writer reach the reader, too.
  writer.write(bytes).catch(() => {});
  writer.close().catch(() => {});
  const reader = stream.readable.getReader();
  const parts = [];
  let size = 0;
  for (;;) {
    let part;
    try {
      part = await reader.read();
    } catch {
      throw damaged("a chunk can't be inflated");
    }
    if (part.done) break;
    parts.push(part.value);
    size += part.value.length;
    if (size > MOST_INFLATED) {
      reader.cancel().catch(() => {});
      throw damaged("a chunk is too large");
    }
  }
  if (parts.length === 1) return parts[0];
  const whole = new Uint8Array(size);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/**
 * Returns the error for damaged data.
 * @param {string} what
 * @returns {Error}
 */
export function damaged(what) {
  return new Error(`The page's data is damaged: ${what}.`);
}
