// Reads LEB128 numbers, texts and parts from bytes.

import { damaged } from "./inflate.js";

const utf8 = new TextDecoder("utf-8", { ignoreBOM: true });

/** Reads bytes from a position up to an end. */
export class Reader {
  /**
   * @param {Uint8Array} bytes
   * @param {number} at
   * @param {number} end
   */
  constructor(bytes, at, end) {
    this.bytes = bytes;
    this.at = at;
    this.end = end;
  }

  /** @returns {number} exact up to 2^53 @throws {Error} past that, and at the end */
  varint() {
    const { bytes, end } = this;
    let value = 0, unit = 1;
    for (let at = this.at; at < end && unit < 2 ** 63; at++) {
      const byte = bytes[at];
      value += (byte & 127) * unit;
      if (byte < 128) {
        if (value > Number.MAX_SAFE_INTEGER) break;
        this.at = at + 1;
        return value;
      }
      unit *= 128;
    }
    throw damaged("a number is cut or too large");
  }

  /** Reads a whole number of up to 64 bits. @returns {string} in decimal */
  bigVarint() {
    let value = 0n;
    for (let shift = 0n; this.at < this.end && shift < 64n; shift += 7n) {
      const byte = this.bytes[this.at++];
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) return String(BigInt.asUintN(64, value));
    }
    throw damaged("a number is cut or too large");
  }

  /** Reads UTF-8 after its length. @returns {string} */
  text() {
    const length = this.varint();
    if (length > this.end - this.at) throw damaged("a text is cut");
    const from = this.at;
    this.at += length;
    return utf8.decode(this.bytes.subarray(from, this.at));
  }

  /** Returns a reader of the next `length` bytes. @param {number} length @returns {Reader} */
  slice(length) {
    if (length > this.end - this.at) throw damaged("a chunk is cut");
    this.at += length;
    return new Reader(this.bytes, this.at - length, this.at);
  }

  /** @throws {Error} unless all was read */
  finish() {
    if (this.at !== this.end) throw damaged("a column's length is wrong");
  }
}
