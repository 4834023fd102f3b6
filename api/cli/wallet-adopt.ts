import type { Command } from "commander";

import { ADOPTED_AT_ONCE, type UserAddress, type AdoptOutcome, adoptWallets } from "../commands/adopt-wallets.ts";
import { plural } from "../shared/text.ts";
import { announced } from "./announced.ts";
import { withServiceState } from "./database.ts";
import { appNamed } from "./options.ts";
import { printResult, resultCommand, type Terminal } from "./terminal.ts";
import { faultOfUser, NOT_AN_ADDRESS, tableRows, textOf, walletAddress } from "./user-table.ts";

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
  const rows = rowsOf(await textOf(file, terminal));
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

/** Why an address or a user is refused; null: the row is good. */
export const REFUSALS: Readonly<Record<AdoptOutcome | "invalid_row", string | null>> = {
  added: null,
  completed: null,
  already_there: null,
  invalid_row: null,
  // The same for all apps: an app must not learn whose wallet it is.
  address_taken: "The address has a wallet at this service already, or belongs to the service.",
  has_another_user: "The address is a wallet of this app with another user. Use that user identifier, or none.",
  user_identifier_taken: "The user has another wallet in this app. Rename that one first, or use another identifier.",
  quota_exceeded: "The app has used up its quota `wallets`. Raise it with `app quota`, and run the command again.",
};

interface Row extends UserAddress {
  user: string;
  line: number;
  /** What is wrong with it by itself; null: nothing. */
  fault: string | null;
}

/** @throws OperatorError when the text is not a table. */
function rowsOf(text: string): Row[] {
  return tableRows(text, ["user_identifier", "address"]).map(({ line, cells, fault }) => {
    const { user_identifier: user = "", address: given = "" } = cells;
    const address = walletAddress(given);
    const wrong = fault ?? faultOfUser(user) ?? (address === null ? NOT_AN_ADDRESS : null);
    return { line, user, address: address ?? given, fault: wrong };
  });
}
