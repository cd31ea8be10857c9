// The gate app: makes its parts, reads what the device keeps, and starts.

import { Gate } from "./core/gate.js";
import { List } from "./core/list.js";
import { Queue } from "./core/queue.js";
import { Shift } from "./core/shift.js";
import { initialSettings } from "./core/state.js";
import { keepAwake } from "./io/awake.js";
import { Scanner } from "./io/scanner.js";
import { Server } from "./io/server.js";
import * as sound from "./io/sound.js";
import { Store } from "./io/store.js";
import { Sync } from "./io/sync.js";
import { Update } from "./io/update.js";
import { Wedge } from "./io/wedge.js";
import { Access } from "./ui/access.js";
import { BadgeDialog } from "./ui/badge.js";
import { BookingDialog } from "./ui/booking.js";
import { Camera } from "./ui/camera.js";
import { byId } from "./ui/dom.js";
import { Evacuation } from "./ui/evacuation.js";
import { Kiosk } from "./ui/kiosk.js";
import { Menu } from "./ui/menu.js";
import { MessageNotice } from "./ui/message.js";
import { isPersistent } from "./ui/readiness.js";
import { Scanning } from "./ui/scanning.js";
import { Screens } from "./ui/screens.js";
import { SearchDialog } from "./ui/search.js";
import { statusOf } from "./ui/status.js";
import { VerdictScreen } from "./ui/verdict.js";
import { WalkInDialog } from "./ui/walkin.js";

const settings = initialSettings();
const store = await Store.open();
const server = new Server();
const list = new List(store, () => server.now());
const queue = new Queue(store);
/** @type {Sync} */
const sync = new Sync(server, list, queue, store, {
  place: () => settings.place?.id,
  onChange: () => {
    access.followConsole();
    screens.tick();
  },
  onStored: async (scan, id, registered) => {
    await gate.stored(scan, id, registered);
    await shift.stored(scan, registered);
  },
  status: () => statusOf(app),
});
const gate = new Gate(server, list, queue, sync, settings);
const shift = new Shift(store, gate);

const known = { settings, store, server, list, queue, sync, gate, shift, update: new Update() };

/** Completed below: its modules meet each other only once the app has started. */
const app = /** @type {import("./ui/parts.js").Parts} */ (/** @type {unknown} */ (known));
// First: keys of a scanner are nobody else's.
app.verdicts = new VerdictScreen(() => settings);
app.scanner = new Scanner(byId("video"), (code) => scanning.read(code));
app.wedge = new Wedge(
  (code) => scanning.read(code),
  (text) => scanning.typed(text),
);
const screens = (app.screens = new Screens(app));
const scanning = (app.scanning = new Scanning(app));
const access = (app.access = new Access(app));
const menu = new Menu(app);
app.camera = new Camera(app);
app.badges = new BadgeDialog(
  server,
  list,
  () => sync.gate,
  (shown) => app.verdicts.show(shown),
);
app.bookings = new BookingDialog(app);
app.walkIns = new WalkInDialog((person, code) => scanning.register(person, code));
app.message = new MessageNotice(settings, () => screens.saveSettings());
app.search = new SearchDialog(server, list, () => settings.place?.id, {
  choose: (person) => scanning.scanned({ person }),
  more: (person, code) => scanning.actionsFor(person, code),
  walkIn: () => (sync.gate?.walkIn ? (code) => scanning.openWalkIn(code) : undefined),
});
app.evacuation = new Evacuation(app);
app.kiosk = new Kiosk(app);

/** Everything is kept, whatever waits. */
let isLeaving = false;

async function start() {
  await restore();
  server.onChange = () => {
    screens.draw();
    if (server.online) sync.upload();
    else sync.wentOffline();
  };
  server.onRevoked = () => access.revoked();
  list.setWalkIns(queue.walkIns);
  queue.onChange = () => {
    list.setWalkIns(queue.walkIns);
    screens.draw();
  };
  store.onProblem = () => screens.draw();
  store.onReopened = storeIsBack;
  setInterval(() => screens.tick(), 1000);
  keepAwake(() => sync.hurry());
  if (!server.credentials) await access.onboard();
  isPersistent();
  sync.start();
  if (!settings.place) await access.changePlace();
  else await screens.scan();
}

/** Reads what the device keeps. */
async function restore() {
  Object.assign(settings, await store.get("settings"));
  menu.applyLanguage();
  menu.applyTheme();
  server.offsetMs = (await store.get("offset")) ?? 0;
  server.use(await store.get("credentials"), await store.get("epoch"));
  sync.gate = await store.get("gate");
  app.wedge.settings = settings.wedge;
  await Promise.all([list.load(), queue.load(), shift.load(server.now()), app.evacuation.load()]);
  // Requests of this page before its reload are not known any more.
  for (const scan of queue.waiting) queue.markSent(scan);
}

/** The database is open again. @param {boolean} wasOpen */
async function storeIsBack(wasOpen) {
  if (wasOpen || !(await store.get("credentials"))) return keepAll();
  // It has what an earlier page kept: the scans of this one join it, and the page begins again with all of them.
  await queue.keepAll();
  isLeaving = !store.problem;
  if (isLeaving) location.reload();
}

/** Memory has what the browser deleted. */
async function keepAll() {
  const kept = Object.entries({ settings, credentials: server.credentials, gate: sync.gate, offset: server.offsetMs, epoch: server.epoch });
  await store.write(kept.filter(([, value]) => value !== undefined).map((pair) => ["meta", "put", pair]));
  await Promise.all([list.keepAll(), queue.keepAll(), shift.save()]);
  screens.draw();
}

// Another address has another store: who leaves this one takes no scans along.
addEventListener("beforeunload", (event) => queue.waiting.length > 0 && !isLeaving && event.preventDefault());
for (const type of ["pointerdown", "keydown"]) addEventListener(type, sound.unlock, { capture: true });
await start();
