// The badge as the server draws it, a moment after it was changed.

import { inWords } from "./layout.js";

/** @typedef {{ name?: string, pages?: string[], warnings?: string[], error?: string }} Drawn */

const PAUSE_MS = 120;
const UNREACHED = "The server does not answer. The picture is that of before.";

/**
 * Returns a function that asks for a picture, each time in place of the last.
 * @param {string} address
 * @param {() => Record<string, string>} fields
 * @param {(drawn: Drawn) => void} show
 */
export const previewer = (address, fields, show) => {
  let due = 0;
  /** @type {AbortController | undefined} */
  let asked;
  const ask = async () => {
    asked?.abort();
    const { signal } = (asked = new AbortController());
    try {
      const answer = await fetch(address, { method: "POST", body: new URLSearchParams(fields()), signal });
      show(await answer.json());
    } catch {
      if (!signal.aborted) show({ error: inWords(UNREACHED) });
    }
  };
  return () => {
    clearTimeout(due);
    due = setTimeout(ask, PAUSE_MS);
  };
};
