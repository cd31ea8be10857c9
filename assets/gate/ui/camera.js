// The camera at the gate's screen: on and off, its light, and the next one.

import { t } from "../core/texts.js";
import { cameraProblem } from "../io/scanner.js";
import { byId, toast } from "./dom.js";

export class Camera {
  /** @param {import("./parts.js").Parts} app */
  constructor(app) {
    this.app = app;
    byId("camera").addEventListener("click", () => this.turn(!app.scanner.isOn));
    byId("torch").addEventListener("click", () => {
      const isOn = byId("torch").getAttribute("aria-pressed") !== "true";
      byId("torch").setAttribute("aria-pressed", String(isOn));
      app.scanner.setTorch(isOn);
    });
    byId("switch-camera").addEventListener("click", async () => {
      app.settings.camera = await app.scanner.switch().catch(() => undefined);
      app.screens.saveSettings();
    });
  }

  /** @param {boolean} on */
  async turn(on) {
    const { scanner, screens, settings } = this.app;
    settings.cameraOn = on;
    settings.cameraProblem = undefined;
    if (!on) scanner.stop();
    else await scanner.start(settings.camera).catch((cause) => this.#failed(cause));
    await screens.saveSettings();
    screens.draw();
  }

  /** @param {Error} [cause] */
  #failed(cause) {
    const { scanner, settings } = this.app;
    scanner.stop();
    const problem = cameraProblem();
    const isRefused = cause?.name === "NotAllowedError";
    settings.cameraProblem = problem ? t(problem) : isRefused ? t("camera.refused") : t("camera.failed", { message: cause?.message });
    settings.cameraOn = false;
    // A camera that was unplugged must not be asked for again.
    delete settings.camera;
    toast(settings.cameraProblem);
  }
}
