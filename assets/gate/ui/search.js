// Search by name, company or code: three letters or more and a few hits, so that nobody browses the list.

import { byId, make, setText } from "./dom.js";
import { isLongEnough } from "../core/find.js";
import { t } from "../core/texts.js";

const PAUSE_MS = 200;

/** @typedef {import("../core/list.js").Person} Person */

export class SearchDialog {
  #asked = 0;
  /** @type {ReturnType<typeof setTimeout>|undefined} */
  #timer;
  /** What the hits were found by. */
  #answered = "";
  /** @type {Person[]} */
  #hits = [];
  /** Nobody's code, which whoever is looked for came with. @type {string|undefined} */
  #code;

  /**
   * @param {import("../io/server.js").Server} server @param {import("../core/list.js").List} list
   * @param {() => number|undefined} place
   * @param {{choose: (person: Person) => void, more: (person: Person, code?: string) => [text: string, run: () => void][], walkIn: () => ((code?: string) => void)|undefined}} actions
   *   `walkIn` answers what registers somebody, where this gate may
   */
  constructor(server, list, place, actions) {
    this.server = server;
    this.list = list;
    this.place = place;
    this.actions = actions;
    this.field = /** @type {HTMLInputElement} */ (byId("search-text"));
    this.field.addEventListener("input", () => {
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => this.#search(), PAUSE_MS);
    });
    byId("search-walkin").addEventListener("click", () => this.#leave(() => this.actions.walkIn()?.(this.#code)));
    byId("search-form").addEventListener("submit", (event) => {
      event.preventDefault();
      this.#take();
    });
  }

  /** @param {string} [code] an unknown one */
  open(code) {
    this.clear();
    this.#code = code;
    byId("search-code").hidden = code === undefined;
    setText(byId("search-code"), code === undefined ? "" : t("search.code", { code }));
    byId("search-walkin").hidden = !this.actions.walkIn();
    setText(byId("search-note"), t("search.few"));
    /** @type {HTMLDialogElement} */ (byId("search-dialog")).showModal();
    this.field.focus();
  }

  /** Forgets what was asked and found, and what is still to be answered. */
  clear() {
    this.#asked += 1;
    clearTimeout(this.#timer);
    this.field.value = "";
    this.#code = undefined;
    setText(byId("search-code"), "");
    this.#show("", [], "");
  }

  /** Enter takes the first hit, also of an answer that is still to come. */
  async #take() {
    const query = this.field.value.trim();
    if (this.#answered !== query) await this.#search();
    if (this.#answered === query && this.#hits.length) this.actions.choose(this.#hits[0]);
  }

  /** The server knows everybody; the list answers where the server does not. */
  async #search() {
    const query = this.field.value.trim();
    const asked = (this.#asked += 1);
    clearTimeout(this.#timer);
    if (!isLongEnough(query)) return this.#show(query, [], t("search.few"));
    let hits;
    let note = "";
    const place = this.place();
    if (this.server.online && place !== undefined) {
      const asking = this.server.request("GET", "/gate/search", { query: { q: query, place }, timeoutMs: 1500 });
      const answer = await asking.catch(() => undefined);
      if (answer?.status === 200) hits = answer.data;
      if (asked === this.#asked && answer?.status === 400) return this.#show(query, [], t("search.few"));
    }
    if (asked !== this.#asked) return;
    if (!hits) {
      hits = this.list.search(query);
      note = t("search.offline");
    }
    this.#show(query, hits, hits.length ? note : `${t("search.none")}. ${note}`);
  }

  /** @param {() => void} run */
  #leave(run) {
    /** @type {HTMLDialogElement} */ (byId("search-dialog")).close();
    run();
  }

  /** @param {string} query @param {Person[]} hits @param {string} note */
  #show(query, hits, note) {
    this.#answered = query;
    this.#hits = hits;
    setText(byId("search-note"), note);
    byId("hits").replaceChildren(
      ...hits.map((person) => {
        const about = [person.company, person.category, t(person.inside ? "search.inside" : "search.outside")].filter(Boolean).join(" · ");
        const more = this.actions
          .more(person, this.#code)
          .map(([text, run]) => make("button", { type: "button", class: "plain", onclick: () => this.#leave(run) }, text));
        const choose = make(
          "button",
          { type: "button", onclick: () => this.actions.choose(person) },
          person.name ?? String(person.id),
          make("small", {}, about),
        );
        return make("li", {}, choose, more.length > 0 && make("div", { class: "actions" }, ...more));
      }),
    );
  }
}
