// What the app is put together from; app.js makes one of each, and modules of `ui` reach the others through it.

/**
 * @typedef {object} Parts
 * @property {import("../core/state.js").Settings} settings
 * @property {import("../io/store.js").Store} store
 * @property {import("../io/server.js").Server} server
 * @property {import("../core/list.js").List} list
 * @property {import("../core/queue.js").Queue} queue
 * @property {import("../io/sync.js").Sync} sync
 * @property {import("../core/gate.js").Gate} gate
 * @property {import("../core/shift.js").Shift} shift
 * @property {import("../io/update.js").Update} update
 * @property {import("../io/scanner.js").Scanner} scanner
 * @property {import("../io/wedge.js").Wedge} wedge
 * @property {import("./verdict.js").VerdictScreen} verdicts
 * @property {import("./badge.js").BadgeDialog} badges
 * @property {import("./booking.js").BookingDialog} bookings
 * @property {import("./search.js").SearchDialog} search
 * @property {import("./walkin.js").WalkInDialog} walkIns
 * @property {import("./message.js").MessageNotice} message
 * @property {import("./evacuation.js").Evacuation} evacuation
 * @property {import("./kiosk.js").Kiosk} kiosk
 * @property {import("./scanning.js").Scanning} scanning
 * @property {import("./camera.js").Camera} camera
 * @property {import("./access.js").Access} access
 * @property {import("./screens.js").Screens} screens
 */

export {};
