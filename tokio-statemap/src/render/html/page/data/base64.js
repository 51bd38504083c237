// Base64 (standard alphabet, padded, no white space) to bytes.

import { damaged } from "./inflate.js";

let sixBits = null;

/**
 * Decodes base64.
 * @param {string} text
 * @returns {Uint8Array}
 * @throws {Error} if it isn't base64
 */
export function decodeBase64(text) {
  if (typeof Uint8Array.fromBase64 === "function") {
    try {
      return Uint8Array.fromBase64(text, { lastChunkHandling: "strict" });
    } catch {
      throw badBase64();
    }
  }
  return decodeBase64ByTable(text);
}

/**
 * The same, for engines without `Uint8Array.fromBase64`.
 * @param {string} text
 * @returns {Uint8Array}
 * @throws {Error} if it isn't base64
 */
export function decodeBase64ByTable(text) {
  const table = (sixBits ??= buildSixBits());
  const n = text.length;
  if (n % 4 !== 0 || /[^\0-\xff]/.test(text)) throw badBase64();
  const padding = n === 0 ? 0 : text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0;
  const bytes = new Uint8Array((n / 4) * 3 - padding);
  const whole = padding ? n - 4 : n;
  let out = 0;
  // Of valid letters no value has more than 6 bits: one that has, shows in the end.
  let seen = 0;
  let i = 0;
  for (; i < whole; i += 4) {
    const a = table[text.charCodeAt(i)], b = table[text.charCodeAt(i + 1)];
    const c = table[text.charCodeAt(i + 2)], d = table[text.charCodeAt(i + 3)];
    seen |= a | b | c | d;
    bytes[out++] = (a << 2) | (b >> 4);
    bytes[out++] = (b << 4) | (c >> 2);
    bytes[out++] = (c << 6) | d;
  }
  if (padding) {
    const a = table[text.charCodeAt(i)], b = table[text.charCodeAt(i + 1)];
    const c = padding === 1 ? table[text.charCodeAt(i + 2)] : 0;
    seen |= a | b | c;
    bytes[out++] = (a << 2) | (b >> 4);
    if (padding === 1) bytes[out++] = (b << 4) | (c >> 2);
  }
  if (seen > 63) throw badBase64();
  return bytes;
}

function badBase64() {
  return damaged("a chunk isn't base64");
}

function buildSixBits() {
  const table = new Uint8Array(256).fill(0xff);
  const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (let i = 0; i < letters.length; i++) table[letters.charCodeAt(i)] = i;
  return table;
}
