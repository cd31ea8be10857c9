// A client made from the API's document by openapi-typescript: it gets a token, checks somebody in,
// and reads what the server answers. `tsc --strict` holds it against the types.
import createClient from "openapi-fetch";
import type { components, paths } from "./api";

declare const process: { argv: string[]; exitCode?: number };

type Rules = components["schemas"]["AccessRules"];

const [, , baseUrl = "", clientId = "", clientSecret = ""] = process.argv;

function fail(what: string, seen: unknown): never {
  throw new Error(`${what}: ${JSON.stringify(seen)}`);
}

async function main(): Promise<void> {
  const api = createClient<paths>({ baseUrl });
  const granted = await api.POST("/oauth/v2/token", {
    body: {
      grant_type: "client_credentials",
      client_id: clientId,
      client_secret: clientSecret,
    },
    headers: { "Content-Type": "application/x-www-form-urlencoded" },
  });
  if (!granted.data) fail("no token", granted.error);
  const headers = { Authorization: `Bearer ${granted.data.access_token}` };

  const hall = await api.POST("/device/new", {
    headers,
    body: { code: "ts-hall", name: "Hall", data: { Access: { entry: "single", capacity: 5 } } },
  });
  if (!hall.data) fail("no device", hall.error);
  const rules: Rules | undefined = hall.data.data.data?.Access;
  if (rules?.capacity !== 5) fail("no rules", hall.data);
  const ada = await api.POST("/delegate/new", {
    headers: { ...headers, "Idempotency-Key": "ts-1" },
    body: { barcode: "TS-1", firstName: "Ada" },
  });
  if (!ada.data) fail("no delegate", ada.error);

  const params = { path: { interactionType: "check-in" } };
  const scan = { firstDelegate: "barcode:TS-1", firstDevice: "code:ts-hall" };
  const entered = await api.POST("/interaction/new/{interactionType}", { headers, params, body: scan });
  if (!entered.data) fail("not checked in", entered.error);
  const { id } = entered.data.data;
  // Without an id it would wait for its code: only what a gate had admitted does.
  if (typeof id !== "number") fail("no id", entered.data);
  const again = await api.POST("/interaction/new/{interactionType}", { headers, params, body: scan });
  if (again.error?.meta.error.internalCode !== 740) fail("checked in twice", again.data);

  const batch = await api.POST("/interaction/batch", {
    headers,
    body: { interactions: { a: { interactionType: "lead", ...scan } } },
  });
  const [item] = batch.data?.data ?? [];
  if (item?.status !== 201 || item.meta.replayed) fail("no lead", batch);

  const selector = { params: { path: { idType: "barcode" as const, id: "TS-1" } }, headers };
  const read = await api.GET("/delegate/{idType}:{id}", selector);
  const found = read.data?.data.firstInteractions?.map((one) => one.id) ?? [];
  if (!found.includes(id)) fail("no interaction", read.data);
  const version = read.response.headers.get("ETag") ?? "";
  const changed = await api.PATCH("/delegate/{idType}:{id}", {
    params: { ...selector.params, header: { "If-Match": version } },
    headers,
    body: { company: "Engines", owner: "barcode:TS-1" },
  });
  if (changed.data?.data.company !== "Engines") fail("not changed", changed.error);
  const listed = await api.POST("/delegate/list", {
    headers,
    body: { search: { "==": ["barcode", "TS-1"] }, fields: ["barcode"] },
  });
  if (listed.data?.meta.pagination.totalItems !== 1) fail("not found", listed);
  console.log("checked in", id);
}

main().catch((cause: unknown) => {
  console.error(cause);
  process.exitCode = 1;
});
