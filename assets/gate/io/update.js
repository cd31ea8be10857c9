// Lets the app start without the server, and finds out when a new version of it is there.

const WORKER_RETRY_MS = 5_000;

export class Update {
  /** The version that this page runs: the folder that its modules came from. */
  running = new URL(import.meta.url).pathname.split("/").at(-3) ?? "";
  /** A reload gets another version. */
  isDue = false;
  #registered = "";

  constructor() {
    // As long as the page is there, the worker keeps the files of this version.
    navigator.locks?.request(`gate-${this.running}`, { mode: "shared" }, () => new Promise(() => {}));
  }

  /** Has the worker keep the app, which only a secure context can, and looks for a new version. @param {string} version of the server */
  follow(version) {
    if (!navigator.serviceWorker) this.isDue = version !== this.running;
    else if (this.#registered !== version) {
      this.#registered = version;
      // The new version is there once its worker serves it, all files at once.
      navigator.serviceWorker.oncontrollerchange = () => (this.isDue = workerVersion() !== this.running);
      const again = () => setTimeout(() => (this.#registered = ""), WORKER_RETRY_MS);
      // A file that did not come through makes the new worker redundant.
      const watch = (/** @type {ServiceWorkerRegistration} */ { installing }) =>
        installing?.addEventListener("statechange", () => installing.state === "redundant" && workerVersion() !== version && again());
      navigator.serviceWorker.register(`/gate/worker.js?v=${encodeURIComponent(version)}`, { scope: "/gate" }).then(watch, again);
    }
  }
}

/** The version of the worker that serves this page; none without one. */
const workerVersion = () => new URL(navigator.serviceWorker?.controller?.scriptURL ?? location.href).searchParams.get("v") ?? "";
