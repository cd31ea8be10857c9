// How this gate is, as the ping tells the console.

import { batteryOf } from "./readiness.js";

let battery = /** @type {{level: number}|undefined} */ (undefined);

/** @param {import("./parts.js").Parts} app @returns {import("../io/sync.js").Ping} */
export function statusOf({ list, queue, server, settings, sync, update }) {
  const { waiting, failed } = queue;
  batteryOf().then((known) => (battery = known));
  return {
    configVersion: sync.gate?.configVersion ?? 0,
    failedUploads: failed.length,
    status: document.hidden ? "background" : "foreground",
    queue: waiting.length,
    clockOffsetMs: server.offsetMs,
    ...(battery ? { battery: Math.round(battery.level * 100) } : {}),
    ...(waiting[0] ? { oldestScanAt: Math.round(waiting[0].at) } : {}),
    ...(list.at ? { listAt: Math.round(list.at) } : {}),
    appVersion: update.running,
    ...(settings.place ? { place: settings.place.id } : {}),
  };
}
