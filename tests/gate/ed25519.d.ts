// The part of @noble/ed25519 that the gate uses; the test puts it beside the module.
export function verify(signature: Uint8Array, message: Uint8Array, publicKey: Uint8Array, options: { zip215: boolean }): boolean;
