import { type Command, InvalidArgumentError, Option } from "commander";

import { REPORT } from "../../client/drop/layout.ts";
import { plannedTokens, warningNote } from "../../client/drop/plan.ts";
import { readSupply } from "../../client/drop/values.ts";
import { checkDrop, type Drop, runDrop } from "../../client/drop-node/drop.ts";
import { DropStopped } from "../../client/drop-node/stopped.ts";
import { sniffMediaType } from "../content/media-type.ts";
import { OperatorError } from "../operate/operator-error.ts";
import { plural } from "../shared/text.ts";
import { addressOf, withChecksum } from "./address.ts";
import { untilInterrupted } from "./interrupted.ts";
import { type ConnectionOptions, connectionOf, TOKEN_OPTION, URL_OPTION } from "./options.ts";
import { printResult, resultCommand, type Terminal } from "./terminal.ts";

interface Options extends ConnectionOptions {
  json?: boolean;
  collection: string;
  to?: string;
  user?: string;
  supply?: string;
  yes?: boolean;
  copyMedia?: boolean;
  all?: boolean;
  retryFailed?: boolean;
  sendOldBatches?: boolean;
}

export function drop(terminal: Terminal): Command {
  return resultCommand("drop", "Mint a folder of pictures, with metadata or without.", {
    examples: [
      "drop my-cats --collection 0x5FbDB2315678afecb367f032d93F642f64180aa3 --user alice",
      "drop my-cats --collection 0x5FbDB2315678afecb367f032d93F642f64180aa3 --user alice --yes",
      "drop gems --collection 0x5FbDB2315678afecb367f032d93F642f64180aa3 --to 0x70997970C51812dc3A010C7d01b50e0d17dc79C8 --supply 10 --yes",
    ],
    json: "{tokens, files, bytes, problems: [{source, message}], notes, warnings: [{field, code, message, sources}], receivers, plan: [{source, token_id, receiver}], ignored_fields, state, completed, failed, unknown, open, report, token_ids}",
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
    .action((dir: string, options: Options) =>
      untilInterrupted("Interrupted. Run the same command again to continue: nothing is minted twice.", (stop) =>
        dropFolder(terminal, dir, options, stop),
      ),
    );
}

async function dropFolder(terminal: Terminal, folder: string, options: Options, signal: AbortSignal): Promise<void> {
  const { to, user, yes, json } = options;
  const job = {
    ...options,
    ...connectionOf(terminal, options),
    ...checks,
    folder,
    to: to !== undefined ? { address: to } : user !== undefined ? { user } : null,
    signal,
    remark: (sentence: string) => terminal.remark?.(`${sentence}\n`),
    show: showProgress(terminal),
  };
  try {
    const drop = yes === true ? await runDrop(job) : await checkDrop(job);
    const isWrong = drop.plan.problems.length > 0;
    const state = isWrong ? "problems" : drop.report === null ? "checked" : "finished";
    const text = isWrong ? problemsOf(folder, drop) : drop.report === null ? planText(drop, options) : endText(drop);
    printResult(terminal, json, resultOf(drop, state), text);
    if (isWrong || (drop.report !== null && countOf(drop, "failed", "unknown") > 0)) terminal.fail?.();
  } catch (error) {
    throw error instanceof DropStopped ? new OperatorError(error.message, { cause: error }) : error;
  }
}

/** What the service's own packages know, before anything is sent. */
const checks = {
  readAddress: withChecksum,
  typeOf: (file: Blob) => sniffMediaType(file.stream()),
};

/** Problems that the text shows. `--json` has all of them. */
const SHOWN_PROBLEMS = 50;

function problemsOf(folder: string, { plan: { problems } }: Drop): string {
  const shown = problems.slice(0, SHOWN_PROBLEMS).map(({ source, message }) => `${source}: ${message}`);
  if (problems.length > shown.length) shown.push(`... and ${(problems.length - shown.length).toString()} more`);
  return [`${plural(problems.length, "problem")} in ${folder}:`, ...shown, "Nothing was sent."].join("\n");
}

/** What a dry run without problems prints. */
function planText(drop: Drop, { all = false }: Options): string {
  const { plan } = drop;
  const { name, type } = plan.collection;
  return [
    `${plural(plan.tokens.length, "token")}: ${plan.receivers}.`,
    `Collection: "${name}" (${type}). ${plural(plan.uploads.length, "file")} to upload, ${plural(bytesOf(drop), "byte")}.`,
    ...plan.notes,
    ...(plan.ignored.length > 0 ? [`These fields are not stored: ${plan.ignored.join(", ")}.`] : []),
    ...tableOf(drop, all ? plan.tokens.length : SHOWN_TOKENS),
    nextStep(drop),
  ].join("\n");
}

/** Tokens that a dry run shows without `--all`. */
const SHOWN_TOKENS = 10;

/** What becomes of each file: file -> token id -> receiver. */
function tableOf({ plan, items, begun }: Drop, most: number): string[] {
  const rows = plannedTokens(plan, begun ? items : undefined).slice(0, most);
  const wide = Math.max(0, ...rows.map(({ source }) => source.length));
  const narrow = Math.max(0, ...rows.map(({ token_id: id }) => id.length));
  const lines = rows.map(
    ({ source, token_id: id, receiver }) => `  ${source.padEnd(wide)}  ->  token ${id.padEnd(narrow)}  ->  ${receiver}`,
  );
  const more = plan.tokens.length - rows.length;
  return more > 0 ? [...lines, `  ... and ${more.toString()} more. --all shows them.`] : lines;
}

function nextStep(drop: Drop): string {
  if (countOf(drop, "waiting", "sent", "accepted") === 0) return "The drop is finished.";
  if (!drop.begun) return "Everything is in order. Nothing was sent. Run again with --yes to mint.";
  const done = countOf(drop, "completed", "failed", "unknown");
  return `The drop has begun: ${plural(done, "token is", "tokens are")} done. Run again with --yes to continue.`;
}

/** What the service warned of, each with the files. */
function warned({ warnings, plan }: Drop) {
  return warnings.map(({ items, ...warning }) => ({
    ...warning,
    sources: items.map((index) => plan.tokens[index]?.source ?? ""),
  }));
}

function endText(drop: Drop): string {
  const [failed, unknown] = [countOf(drop, "failed"), countOf(drop, "unknown")];
  const all = drop.plan.tokens.length;
  return [
    drop.finishedBefore ? "The drop was finished before. Nothing was sent." : "The drop is finished.",
    `${(all - failed - unknown).toString()} of ${plural(all, "token")} minted. Report: ${drop.report ?? ""}`,
    ...(drop.tokenIds === null ? [] : [`Old and new token ids: ${drop.tokenIds}`]),
    ...warned(drop).map(({ sources, ...warning }) => warningNote(warning, sources)),
    ...(failed > 0 ? [`${failed.toString()} failed. ${REPORT} says why. Try them again with --retry-failed.`] : []),
    ...(unknown > 0
      ? [
          `The service does not know ${plural(unknown, "request")} any more. Look whether the collection has the tokens.`,
        ]
      : []),
  ].join("\n");
}

/** The JSON form of a result. */
function resultOf(drop: Drop, state: "problems" | "checked" | "finished") {
  const { plan, items, begun, report, tokenIds } = drop;
  return {
    state,
    tokens: plan.tokens.length,
    files: plan.uploads.length,
    bytes: bytesOf(drop),
    problems: plan.problems,
    notes: plan.notes,
    warnings: warned(drop),
    receivers: plan.receivers,
    plan: plannedTokens(plan, begun ? items : undefined),
    ignored_fields: plan.ignored,
    completed: countOf(drop, "completed"),
    failed: countOf(drop, "failed"),
    unknown: countOf(drop, "unknown"),
    open: countOf(drop, "waiting", "sent", "accepted"),
    ...(report !== null && { report, token_ids: tokenIds }),
  };
}

function countOf({ items }: Drop, ...states: Drop["items"][number]["is"][]): number {
  return items.filter(({ is }) => states.includes(is)).length;
}

function bytesOf({ plan: { uploads } }: Drop): number {
  return uploads.reduce((sum, { bytes }) => sum + bytes, 0);
}

const WIDTH = 30;

/** A bar that stays in its line on a terminal; elsewhere a line for each tenth. */
export function showProgress({ remark, rewrite }: Terminal): (step: string, done: number, all: number) => void {
  let last = "";
  return (step, done, all) => {
    if (all === 0) return;
    const share = done / all;
    const mark = `${step} ${Math.floor(share * 10).toString()}`;
    const counts = `${step} ${done.toString()} of ${all.toString()}`;
    if (rewrite !== undefined) {
      const filled = Math.round(share * WIDTH);
      rewrite(`[${"#".repeat(filled)}${"-".repeat(WIDTH - filled)}] ${counts}`);
      if (done === all && mark !== last) remark?.("\n");
    } else if (mark !== last) {
      remark?.(`${counts}\n`);
    }
    last = mark;
  };
}

function readCopies(text: string): string {
  const copies = readSupply(text);
  if (copies === null) throw new InvalidArgumentError("Must be an integer from 1 to 2^128-1.");
  return copies;
}
