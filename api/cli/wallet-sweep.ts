import type { Command } from "commander";

import { createForeignContracts } from "../chain/foreign.ts";
import { createReceiverReads } from "../chain/receivers.ts";
import { examine } from "../checks/examine.ts";
import { seed } from "../checks/key-checks.ts";
import { AcceptQueue } from "../commands/accept-queue.ts";
import type { CommandContext } from "../commands/context.ts";
import { createWalletDerivation } from "../commands/create-wallet.ts";
import { createLookUps } from "../commands/look-ups.ts";
import { type Swept, sweepWallets } from "../commands/sweep-wallets.ts";
import { FOREIGN_CALL_GAS } from "../config/limits.ts";
import type { Workplace } from "../context/workplace.ts";
import { createWalletDeriver, OF_ADDRESS } from "../keys/wallet-deriver.ts";
import { OperatorError } from "../operate/operator-error.ts";
import { plural } from "../shared/text.ts";
import { findWalletsOfUsers } from "../store/apps/wallets.ts";
import type { WalletRow } from "../store/db/schema.ts";
import type { Db } from "../store/db/sql.ts";
import { exportWallets } from "../store/listings/exports.ts";
import { announced } from "./announced.ts";
import { withServiceState } from "./database.ts";
import { appNamed, readLimit } from "./options.ts";
import { printResult, resultCommand, table, type Terminal } from "./terminal.ts";

interface Options {
  app: string;
  user?: string[];
  wait: number;
  json?: boolean;
}

export function walletSweep(terminal: Terminal): Command {
  return resultCommand("sweep", "Move the tokens and users of imported wallets to new wallets of the service.", {
    examples: ["wallet sweep --app my-shop", "wallet sweep --app my-shop --user alice bob --json"],
    json: "{app_id, before, moved, left, wallets: [{user_identifier, old_wallet, new_wallet, before, moved, left, user_moved, reasons: [{contract_address, reason, message, tokens, token_id, request_id}]}]}",
    notes:
      "Asks for a transfer of every token that the listings of the wallets show, by requests like any other, and waits for them: the\n" +
      "service must run. The user gets the new wallet when the old one is empty. Interrupt it when you like: the same command goes\n" +
      "on, and asks for nothing twice. Tokens of contracts that no app follows are not known, and coins stay (`wallet withdraw`).",
  })
    .requiredOption("--app <app>", "name or id of the app")
    .option("--user <user...>", "only the wallets of these users (default: all imported wallets of the app)")
    .option("--wait <seconds>", "how long to wait for each token", readLimit, 600)
    .action((options: Options) => sweep(terminal, options));
}

async function sweep(terminal: Terminal, { app: name, user, wait, json }: Options): Promise<void> {
  await withServiceState(terminal, async (place) => {
    const { database } = place;
    const app = await appNamed(database.read, name);
    const { context, deriver } = await contextOf(place);
    const wallets = await importedOf(database.read, app.id, user);
    const swept = await announced(database, () =>
      sweepWallets(
        {
          ...{ context, appId: app.id, patience: wait * 1_000 },
          deriveNew: (old) => deriver.derive(app.id, old, OF_ADDRESS),
          report: (moved, known) => terminal.rewrite?.(`${moved.toString()} of ${plural(known, "token")}`),
        },
        wallets,
      ),
    );
    terminal.rewrite?.("");
    const sum = (figure: "before" | "moved" | "left") => swept.reduce((total, one) => total + one[figure], 0);
    const result = { app_id: app.id, before: sum("before"), moved: sum("moved"), left: sum("left"), wallets: swept };
    printResult(terminal, json, result, textOf(swept));
    if (swept.some(({ left, reasons }) => left > 0 || reasons.length > 0)) terminal.fail?.();
  });
}

const HEAD = ["USER", "OLD WALLET", "NEW WALLET", "BEFORE", "MOVED", "LEFT", "USER IS AT"];

function textOf(swept: readonly Swept[]): string {
  const rows = swept.map(({ user_identifier: user, old_wallet, new_wallet, before, moved, left, user_moved }) => [
    ...[user ?? "", old_wallet, new_wallet, before.toString(), moved.toString(), left.toString()],
    user === null ? "" : user_moved ? "new" : "old",
  ]);
  const reasons = swept.flatMap(({ old_wallet, reasons }) =>
    reasons.map(({ contract_address, reason, message, tokens, token_id, request_id }) => {
      const where = contract_address === null ? "" : ` of ${contract_address} (${token_id ?? ""})`;
      const request = request_id === null ? "" : ` [request ${request_id}]`;
      return `${old_wallet}: ${plural(tokens, "token")}${where} left: ${reason}. ${message}${request}`;
    }),
  );
  return [table(HEAD, rows, "Nothing is left to sweep."), ...reasons].join("\n");
}

/** @throws OperatorError for a user without a wallet. */
async function importedOf(db: Db, appId: string, users: readonly string[] | undefined): Promise<WalletRow[]> {
  const isImported = ({ path, watch_only }: WalletRow) => path === "" && watch_only === 0;
  if (users === undefined) {
    const found: WalletRow[] = [];
    for await (const wallets of exportWallets(db, appId)) found.push(...wallets.filter(isImported));
    return found;
  }
  const distinct = [...new Set(users)];
  const found = await findWalletsOfUsers(
    db,
    distinct.map((userIdentifier) => ({ appId, userIdentifier })),
  );
  return found.flatMap((wallet, index) => {
    if (wallet === undefined) throw new OperatorError(`The app has no user ${distinct[index] ?? ""}.`);
    return isImported(wallet) ? [wallet] : [];
  });
}

/** What accepts calls in a process of the role `api`. @throws OperatorError when a key is missing, or that of another database. */
async function contextOf(place: Workplace) {
  const { database, client, chain, keys, settings } = place;
  const { findings } = await examine({ ...place, thorough: false, now: Date.now() }, [seed]);
  const wrong = findings.filter(({ result }) => result === "problem").map(({ words }) => words);
  const publicKey = keys.keyring?.walletsPublicKey ?? keys.walletsPublicKey;
  if (wrong.length > 0 || publicKey === null) throw new OperatorError(wrong.join("\n"));
  if (keys.sealer === null) throw new OperatorError(keys.sealerProblem ?? "SECRET_KEYS is not set.");
  const deriver = createWalletDeriver(publicKey);
  const { relay } = chain.contracts;
  // The processes of the service look for requests by themselves, too.
  const unheard = { notify: () => undefined };
  const context: CommandContext = {
    ...{ database, sealer: keys.sealer, settings, relay },
    lookUps: createLookUps(database.read),
    deriveWallets: createWalletDerivation(deriver, database.read),
    acceptQueue: new AcceptQueue(database, keys.sealer, settings),
    foreign: createForeignContracts(client, FOREIGN_CALL_GAS),
    receivers: createReceiverReads(client, { relay, gas: settings.limits.itemGas }),
    signals: { requests: unheard, media: unheard },
    metrics: { requests: () => undefined },
  };
  return { context, deriver };
}
