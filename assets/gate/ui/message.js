// What the crew tells all gates, until somebody puts it away. A new message makes a sound.

import { byId, setText } from "./dom.js";
import { spokenTime } from "../core/judge.js";
import { play } from "../io/sound.js";
import { t } from "../core/texts.js";

/** @typedef {NonNullable<import("../core/state.js").GateSettings["message"]>} Message */

export class MessageNotice {
  /** @param {import("../core/state.js").Settings} settings @param {() => unknown} save */
  constructor(settings, save) {
    this.settings = settings;
    this.save = save;
    byId("message-dismiss").addEventListener("click", () => {
      settings.dismissedMessage = settings.heardMessage;
      save();
      byId("message").hidden = true;
    });
  }

  /** @param {Message|undefined} message @param {string} zone @param {number} now */
  show(message, zone, now) {
    const { settings } = this;
    byId("message").hidden = !noticeOf(message, settings).isShown;
    if (!message) return setText(byId("message-text"), "");
    setText(byId("message-time"), t("message.time", { at: spokenTime(message.at, zone, now) }));
    setText(byId("message-text"), message.text);
  }

  /** Makes a sound, once for a message. @param {Message|undefined} message */
  hear(message) {
    const { settings } = this;
    const { isNew, key } = noticeOf(message, settings);
    if (!isNew) return;
    settings.heardMessage = key;
    this.save();
    play("message", settings);
  }
}

/** @param {Message|undefined} message @param {{heardMessage?: string, dismissedMessage?: string}} settings */
export function noticeOf(message, settings) {
  const key = message && `${message.at} ${message.text}`;
  return { key, isShown: Boolean(key) && key !== settings.dismissedMessage, isNew: Boolean(key) && key !== settings.heardMessage };
}
