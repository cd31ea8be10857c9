// Draws the label in ZPL of a file: millimetres, dots a millimetre and the picture's file follow.

import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [packages, label, width, height, dots, picture] = process.argv.slice(2);
const path = createRequire(`${packages}/`).resolve("zpl-renderer-js");
const { ready } = await import(pathToFileURL(path).href);
const { api } = await ready;
const png = await api.zplToBase64Async(readFileSync(label, "utf8"), Number(width), Number(height), Number(dots));
writeFileSync(picture, Buffer.from(png, "base64"));
