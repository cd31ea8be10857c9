// The part of @noble/hashes that the gate uses; the test puts it beside the module.
export function sha256(data: Uint8Array): Uint8Array<ArrayBuffer>;
export function pbkdf2Async(
  hash: typeof sha256, password: Uint8Array, salt: Uint8Array, options: { c: number; dkLen: number; asyncTick?: number },
): Promise<Uint8Array>;
