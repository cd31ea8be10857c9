// Hashes, PINs and random numbers, which have to work on plain HTTP too: no `crypto.subtle` there.

import { pbkdf2Async, sha256 } from "../vendor/noble-hashes-2.4.0.js";

/** A PIN as the server sends it, hexadecimal; without `iterations` it is a SHA-256, as earlier versions made them. @typedef {NonNullable<import("./state.js").GateSettings["supervisorPin"]>} PinHash */

/** @param {string} text */
const bytesOf = (text) => new TextEncoder().encode(text);

/** The four digits that the console shows beside a request. @param {string} secret */
export function checkDigits(secret) {
  const number = new DataView(sha256(bytesOf(secret)).buffer).getUint32(0);
  return String(number % 10_000).padStart(4, "0");
}

/** @param {string} pin @param {PinHash} kept */
export async function isPin(pin, { salt, hash, iterations }) {
  const saltBytes = new Uint8Array((salt.match(/../g) ?? []).map((byte) => parseInt(byte, 16)));
  const made = iterations ? await stretched(bytesOf(pin), saltBytes, iterations) : sha256(new Uint8Array([...saltBytes, ...bytesOf(pin)]));
  return toHex(made) === hash.toLowerCase();
}

/** PBKDF2 with HMAC-SHA-256. @param {Uint8Array<ArrayBuffer>} pin @param {Uint8Array<ArrayBuffer>} salt @param {number} iterations @returns {Promise<Uint8Array>} */
async function stretched(pin, salt, iterations) {
  const { subtle } = globalThis.crypto;
  // In slices of 50 ms, so that the page goes on meanwhile.
  if (!subtle) return pbkdf2Async(sha256, pin, salt, { c: iterations, dkLen: 32, asyncTick: 50 });
  const key = await subtle.importKey("raw", pin, "PBKDF2", false, ["deriveBits"]);
  return new Uint8Array(await subtle.deriveBits({ name: "PBKDF2", hash: "SHA-256", salt, iterations }, key, 256));
}

/** @param {Uint8Array} bytes */
export const toHex = (bytes) => [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");

/** Random bytes as hexadecimal text; works without a secure context. @param {number} bytes */
export const randomHex = (bytes) => toHex(crypto.getRandomValues(new Uint8Array(bytes)));
