import type { Command } from "commander";

import { createForeignContracts } from "../chain/foreign.ts";
import { createReceiverReads } from "../chain/receivers.ts";
import { examine } from "../checks/examine.ts";
import { seed } from "../checks/key-checks.ts";
import { AcceptQueue } from "../commands/accept-queue.ts";
import type { CommandContext } from "../commands/context.ts";
import { createWalletDerivation } from "../commands/create-wallet.ts";
import { createLookUps } from "../commands/look-ups.ts";
import { planSweep, type Swept, sweepWallets, type TokenGroup } from "../commands/sweep-wallets.ts";
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
  dryRun?: true;
  json?: boolean;
}

export function walletSweep(terminal: Terminal): Command {
  return resultCommand("sweep", "Move the tokens and users of imported wallets to new wallets of the service.", {
    examples: ["wallet sweep --app my-shop --dry-run", "wallet sweep --app my-shop --user alice bob --json"],
    json: "{app_id, before, moved, left, plan: [{contract_address, reason, message, tokens, old_wallet, token_id, request_id}], wallets: [{user_identifier, old_wallet, new_wallet, before, moved, left, user_moved}], reasons: as plan} (reason null: the tokens move)",
    notes:
      "First prints what will move, and what will not. Then it asks for a transfer of every token that the listings of the wallets\n" +
      "show, by requests like any other, and waits for them: the service must run. The user gets the new wallet when the old one is\n" +
      "empty. Interrupt it when you like: the same command goes on, and asks for nothing twice. Tokens of contracts that no app\n" +
      "follows are not known, and coins stay (`wallet withdraw`).",
  })
    .requiredOption("--app <app>", "name or id of the app")
    .option("--user <user...>", "only the wallets of these users (default: all imported wallets of the app)")
    .option("--wait <seconds>", "how long to wait for each token", readLimit, 600)
    .option("--dry-run", "print what would move, and move nothing")
    .action((options: Options) => sweep(terminal, options));
}

async function sweep(terminal: Terminal, { app: name, user, wait, dryRun, json }: Options): Promise<void> {
  await withServiceState(terminal, async (place) => {
    const { database } = place;
    const app = await appNamed(database.read, name);
    const { context, deriver } = await contextOf(place);
    const wallets = () => importedOf(database.read, app.id, user);
    let done = 0;
    const tools = {
      ...{ context, appId: app.id, patience: wait * 1_000 },
      deriveNew: (old: string) => deriver.derive(app.id, old, OF_ADDRESS),
      onMoved: () => terminal.rewrite?.(`${(++done).toString()} of ${plural(known, "token")}`),
    };
    const plan = await planSweep(tools, wallets());
    const known = sumOf(plan.groups, "tokens");
    const head = `${plural(plan.wallets, "wallet")} with ${plural(known, "token")}:\n`;
    const before = plan.wallets === 0 ? NOTHING : head + textOfGroups(plan.groups);
    if (dryRun !== true && plan.wallets > 0) terminal.remark?.(`${before}\n`);
    const sweepAll = () => announced(database, () => sweepWallets(tools, wallets()));
    const { swept, left } = dryRun === true ? { swept: [], left: [] } : await sweepAll();
    terminal.rewrite?.("");
    const figures = { moved: sumOf(swept, "moved"), left: dryRun === true ? known : sumOf(swept, "left") };
    const result = { app_id: app.id, before: known, ...figures, plan: plan.groups, wallets: swept, reasons: left };
    const after = [table(HEAD, swept.map(cellsOf), NOTHING), ...(left.length === 0 ? [] : [textOfGroups(left)])];
    printResult(terminal, json, result, dryRun === true ? before : after.join("\n\n"));
    if (left.length > 0 || swept.some((one) => one.left > 0)) terminal.fail?.();
  });
}

function sumOf<Name extends string>(rows: readonly Record<Name, number>[], figure: Name): number {
  return rows.reduce((sum, row) => sum + row[figure], 0);
}

const NOTHING = "Nothing is left to sweep.";
const HEAD = ["USER", "OLD WALLET", "NEW WALLET", "BEFORE", "MOVED", "LEFT", "USER IS AT"];

function cellsOf({ user_identifier: user, old_wallet, new_wallet, before, moved, left, user_moved }: Swept): string[] {
  const figures = [before, moved, left].map((figure) => figure.toString());
  return [user ?? "", old_wallet, new_wallet, ...figures, user === null ? "" : user_moved ? "new" : "old"];
}

function textOfGroups(groups: readonly TokenGroup[]): string {
  const rows = groups.map(({ contract_address, reason, message, tokens, old_wallet, token_id, request_id }) => {
    const first = `${token_id === null ? "" : `token ${token_id} of `}${old_wallet}`;
    const request = request_id === null ? "" : ` [request ${request_id}]`;
    const words = reason === null ? "will move" : `${reason}: ${message ?? ""} First: ${first}${request}`;
    return [contract_address ?? "all", tokens.toString(), words];
  });
  return table(["CONTRACT", "TOKENS", "RESULT"], rows, "Only their users move.");
}

/** @throws OperatorError for a user without a wallet. */
async function* importedOf(db: Db, appId: string, users: readonly string[] | undefined): AsyncGenerator<WalletRow> {
  const isImported = ({ path, watch_only }: WalletRow) => path === "" && watch_only === 0;
  if (users === undefined) {
    for await (const wallets of exportWallets(db, appId)) yield* wallets.filter(isImported);
    return;
  }
  const distinct = [...new Set(users)].map((userIdentifier) => ({ appId, userIdentifier }));
  const found = await findWalletsOfUsers(db, distinct);
  for (const [index, { userIdentifier }] of distinct.entries()) {
    const wallet = found[index];
    if (wallet === undefined) throw new OperatorError(`The app has no user ${userIdentifier}.`);
    if (isImported(wallet)) yield wallet;
  }
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
