// What waits for upload, and the scans that the server did not store.

import { byId, fill, icon, make, setText } from "./dom.js";
import { spokenTime } from "../core/judge.js";
import { walkInPerson } from "../core/queue.js";
import { answerOf, t } from "../core/texts.js";

/**
 * @param {import("../core/queue.js").Queue} queue @param {import("../core/list.js").List} list
 * @param {string} zone @param {number} now
 */
export function showUploads(queue, list, zone, now) {
  const { waiting, failed } = queue;
  const oldest = waiting[0] ? spokenTime(waiting[0].at, zone, now) : "";
  setText(byId("uploads-sum"), waiting.length ? t("uploads.waiting", { count: waiting.length, at: oldest }) : t("uploads.empty"));
  byId("uploads-now").hidden = waiting.length === 0;
  byId("failed-part").hidden = failed.length === 0;
  fill(byId("failed"), failed, (scan) => {
    const { code, message } = /** @type {{code: number, message: string}} */ (scan.failed);
    const name = scan.walkIn ? walkInPerson(scan).name : list.people.get(scan.delegate ?? 0)?.name;
    const discard = make("button", { class: "danger", onclick: confirmThen(t("uploads.discard.sure"), () => queue.remove([scan])) }, t("uploads.discard"));
    return make(
      "li",
      {},
      make("span", { class: "is-bad" }, icon("cross")),
      make("strong", {}, `${spokenTime(scan.at, zone, now)} · ${name ?? scan.code ?? scan.delegate ?? t("evacuation.title")}`),
      make("p", {}, t("uploads.reason", { code, message: answerOf({ internalCode: code, message }) })),
      make("div", { class: "actions" }, make("button", { class: "plain", onclick: () => queue.retry(scan) }, t("uploads.retry")), discard),
    );
  });
}

/** A button that asks once more before it acts. @param {string} question @param {() => void} act */
export function confirmThen(question, act) {
  return (/** @type {Event} */ event) => {
    const button = /** @type {HTMLElement} */ (event.currentTarget);
    if (button.dataset.sure) return act();
    const before = button.textContent;
    button.dataset.sure = "yes";
    setText(button, question);
    setTimeout(() => {
      delete button.dataset.sure;
      setText(button, before ?? "");
    }, 5000);
  };
}
