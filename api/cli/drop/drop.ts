import { stat } from "node:fs/promises";
import { join } from "node:path";

import { type Command, InvalidArgumentError, Option } from "commander";

import type { Shape } from "../../../client/client.ts";
import type { Owner } from "../../../client/drop/folder.ts";
import { REPORT } from "../../../client/drop/layout.ts";
import { usersOf } from "../../../client/drop/receivers.ts";
import { readSupply } from "../../../client/drop/values.ts";
import { OperatorError } from "../../operate/operator-error.ts";
import { plural } from "../../shared/text.ts";
import { lockFile } from "../../store/db/sqlite/sqlite.ts";
import { type ConnectionOptions, connectionOf, TOKEN_OPTION, URL_OPTION } from "../options.ts";
import { printResult, resultCommand, type Terminal } from "../terminal.ts";
import { readAddress, readDropFolder } from "./folder.ts";
import { JOURNAL, Journal, readJournal } from "./journal.ts";
import { lackOfRoom, makePlan, type Plan } from "./plan.ts";
import { describe, describePlan, showProgress, writeReport } from "./report.ts";
import { runDrop } from "./run.ts";
import { DropService } from "./service.ts";
import { DropState } from "./state.ts";

interface Options {
  json?: boolean;
  collection: string;
  to?: string;
  user?: string;
  supply?: string;
  url: string;
  token: string;
  yes?: boolean;
  copyMedia?: boolean;
  all?: boolean;
  retryFailed?: boolean;
  sendOldBatches?: boolean;
}

/** Problems that the text shows. `--json` has all of them. */
const SHOWN_PROBLEMS = 50;

export function drop(terminal: Terminal): Command {
  return resultCommand("drop", "Mint a folder of pictures, with metadata or without.", {
    examples: [
      "drop my-cats --collection 0x5FbDB2315678afecb367f032d93F642f64180aa3 --user alice",
      "drop my-cats --collection 0x5FbDB2315678afecb367f032d93F642f64180aa3 --user alice --yes",
      "drop gems --collection 0x5FbDB2315678afecb367f032d93F642f64180aa3 --to 0x70997970C51812dc3A010C7d01b50e0d17dc79C8 --supply 10 --yes",
    ],
    json: "{tokens, files, bytes, problems: [{source, message}], notes, receivers, plan: [{source, token_id, receiver}], ignored_fields, state, completed, failed, unknown, open, report}",
    notes: `The folder has pictures only (the names of the files become the names of the tokens), or json/1.json with images/1.png, or metadata.csv, or what other tools write: see docs/drops.md. Without --yes, the command checks everything and sends nothing. An interrupted drop is continued by the same command; nothing is minted twice. The token needs the scopes read, media and mint (accounts, too, when --user has no wallet, or the table names owners by user).`,
  })
    .argument("<dir>", "the folder")
    .requiredOption("--collection <address>", "a hosted collection of the app", addressOf)
    .addOption(
      new Option("--to <address>", "who gets the tokens without an owner in the table")
        .argParser(addressOf)
        .conflicts("user"),
    )
    .option("--user <identifier>", "the user whose wallet gets them; it is created when it does not exist")
    .option("--supply <n>", "ERC1155: copies of each token", readCopies)
    .option(...URL_OPTION)
    .option(...TOKEN_OPTION)
    .option("--copy-media", "have the service copy pictures that the metadata names by http, https or ipfs")
    .option("--all", "show all tokens, not only the first ones")
    .option("--yes", "upload and mint")
    .option("--retry-failed", "mint the tokens that failed again, after the drop has ended")
    .option("--send-old-batches", "send batches again whose answer was lost more than six days ago")
    .action((dir: string, options: ConnectionOptions & Omit<Options, keyof ConnectionOptions>) =>
      dropFolder(terminal, dir, { ...options, ...connectionOf(terminal, options) }),
    );
}

