// Undo and redo: whole states, because a layout is small.

const STEPS = 200;

/** @template State */
export class History {
  /** @type {State[]} */
  #past = [];
  /** @type {State[]} */
  #future = [];
  /** The name of the last change: more of the same is one step. */
  #what = "";

  /** @param {State} state */
  constructor(state) {
    this.state = state;
  }

  get canUndo() {
    return this.#past.length > 0;
  }

  get canRedo() {
    return this.#future.length > 0;
  }

  /**
   * Goes on with another state. A change with the name of the one before it, such as letters of the same field, is no step of its own.
   * @param {State} state
   * @param {string} what
   */
  push(state, what = "") {
    if (what === "" || what !== this.#what) {
      this.#past.push(this.state);
      if (this.#past.length > STEPS) this.#past.shift();
    }
    this.#future = [];
    this.#what = what;
    this.state = state;
  }

  /** Ends a change that would go on. */
  rest() {
    this.#what = "";
  }

  undo() {
    const state = this.#past.pop();
    if (state === undefined) return false;
    this.#future.push(this.state);
    this.state = state;
    this.rest();
    return true;
  }

  redo() {
    const state = this.#future.pop();
    if (state === undefined) return false;
    this.#past.push(this.state);
    this.state = state;
    this.rest();
    return true;
  }
}
