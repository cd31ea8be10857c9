// What the crew tells all gates, until somebody puts it away. A new message makes a sound.

import { byId, setText } from "./dom.js";
import { spokenTime } from "./judge.js";
import { play } from "./sound.js";
import { t } from "./texts.js";

/** @typedef {{text: string, at: number}} Message */

export class MessageNotice {
  /** @param {any} settings @param {() => unknown} save */
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
    const key = message && `${message.at} ${message.text}`;
    byId("message").hidden = !key || key === settings.dismissedMessage;
    if (!message) return;
    setText(byId("message-time"), t("message.time", { at: spokenTime(message.at, zone, now) }));
    setText(byId("message-text"), message.text);
    if (key === settings.heardMessage) return;
    settings.heardMessage = key;
    this.save();
    play("message", settings);
  }
}
