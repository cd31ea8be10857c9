// The error codes that the gate decides by; `tests/gate/shared.json` holds them to those of the server. What a verdict says of
// a refusal is in verdicts.js.

export const CODES = {
  discoveryClosed: 1001,
  requestCodeTaken: 1002,
  codeTaken: 1105,
  unavailable: 1108,
  keyReused: 1109,
  clientRevoked: 1204,
  delegateNotFound: 1301,
  tooMany: 740,
  notJoined: 741,
  outsideWindow: 742,
  notAvailable: 743,
  full: 744,
  notCheckedIn: 745,
  wrongType: 746,
};

/** This gate's own, which no server answers: it has no list to decide by, or its policy admits nobody offline. */
export const UNDECIDED = 1;
