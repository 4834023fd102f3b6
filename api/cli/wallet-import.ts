import type { KeyObject } from "node:crypto";

import type { Command } from "commander";

import type { ChainClient } from "../chain/client.ts";
import { delegatesOf } from "../chain/reads.ts";
import { ADOPTED_AT_ONCE, type AdoptOutcome, adoptWallets, isThere } from "../commands/adopt-wallets.ts";
import type { Workplace } from "../context/workplace.ts";
import { fingerprintOfImportKey, readImportKey, sealImported } from "../keys/imported-keys.ts";
import { OperatorError } from "../operate/operator-error.ts";
import { Slices } from "../shared/in-slices.ts";
import { plural } from "../shared/text.ts";
import { readMeta } from "../store/db/meta.ts";
import { announced } from "./announced.ts";
import { withServiceState } from "./database.ts";
import { type KeyRow, keyRows, type OpenedKey, openKey } from "./key-rows.ts";
import { appNamed } from "./options.ts";
import { printResult, resultCommand, type Terminal } from "./terminal.ts";
import { textOf } from "./user-table.ts";
import { REFUSALS } from "./wallet-adopt.ts";

interface Options {
  app: string;
  importKey?: string;
  replaceDelegations?: true;
  json?: boolean;
}

export function walletImport(terminal: Terminal): Command {
  return resultCommand("import", "Make wallets of private keys that were made elsewhere.", {
    examples: [
      "wallet import --app my-shop < keys.csv",
      "wallet import --app my-shop --import-key 3p7b... < keys.jsonl",
    ],
    json: "{app_id, added, completed, already_there, refused, rows: [{line, user_identifier, address, delegate, result, message}]}",
    notes:
      "Reads standard input: a table (CSV) with the columns user_identifier and private_key, or keystore (version 3) and password,\n" +
      "and address if you want it compared; or one JSON object with these names in each line. user_identifier may be empty. The keys\n" +
      "are encrypted here to the import key, which `keys check` prints; only the seed opens them. A watch-only wallet of the app gets\n" +
      "its key (completed). The same command again adds what is missing.\n" +
      "Only a backup brings these keys back: make one afterwards. Who has the keys elsewhere can still use them: move the tokens to\n" +
      "new wallets soon. PostgreSQL with roles: DATABASE_URL must have a user of the role moneta_relayer.",
  })
    .requiredOption("--app <app>", "name or id of the app")
    .option("--import-key <key>", "the import key of `keys check` (default: that of SEED_FILE)")
    .option("--replace-delegations", "accept accounts that have delegated to another contract (EIP-7702)")
    .action((options: Options) => importKeys(terminal, options));
}

type Result = AdoptOutcome | "invalid_row" | "address_differs" | "smart_account" | "delegated";

/** What became of a row. */
interface Report {
  line: number;
  user_identifier: string | null;
  /** Of the key. */
  address: string | null;
  /** The contract to which the account has delegated, if it is not the service's. */
  delegate: string | null;
  result: Result;
  message: string | null;
}

async function importKeys(terminal: Terminal, options: Options): Promise<void> {
  const rows = keyRows(await textOf(undefined, terminal));
  await withServiceState(terminal, async (place) => {
    const app = await appNamed(place.database.read, options.app);
    const target = await importKeyOf(place, options.importKey);
    const to = { appId: app.id, target, replacesDelegation: options.replaceDelegations === true };
    const reports: Report[] = [];
    await announced(place.database, async () => {
      for (let at = 0; at < rows.length; at += ADOPTED_AT_ONCE) {
        const show = (done: number) => terminal.rewrite?.(`${(at + done).toString()} of ${plural(rows.length, "row")}`);
        reports.push(...(await importPart(place, to, rows.slice(at, at + ADOPTED_AT_ONCE), show)));
      }
      terminal.rewrite?.("");
    });
    const count = (...results: Result[]) => reports.filter(({ result }) => results.includes(result)).length;
    const [added, completed, there] = [count("added"), count("completed"), count("already_there")];
    const refused = reports.length - added - completed - there;
    const result = { app_id: app.id, added, completed, already_there: there, refused, rows: reports };
    const sum = `${plural(added, "wallet")} added to ${app.name}, ${completed.toString()} watch-only got their keys, ${there.toString()} there already, ${plural(refused, "row")} refused.`;
    const advice = added + completed === 0 ? [] : ["Make a backup now: nothing else brings these keys back."];
    printResult(terminal, options.json, result, [...reports.map(lineOf), sum, ...advice].join("\n"));
    if (refused > 0) terminal.fail?.();
  });
}

function lineOf({ line, address, result, message }: Report): string {
  return `line ${line.toString()}: ${[result.replaceAll("_", " "), address, message].filter((one) => one !== null).join(" ")}`;
}