async function dropFolder(terminal: Terminal, dir: string, options: Options): Promise<void> {
  const interrupted = new AbortController();
  const interrupt = () => {
    interrupted.abort(
      new OperatorError("Interrupted. Run the same command again to continue: nothing is minted twice."),
    );
  };
  process.once("SIGINT", interrupt);
  try {
    const { url, token } = options;
    const remark = (text: string) => terminal.remark?.(`${text}\n`);
    const service = new DropService({ url, token, signal: interrupted.signal, remark });
    if (!(await stat(dir)).isDirectory()) throw new OperatorError(`${dir} is not a folder.`);
    const plan = await planOf(dir, options, service);
    if (options.yes !== true || plan.problems.length > 0) await preview(terminal, dir, { plan, options });
    else await locked(dir, () => execute(terminal, dir, { plan, options, service }));
  } finally {
    process.off("SIGINT", interrupt);
  }
}

async function planOf(dir: string, options: Options, service: DropService): Promise<Plan> {
  const { supply = null } = options;
  const collection = await service.collection(options.collection);
  checkCollection(collection, options);
  const target = { collection, supply, to: receiverOf(options), copyMedia: options.copyMedia === true };
  const contents = await readDropFolder(dir, collection.type);
  // The other problems may be the reason.
  if (contents.problems.length === 0 && target.to === null && contents.tokens.every(({ owner }) => owner === null)) {
    throw new OperatorError(
      "Say who gets the tokens: --to ADDRESS or --user IDENTIFIER for all, or the column owner in metadata.csv.",
    );
  }
  return makePlan(contents, target, await service.users(usersOf(contents.tokens, target.to)));
}

/** Who gets the tokens without an owner; null: the command does not say it. */
function receiverOf({ to, user }: Options): Owner | null {
  if (to !== undefined) return { address: to };
  return user === undefined ? null : { user };
}

function checkCollection(
  collection: Shape<"Collection"> | null,
  { collection: address, supply }: Options,
): asserts collection is Shape<"Collection"> {
  if (collection === null) {
    throw new OperatorError(`The app of the token has no collection ${address}. List them with GET /v1/collections.`);
  }
  if (collection.hosting !== "hosted") {
    throw new OperatorError(`The collection ${address} is self-hosted: Moneta does not store its metadata.`);
  }
  if (supply !== undefined && collection.type === "ERC721") {
    throw new OperatorError("--supply is for ERC1155 collections only: an ERC721 token has no copies.");
  }
}

/** What earlier runs have done. @throws OperatorError when they had another folder, collection, receiver or service. */
async function stateOf(dir: string, plan: Plan, url: string): Promise<DropState> {
  const state = new DropState(plan.tokens.length, await readJournal(dir));
  if (state.start !== null && !plan.fingerprints.includes(state.start.fingerprint)) {
    throw new OperatorError(
      `${dir} was changed after its drop began, or the collection or the receiver is another one. Undo the change and run again. Put new tokens into a new folder. What was done so far is in ${JOURNAL}; without that file everything is minted a second time.`,
    );
  }
  if (state.start !== null && state.start.url !== url) {
    throw new OperatorError(`The drop of ${dir} began with --url ${state.start.url}. Continue it with the same URL.`);
  }
  return state;
}

interface Job {
  plan: Plan;
  options: Options;
}

async function preview(terminal: Terminal, dir: string, { plan, options }: Job): Promise<void> {
  const { problems } = plan;
  // A folder with problems cannot be compared with the one of an earlier run.
  const state = problems.length > 0 ? new DropState(plan.tokens.length) : await stateOf(dir, plan, options.url);
  if (problems.length === 0) addRoomProblem(plan, state);
  if (problems.length > 0) {
    const shown = problems.slice(0, SHOWN_PROBLEMS).map(({ source, message }) => `${source}: ${message}`);
    if (problems.length > shown.length) shown.push(`... and ${(problems.length - shown.length).toString()} more`);
    const text = [`${plural(problems.length, "problem")} in ${dir}:`, ...shown, "Nothing was sent."].join("\n");
    printResult(terminal, options.json, describe(plan, state, "problems"), text);
    terminal.fail?.();
    return;
  }
  printResult(
    terminal,
    options.json,
    describe(plan, state, "checked"),
    describePlan(plan, state, options.all === true),
  );
}

