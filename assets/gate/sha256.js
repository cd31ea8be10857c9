// SHA-256 for pages without `crypto.subtle`: a plain HTTP origin has none.

const PRIMES = (() => {
  /** @type {number[]} */
  const found = [];
  for (let n = 2; found.length < 64; n += 1) if (found.every((prime) => n % prime)) found.push(n);
  return found;
})();
/** @param {number} x */
const fraction = (x) => ((x - Math.floor(x)) * 2 ** 32) | 0;
const K = PRIMES.map((prime) => fraction(Math.cbrt(prime)));
const START = PRIMES.slice(0, 8).map((prime) => fraction(Math.sqrt(prime)));

/** @param {Uint8Array} bytes @returns {Uint8Array} */
export function sha256(bytes) {
  const padded = new Uint8Array((((bytes.length + 8) >> 6) + 1) << 6);
  padded.set(bytes);
  padded[bytes.length] = 0x80;
  const view = new DataView(padded.buffer);
  view.setUint32(padded.length - 4, bytes.length * 8);
  const hash = [...START];
  const w = new Int32Array(64);
  /** @param {number} x @param {number} n */
  const turn = (x, n) => (x >>> n) | (x << (32 - n));
  for (let block = 0; block < padded.length; block += 64) {
    for (let i = 0; i < 16; i += 1) w[i] = view.getInt32(block + i * 4);
    for (let i = 16; i < 64; i += 1) {
      const s0 = turn(w[i - 15], 7) ^ turn(w[i - 15], 18) ^ (w[i - 15] >>> 3);
      const s1 = turn(w[i - 2], 17) ^ turn(w[i - 2], 19) ^ (w[i - 2] >>> 10);
      w[i] = (w[i - 16] + s0 + w[i - 7] + s1) | 0;
    }
    let [a, b, c, d, e, f, g, h] = hash;
    for (let i = 0; i < 64; i += 1) {
      const s1 = turn(e, 6) ^ turn(e, 11) ^ turn(e, 25);
      const t1 = (h + s1 + ((e & f) ^ (~e & g)) + K[i] + w[i]) | 0;
      const s0 = turn(a, 2) ^ turn(a, 13) ^ turn(a, 22);
      const t2 = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
      [h, g, f, e, d, c, b, a] = [g, f, e, (d + t1) | 0, c, b, a, (t1 + t2) | 0];
    }
    [a, b, c, d, e, f, g, h].forEach((value, i) => (hash[i] = (hash[i] + value) | 0));
  }
  const out = new DataView(new ArrayBuffer(32));
  hash.forEach((value, i) => out.setInt32(i * 4, value));
  return new Uint8Array(out.buffer);
}

/** The four digits that the console shows beside a request. @param {string} secret */
export function checkDigits(secret) {
  const number = new DataView(sha256(new TextEncoder().encode(secret)).buffer).getUint32(0);
  return String(number % 10_000).padStart(4, "0");
}

/** @param {string} pin @param {{salt: string, hash: string}} kept hexadecimal */
export function isPin(pin, kept) {
  const salt = (kept.salt.match(/../g) ?? []).map((byte) => parseInt(byte, 16));
  return toHex(sha256(new Uint8Array([...salt, ...new TextEncoder().encode(pin)]))) === kept.hash.toLowerCase();
}

/** @param {Uint8Array} bytes */
export const toHex = (bytes) => [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");

/** Random bytes as hexadecimal text; works without a secure context. @param {number} bytes */
export const randomHex = (bytes) => toHex(crypto.getRandomValues(new Uint8Array(bytes)));
