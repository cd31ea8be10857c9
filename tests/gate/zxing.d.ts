// The part of zxing-wasm that the gate uses; the test puts it beside the module.
export interface Options { formats?: string[]; maxNumberOfSymbols?: number; tryDownscale?: boolean }
export interface Result { isValid: boolean; text: string; format: string }
export function readBarcodes(image: ImageData, options?: Options): Promise<Result[]>;
export function prepareZXingModule(options: {
  overrides?: { locateFile?: (file: string) => string };
  fireImmediately?: boolean;
}): Promise<unknown>;