/**
 * The key to encrypt to: from the operator or the seed, never from the database alone, or who can write there would choose it.
 * @throws OperatorError when there is none, or it is not that of the seed of this database.
 */
async function importKeyOf({ database, keys }: Workplace, given: string | undefined): Promise<KeyObject> {
  const own = keys.keyring?.importKey;
  const key = given ?? own;
  if (key === undefined)
    throw new OperatorError(
      `Give --import-key, as \`keys check\` prints it where the seed is. (${keys.seedProblem ?? "There is no seed."})`,
    );
  const known = await readMeta(database.read, "import_key");
  if (known === null)
    throw new OperatorError(
      "Start a process with the role relayer of this version once: it stores which seed is used.",
    );
  if (fingerprintOfImportKey(key) !== known || (own ?? key) !== key)
    throw new OperatorError(
      "The import key is not that of this database's seed. Nobody could open the keys. Nothing was stored.",
    );
  return readImportKey(key);
}

/** Where keys go. */
interface Target {
  appId: string;
  target: KeyObject;
  replacesDelegation: boolean;
}

/** @returns what became of each row, in their order. */
async function importPart(
  { database, client, chain }: Workplace,
  to: Target,
  rows: readonly KeyRow[],
  report: (done: number) => void,
): Promise<Report[]> {
  const checked = await checkRows(client, chain.contracts.delegate, to, rows, report);
  const good = checked.flatMap(({ report: one, opened }) => (opened === null ? [] : [{ report: one, opened }]));
  const users = await Promise.all(
    good.map(async ({ report: { user_identifier: user }, opened: { key, address } }) => {
      const sealed = await sealImported(to.target, { appId: to.appId, address }, key);
      key.fill(0);
      return { user, address, key: { sealed, replacesDelegation: to.replacesDelegation } };
    }),
  );
  const outcomes = await adoptWallets(database, chain.contracts, to.appId, users);
  for (const [index, outcome] of outcomes.entries()) {
    const one = good[index]?.report;
    if (one === undefined) continue;
    one.result = outcome;
    one.message = isThere(outcome) ? one.message : REFUSALS[outcome];
  }
  return checked.map(({ report: one }) => one);
}

interface Checked {
  report: Report;
  /** null: the row is refused. */
  opened: OpenedKey | null;
}

/** Opens the keys, and asks the chain about their accounts. */
async function checkRows(
  client: ChainClient,
  delegate: string,
  { replacesDelegation }: Target,
  rows: readonly KeyRow[],
  report: (done: number) => void,
): Promise<Checked[]> {
  const all: { row: KeyRow; opened: Awaited<ReturnType<typeof openKey>> }[] = [];
  const slices = new Slices();
  for (const row of rows) {
    // The process must see meanwhile that its connections are closed.
    await slices.next();
    all.push({ row, opened: row.fault === null ? await openKey(row) : { fault: row.fault } });
    report(all.length);
  }
  const places = all.flatMap(({ row, opened }) =>
    "fault" in opened ? [] : [opened.address, row.given ?? opened.address],
  );
  const codes = await delegatesOf(client, [...new Set(places)]);
  // What any of the nodes says.
  const codesAt = (address: string) => codes.get(address)?.filter((one) => one !== null && one !== delegate) ?? [];
  return all.map(({ row: { line, user, given }, opened }) => {
    const base = { line, user_identifier: user, address: null, delegate: null };
    const refused = (result: Result, message: string, more: Partial<Report> = {}): Checked => {
      return { report: { ...base, ...more, result, message }, opened: null };
    };
    if ("fault" in opened) return refused("invalid_row", opened.fault);
    const { address } = opened;
    for (const place of [given ?? address, address])
      if (codesAt(place).includes("contract")) return refused("smart_account", SMART_ACCOUNT, { address });
    if (given !== null && given !== address) return refused("address_differs", ADDRESS_DIFFERS, { address });
    const other = codesAt(address)[0] ?? null;
    const words = other === null ? null : `The account has delegated to ${other} (EIP-7702).`;
    if (words !== null && !replacesDelegation)
      return refused("delegated", `${words} ${DELEGATED}`, { address, delegate: other });
    const message = words === null ? null : `${words} The first transfer of a foreign token replaces that.`;
    return { report: { ...base, address, delegate: other, result: "added", message }, opened };
  });
}

const SMART_ACCOUNT =
  "The address is a contract (a smart account). Its tokens leave it only where it was made: no key alone signs for it.";
const ADDRESS_DIFFERS = "This is the address of the key. The row names another one.";
const DELEGATED =
  "Transfers of foreign tokens would replace that, and what the contract does for the account may end. Add --replace-delegations if it may.";
