import { readFile } from "node:fs/promises";
import { buffer } from "node:stream/consumers";

import type { Command } from "commander";
import { getAddress, isAddress, ZeroAddress } from "ethers";

import { CsvProblem, parseCsv } from "../../client/drop/csv.ts";
import { MOST_TEXT } from "../../client/drop/layout.ts";
import { textOfBytes } from "../../client/drop/text.ts";
import { faultOfText, LIMITS } from "../../client/drop/values.ts";
import { hasControls, NO_CONTROLS } from "../../client/rules/storable.ts";
import { ADOPTED_AT_ONCE, type UserAddress, type AdoptOutcome, adoptWallets } from "../commands/adopt-wallets.ts";
import { OperatorError } from "../operate/operator-error.ts";
import { fileErrorReason } from "../shared/folder.ts";
import { plural } from "../shared/text.ts";
import { announced } from "./announced.ts";
import { withServiceState } from "./database.ts";
import { appNamed } from "./options.ts";
import { printResult, resultCommand, type Terminal } from "./terminal.ts";

interface Options {
  app: string;
  json?: boolean;
}

export function walletAdopt(terminal: Terminal): Command {
  return resultCommand("adopt", "Make watch-only wallets of users who have their own keys.", {
    examples: ["wallet adopt users.csv --app my-shop", "wallet adopt --app my-shop --json < users.csv"],
    json: "{app_id, added, already_there, refused: [{line, user_identifier, address, code, message}]}",
    notes:
      "The table (CSV) has the columns user_identifier and address, in this order, or as its first line names them. The wallets show\n" +
      "tokens, history from now on and events, and `to_user` finds them. They cannot transfer, burn or withdraw, and never show\n" +
      "unlockable content, because anybody can name an address. Rows with faults are listed and left out. The same command again\n" +
      "adds what is missing.",
  })
    .argument("[file]", "the table (default: standard input)")
    .requiredOption("--app <app>", "name or id of the app")
    .action((file: string | undefined, options: Options) => adopt(terminal, file, options));
}

async function adopt(terminal: Terminal, file: string | undefined, { app: name, json }: Options): Promise<void> {
  const rows = rowsOf(await textOf(file));
  const good = rows.filter(({ fault }) => fault === null);
  const outcomes = new Map<Row, AdoptOutcome>();
  await withServiceState(terminal, async ({ database, chain }) => {
    const app = await appNamed(database.read, name);
    await announced(database, async () => {
      for (let at = 0; at < good.length; at += ADOPTED_AT_ONCE) {
        const part = good.slice(at, at + ADOPTED_AT_ONCE);
        const done = await adoptWallets(database, chain.contracts, app.id, part);
        for (const [index, outcome] of done.entries()) if (part[index]) outcomes.set(part[index], outcome);
        terminal.rewrite?.(`${(at + part.length).toString()} of ${plural(good.length, "row")}`);
      }
      terminal.rewrite?.("");
    });
    const refused = rows.flatMap((row) => {
      const code = outcomes.get(row) ?? "invalid_row";
      const message = row.fault ?? REFUSALS[code];
      return message === null
        ? []
        : [{ line: row.line, user_identifier: row.user, address: row.address, code, message }];
    });
    const count = (outcome: AdoptOutcome) => [...outcomes.values()].filter((one) => one === outcome).length;
    const result = { app_id: app.id, added: count("added"), already_there: count("already_there"), refused };
    const sum = `${plural(result.added, "watch-only wallet")} added to ${app.name}, ${result.already_there.toString()} there already, ${plural(refused.length, "row")} refused.`;
    const lines = refused.map(({ line, message }) => `line ${line.toString()}: ${message}`);
    printResult(terminal, json, result, [...lines, sum].join("\n"));
    if (refused.length > 0) terminal.fail?.();
  });
}

const REFUSALS: Readonly<Record<AdoptOutcome | "invalid_row", string | null>> = {
  added: null,
  already_there: null,
  invalid_row: null,
  // The same for all apps: an app must not learn whose wallet it is.
  address_taken: "The address has a wallet at this service already, or belongs to the service.",
  user_identifier_taken: "The user has another wallet in this app. Rename that one first, or use another identifier.",
  quota_exceeded: "The app has used up its quota `wallets`. Raise it with `app quota`, and run the command again.",
};

interface Row extends UserAddress {
  line: number;
  /** What is wrong with it by itself; null: nothing. */
  fault: string | null;
}

/** @throws OperatorError when the text is not a table. */
function rowsOf(text: string): Row[] {
  const [head, ...lines] = parsed(text);
  const names = head?.cells.map((name) => name.toLowerCase().replaceAll(/[\s_-]/g, "")) ?? [];
  const [user, address] = [names.indexOf("useridentifier"), names.indexOf("address")];
  const isNamed = user !== -1 && address !== -1;
  const places = isNamed ? { user, address, width: names.length } : { user: 0, address: 1, width: 2 };
  return (isNamed || head === undefined ? lines : [head, ...lines]).map(({ line, cells }) => {
    const row = { line, user: cells[places.user] ?? "", address: cells[places.address] ?? "" };
    if (cells.length !== places.width)
      return { ...row, fault: `The row has ${plural(cells.length, "cell")} in place of ${places.width.toString()}.` };
    const isValid = /^0x/.test(row.address) && isAddress(row.address) && row.address !== ZeroAddress;
    if (isValid) row.address = getAddress(row.address);
    return { ...row, fault: faultOfUser(row.user) ?? (isValid ? null : NOT_AN_ADDRESS) };
  });
}

const NOT_AN_ADDRESS =
  "address: Must be 0x and 40 hex digits, with the right checksum or in lower case, and not the zero address.";

/** By the rules of `POST /v1/accounts`. */
function faultOfUser(user: string): string | null {
  const wrong = /^\.{0,2}$/.test(user) ? "Must not be empty, `.` or `..`." : hasControls(user) ? NO_CONTROLS : null;
  const fault = wrong ?? faultOfText(user, LIMITS.userIdentifier);
  return fault === null ? null : `user_identifier: ${fault}`;
}

function parsed(text: string): ReturnType<typeof parseCsv> {
  try {
    return parseCsv(text);
  } catch (error) {
    throw error instanceof CsvProblem ? new OperatorError(`Line ${error.line.toString()}: ${error.message}`) : error;
  }
}

/** @throws OperatorError when the file cannot be read, or is too large. */
async function textOf(file: string | undefined): Promise<string> {
  const name = file ?? "Standard input";
  const bytes = await (file === undefined ? buffer(process.stdin) : readFile(file)).catch((error: unknown) => {
    const reason = fileErrorReason(error);
    throw reason === null ? error : new OperatorError(`${name} cannot be read: ${reason}.`);
  });
  if (bytes.length > MOST_TEXT.bytes) throw new OperatorError(`${name} has more than 64 MiB. Split the table.`);
  const read = textOfBytes(bytes);
  if ("problem" in read) throw new OperatorError(`${name}: ${read.problem}`);
  return read.text;
}