/** Only before anything was sent: later, `minted` counts tokens of this drop. */
function addRoomProblem(plan: Plan, state: DropState): void {
  const message = state.start === null ? lackOfRoom(plan.collection, plan.tokens.length) : null;
  if (message !== null) plan.problems.push({ source: "collection", message });
}

async function execute(terminal: Terminal, dir: string, job: Job & { service: DropService }): Promise<void> {
  const { plan, options, service } = job;
  const state = await stateOf(dir, plan, options.url);
  addRoomProblem(plan, state);
  if (plan.problems.length > 0) {
    await preview(terminal, dir, job);
    return;
  }
  const again = options.retryFailed === true ? state.in("failed") : [];
  if (state.finished && again.length === 0) {
    await finish(terminal, dir, { plan, options, state, before: "The drop was finished before. Nothing was sent." });
    return;
  }
  const journal = await Journal.open(dir);
  try {
    if (again.length > 0) {
      const entry = { entry: "again" as const, tokens: again };
      await journal.append(entry);
      state.apply(entry);
    }
    const show = showProgress(terminal);
    const sendOld = options.sendOldBatches === true;
    const run = { folder: dir, url: options.url, plan, state, journal, service, show, now: Date.now, sendOld };
    const { to, user } = options;
    await runDrop(run, async () => to ?? (user === undefined ? "" : await service.createWallet(user)));
  } finally {
    await journal.close();
    await writeReport(dir, plan, state);
  }
  await finish(terminal, dir, { plan, options, state, before: "The drop is finished." });
}

async function finish(
  terminal: Terminal,
  dir: string,
  { plan, options, state, before }: Job & { state: DropState; before: string },
): Promise<void> {
  const report = await writeReport(dir, plan, state);
  const failed = state.in("failed").length;
  const unknown = state.in("unknown").length;
  const text = [
    before,
    `${(plan.tokens.length - failed - unknown).toString()} of ${plural(plan.tokens.length, "token")} minted. Report: ${report}`,
    ...(failed > 0 ? [`${failed.toString()} failed. ${REPORT} says why. Try them again with --retry-failed.`] : []),
    ...(unknown > 0
      ? [
          `The service does not know ${plural(unknown, "request")} any more. Look whether the collection has the tokens.`,
        ]
      : []),
  ];
  printResult(terminal, options.json, { ...describe(plan, state, "finished"), report }, text.join("\n"));
  if (failed + unknown > 0) terminal.fail?.();
}

function addressOf(text: string): string {
  if (!/^0x[0-9a-fA-F]{40}$/.test(text)) throw new InvalidArgumentError("Must be an address: 0x and 40 hex digits.");
  const address = readAddress(text);
  if (address !== null) return address;
  throw new InvalidArgumentError("The checksum is wrong. Correct the address, or write it in lower case.");
}

function readCopies(text: string): string {
  const copies = readSupply(text);
  if (copies === null) throw new InvalidArgumentError("Must be an integer from 1 to 2^128-1.");
  return copies;
}

export const LOCK = ".moneta-drop.lock";

/** Runs the work while no other process drops the same folder. @throws OperatorError when one does. */
export async function locked<T>(folder: string, work: () => Promise<T>): Promise<T> {
  const release = lockFile(join(folder, LOCK));
  if (release === null) {
    throw new OperatorError(`Another process drops ${folder}. Wait until it has ended, or end it.`);
  }
  try {
    return await work();
  } finally {
    release();
  }
}
