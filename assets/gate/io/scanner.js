// The camera as a scanner: frames go to zxing-wasm, a code that stays in view counts once.

const FORMATS = /** @type {const} */ (["QRCode", "MicroQRCode", "DataMatrix", "Aztec", "PDF417", "Code128", "Code39", "EAN13", "EAN8", "ITF"]);
const FRAME_MS = 80;
/** A code counts again once it was out of view this long. */
const AGAIN_MS = 2500;
const WIDTH_MAX = 960;

/** @type {Promise<(image: ImageData) => Promise<string|undefined>>|undefined} */
let reader;

/** Loads the decoder once. */
function loadReader() {
  reader ??= import("../vendor/zxing-reader-3.1.4.js").then(async (zxing) => {
    const wasm = new URL("../vendor/zxing-reader-3.1.4.wasm", import.meta.url).href;
    await zxing.prepareZXingModule({ overrides: { locateFile: () => wasm }, fireImmediately: true });
    return async (/** @type {ImageData} */ image) => {
      const [found] = await zxing.readBarcodes(image, { formats: [...FORMATS], maxNumberOfSymbols: 1, tryDownscale: true });
      return found?.isValid ? found.text : undefined;
    };
  });
  reader.catch(() => (reader = undefined));
  return reader;
}

/** Why there is no camera, as a key of a text; undefined where it may work. */
export function cameraProblem() {
  if (!globalThis.isSecureContext) return "camera.insecure";
  return navigator.mediaDevices ? undefined : "camera.none";
}

export class Scanner {
  /** @type {MediaStream|undefined} */
  #stream;
  /** @type {MediaDeviceInfo[]} */
  #cameras = [];
  #canvas = document.createElement("canvas");
  #lastCode = "";
  #lastSeenAt = 0;
  #run = 0;

  /** @param {HTMLVideoElement} video @param {(code: string) => void} onScan */
  constructor(video, onScan) {
    this.video = video;
    this.onScan = onScan;
  }

  get isOn() {
    return this.#stream !== undefined;
  }

  /** @param {string} [deviceId] @param {"environment"|"user"} [facing] @throws where the camera is refused or missing */
  async start(deviceId, facing = "environment") {
    this.stop();
    this.#run += 1;
    const run = this.#run;
    const wanted = deviceId ? { deviceId: { exact: deviceId } } : { facingMode: facing };
    const stream = await navigator.mediaDevices.getUserMedia({ video: { ...wanted, width: { ideal: 1280 }, height: { ideal: 720 } } });
    if (run !== this.#run) return stream.getTracks().forEach((track) => track.stop());
    this.#stream = stream;
    // Taken away by the system, by another app or by its plug.
    stream.getVideoTracks()[0].onended = () => this.stop();
    this.video.srcObject = stream;
    await this.video.play();
    this.#cameras = (await navigator.mediaDevices.enumerateDevices()).filter((device) => device.kind === "videoinput");
    this.#read(run, await loadReader());
  }

  stop() {
    this.#run += 1;
    this.#stream?.getTracks().forEach((track) => track.stop());
    this.#stream = undefined;
    this.video.srcObject = null;
  }

  /** @param {number} run @param {(image: ImageData) => Promise<string|undefined>} decode */
  async #read(run, decode) {
    const context = /** @type {CanvasRenderingContext2D} */ (this.#canvas.getContext("2d", { willReadFrequently: true }));
    while (run === this.#run) {
      const { videoWidth, videoHeight } = this.video;
      if (videoWidth > 0 && !document.hidden) {
        const scale = Math.min(1, WIDTH_MAX / videoWidth);
        this.#canvas.width = videoWidth * scale;
        this.#canvas.height = videoHeight * scale;
        context.drawImage(this.video, 0, 0, this.#canvas.width, this.#canvas.height);
        const code = await decode(context.getImageData(0, 0, this.#canvas.width, this.#canvas.height)).catch(() => undefined);
        if (code && run === this.#run) this.#found(code);
      }
      await new Promise((resolve) => setTimeout(resolve, FRAME_MS));
    }
  }

  /** @param {string} code */
  #found(code) {
    const now = performance.now();
    const isNew = code !== this.#lastCode || now - this.#lastSeenAt > AGAIN_MS;
    this.#lastCode = code;
    this.#lastSeenAt = now;
    if (isNew) this.onScan(code);
  }

  /** Whether the camera looks at whoever looks at the screen. */
  get facesUser() {
    return this.#stream?.getVideoTracks()[0].getSettings().facingMode !== "environment";
  }

  get canSwitch() {
    return this.#cameras.length > 1;
  }

  /** The id of the next camera, to be remembered. */
  async switch() {
    const current = this.#stream?.getVideoTracks()[0].getSettings().deviceId;
    const next = this.#cameras[(this.#cameras.findIndex((camera) => camera.deviceId === current) + 1) % this.#cameras.length];
    await this.start(next.deviceId);
    return next.deviceId;
  }

  get hasTorch() {
    const track = this.#stream?.getVideoTracks()[0];
    return Boolean(/** @type {any} */ (track?.getCapabilities?.())?.torch);
  }

  /** @param {boolean} on */
  async setTorch(on) {
    const track = this.#stream?.getVideoTracks()[0];
    await track?.applyConstraints(/** @type {any} */ ({ advanced: [{ torch: on }] })).catch(() => {});
  }
}
