import { randomBytes } from "node:crypto";
import { rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

import type { BulkItem } from "../../../client/bulk-progress.ts";
import { plural } from "../../shared/text.ts";
import type { Terminal } from "../terminal.ts";
import { csvLine } from "../../../client/drop/csv.ts";
import { REPORT } from "../../../client/drop/layout.ts";
import { nextId, type Plan, wordsOf } from "./plan.ts";
import { type DropState, NOT_KNOWN, reasonOf } from "./state.ts";

/** What a dry run without problems prints. */
export function describePlan(plan: Plan, state: DropState, all: boolean): string {
  const { name, type } = plan.collection;
  return [
    `${plural(plan.tokens.length, "token")}: ${plan.receivers}.`,
    `Collection: "${name}" (${type}). ${plural(plan.files.length, "file")} to upload, ${plural(bytesOf(plan), "byte")}.`,
    ...plan.notes,
    ...(plan.ignored.length > 0 ? [`These fields are not stored: ${plan.ignored.join(", ")}.`] : []),
    ...tableOf(plan, state, all ? plan.tokens.length : SHOWN_TOKENS),
    nextStep(state),
  ].join("\n");
}

/** Tokens that a dry run shows without `--all`. */
const SHOWN_TOKENS = 10;

/** What becomes of each file: file -> token id -> receiver. */
function planned({ tokens, to, collection }: Plan, state: DropState): Planned[] {
  return tokens.map(({ source, files, tokenId, owner }, index) => {
    const item = state.minting.items[index];
    const minted = item?.is === "completed" ? item.tokenId : null;
    // Later, `minted` of the collection counts tokens of this drop.
    const next = collection.type === "ERC721" ? (state.start === null ? nextId(collection, index) : "?") : tokenId;
    const row = /, (line|entry) \d+$/.test(source) && files.image !== undefined;
    return {
      source: row ? `${source} (${files.image ?? ""})` : source,
      token_id: minted ?? next ?? "?",
      receiver: wordsOf(owner ?? to) ?? "",
    };
  });
}

interface Planned {
  source: string;
  token_id: string;
  receiver: string;
}

function tableOf(plan: Plan, state: DropState, most: number): string[] {
  const rows = planned(plan, state).slice(0, most);
  const width = (of: (row: (typeof rows)[number]) => string) => Math.max(0, ...rows.map((row) => of(row).length));
  const [wide, narrow] = [width(({ source }) => source), width(({ token_id: id }) => id)];
  const lines = rows.map(
    ({ source, token_id: id, receiver }) => `  ${source.padEnd(wide)}  ->  token ${id.padEnd(narrow)}  ->  ${receiver}`,
  );
  const more = plan.tokens.length - rows.length;
  return more > 0 ? [...lines, `  ... and ${more.toString()} more. --all shows them.`] : lines;
}

function nextStep(state: DropState): string {
  if (state.finished) return "The drop is finished.";
  if (state.start === null) return "Everything is in order. Nothing was sent. Run again with --yes to mint.";
  const done = state.in("completed", "failed", "unknown").length;
  return `The drop has begun: ${plural(done, "token is", "tokens are")} done. Run again with --yes to continue.`;
}

/** The JSON form of a result. */
export function describe(plan: Plan, state: DropState, what: "problems" | "checked" | "finished") {
  const { tokens, files, problems, ignored } = plan;
  const completed = state.in("completed").length;
  const failed = state.in("failed").length;
  const unknown = state.in("unknown").length;
  return {
    state: what,
    tokens: tokens.length,
    files: files.length,
    bytes: bytesOf(plan),
    problems,
    notes: plan.notes,
    receivers: plan.receivers,
    plan: planned(plan, state),
    ignored_fields: ignored,
    completed,
    failed,
    unknown,
    open: tokens.length - completed - failed - unknown,
  };
}

function bytesOf({ files }: Plan): number {
  return files.reduce((sum, { bytes }) => sum + bytes, 0);
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

const HEAD = ["file", "token_id", "request_id", "status", "error"];

/** Writes the report: one line for each token. */
export async function writeReport(folder: string, { tokens }: Plan, state: DropState): Promise<string> {
  const lines = tokens.map((token, index) => [
    token.source,
    ...cellsOf(state.minting.items[index] ?? { is: "waiting" }, token.tokenId),
  ]);
  const path = join(folder, REPORT);
  // The name is new, so a folder from others cannot have a link there.
  const draft = join(folder, `.drop-report-${randomBytes(8).toString("hex")}.part`);
  const text = [HEAD, ...lines].map(csvLine).join("");
  try {
    await writeFile(draft, text, { flag: "wx" });
    await rename(draft, path);
  } finally {
    await rm(draft, { force: true });
  }
  return path;
}

function cellsOf(item: BulkItem, tokenId: string | null): string[] {
  switch (item.is) {
    case "completed":
      return [item.tokenId ?? tokenId ?? "", item.requestId, "completed", ""];
    case "failed":
      return item.requestId === null
        ? ["", "", "refused", reasonOf(item)]
        : [tokenId ?? "", item.requestId, "failed", reasonOf(item)];
    case "unknown":
      return ["", item.requestId, "unknown", NOT_KNOWN];
    case "accepted":
      return ["", item.requestId, "accepted", ""];
    case "sent":
      return ["", "", "unknown", "The answer of the service is not known yet."];
    case "waiting":
      return ["", "", "waiting", ""];
  }
}
