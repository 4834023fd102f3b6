import { z } from "zod";

import { exportHoldings, exportWallets } from "../../store/listings/exports.ts";
import { requireStillValid } from "../authenticate.ts";
import type { HttpDeps } from "../deps.ts";
import { type Call, defineEndpoint, type Exchange, SENT } from "../endpoint.ts";
import { exportedHoldingExample, exportedWalletExample } from "../examples.ts";
import type { ExportedListing } from "../exports/exports.ts";
import type { ExportRow } from "../exports/row-formats.ts";
import { exportedHolding, exportedWallet, presentExportedHolding, presentExportedWallet } from "../exports/rows.ts";
import { foundOne } from "../present.ts";
import { address as anyAddress } from "../schemas/inputs.ts";

const DESCRIPTION =
  "The answer has one row in each line: JSON objects (`application/x-ndjson`), or with `Accept: text/csv` a file for spreadsheets (RFC 4180) whose first line has the names of the fields. All rows are as of one block, which the header `Moneta-As-Of-Block` names. An app has one export at a time.";
const IN_CSV = " In CSV, names that begin with `=`, `+`, `-`, `@` or `'` have one more `'` in front.";

const exportHolders = defineEndpoint({
  method: "get",
  path: "/exports/holders",
  summary: "Export all holders of a collection",
  name: "exportHolders",
  description: `Every token of a collection of the app, with each owner, in the order of the token ids as text. ${DESCRIPTION}${IN_CSV}`,
  examples: { answer: exportedHoldingExample },
  scope: "read",
  query: z.strictObject({ collection: anyAddress.describe("Address of the collection, in any case.") }),
  response: exportedHolding,
  sendsRows: true,
  errors: ["not_found", "quota_exceeded"],
  handle: async (deps, call, exchange) => {
    const { appId, query } = call;
    const { address: contract } = foundOne(await deps.lookUps.collections([{ appId, address: query.collection }]));
    return send(deps, call, exchange, {
      name: `holders-${contract}`,
      columns: Object.keys(exportedHolding.shape),
      rows: (db) => presented(exportHoldings(db, appId, contract), presentExportedHolding),
    });
  },
});

const exportAccounts = defineEndpoint({
  method: "get",
  path: "/exports/wallets",
  summary: "Export all wallets of the app",
  name: "exportWallets",
  description: `Oldest first. ${DESCRIPTION}${IN_CSV}`,
  examples: { answer: exportedWalletExample },
  scope: "read",
  response: exportedWallet,
  sendsRows: true,
  errors: ["quota_exceeded"],
  handle: (deps, call, exchange) =>
    send(deps, call, exchange, {
      name: "wallets",
      columns: Object.keys(exportedWallet.shape),
      rows: (db) => presented(exportWallets(db, call.appId), presentExportedWallet),
    }),
});

async function* presented<Row>(pages: AsyncIterable<Row[]>, present: (row: Row) => ExportRow) {
  for await (const rows of pages) yield rows.map(present);
}

async function send(
  deps: HttpDeps,
  { appId, credential }: Pick<Call<unknown, unknown, unknown>, "appId" | "credential">,
  { response }: Exchange,
  listing: ExportedListing,
): Promise<typeof SENT> {
  const stillValid = () => requireStillValid(deps, credential);
  await deps.exports.send(response, { appId, ...deps, stillValid }, listing);
  return SENT;
}

export const EXPORTS = [exportHolders, exportAccounts];
