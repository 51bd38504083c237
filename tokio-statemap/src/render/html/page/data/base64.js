// Base64 (standard alphabet, padded, no white space) to bytes.

import { damaged } from "./inflate.js";

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

/**
 * Decodes base64.
 * @param {string} text
 * @returns {Uint8Array}
 * @throws {Error} if it isn't base64
 */
export function decodeBase64(text) {
  if (text.length % 4 !== 0 || !BASE64.test(text)) throw damaged("a chunk isn't base64");
  if (typeof Uint8Array.fromBase64 === "function") return Uint8Array.fromBase64(text);
  return decodeByAtob(text);
}

/** Decodes base64 in browsers without `Uint8Array.fromBase64`. */
export function decodeByAtob(text) {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}
