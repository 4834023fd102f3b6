import { z } from "zod";

import { toWireInteger } from "../../domain/token.ts";
import { type ExportedHolding, exportHoldings, exportWallets } from "../../store/listings/exports.ts";
import type { WalletRow } from "../../store/db/schema.ts";
import { requireStillValid } from "../authenticate.ts";
import type { HttpDeps } from "../deps.ts";
import { type Call, defineEndpoint, type Exchange, SENT } from "../endpoint.ts";
import { exportedHoldingExample, exportedWalletExample } from "../examples.ts";
import type { ExportedListing } from "../exports/exports.ts";
import type { ExportRow } from "../exports/row-formats.ts";
import { foundOne, isoTime } from "../present.ts";
import { address as anyAddress } from "../schemas/inputs.ts";
import { address, integer, isFinal, time, watchOnly } from "../schemas/outputs.ts";

const DESCRIPTION =
  "The answer has one row in each line: JSON objects (`application/x-ndjson`), or with `Accept: text/csv` a file for spreadsheets (RFC 4180) whose first line has the names of the fields. All rows are as of one block, which the header `Moneta-As-Of-Block` names. An app has one export at a time.";
const IN_CSV =
  " In CSV, a name that a spreadsheet would run as a formula (`=`, `+`, `-`, `@`), or that begins with `'`, gets a `'` in front.";

// The names come first: then a spreadsheet that splits lines at semicolons still sees the quotes around them.
const user = z.string().nullable();

const exportedHolding = z
  .object({
    user_identifier: user.describe("The app's user who has the owner's wallet. null: the owner has no such wallet."),
    address: address.describe("The owner."),
    token_id: integer.describe("The token that the owner has."),
    quantity: integer.describe("Copies that the owner has; 1 for ERC721."),
    since_block: z.int().describe("Block in which the owner got the token, without giving all copies away since."),
    final: isFinal("the last change of the quantity"),
  })
  .meta({ id: "ExportedHolding", description: "A row of the export of holders." });

const exportedWallet = z
  .object({
    user_identifier: user.describe("The app's own name for the user. null for a wallet without one."),
    address,
    created_at: time,
    watch_only: watchOnly,
  })
  .meta({ id: "ExportedWallet", description: "A row of the export of wallets." });

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

function presentExportedHolding(row: ExportedHolding) {
  return {
    user_identifier: row.user_identifier,
    address: row.owner,
    token_id: toWireInteger(row.token_id),
    quantity: toWireInteger(row.quantity),
    since_block: row.since_block,
    final: row.is_final === 1,
  } satisfies z.input<typeof exportedHolding>;
}

function presentExportedWallet(row: WalletRow) {
  return {
    user_identifier: row.user_identifier,
    address: row.address,
    created_at: isoTime(row.created_at),
    watch_only: row.watch_only === 1,
  } satisfies z.input<typeof exportedWallet>;
}

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
