import { randomBytes } from "node:crypto";
import { rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

import type { BulkItem } from "../../../client/bulk-progress.ts";
import { plural } from "../../shared/text.ts";
import type { Terminal } from "../terminal.ts";
import { REPORT } from "./folder.ts";
import type { Plan } from "./plan.ts";
import { type DropState, NOT_KNOWN, reasonOf } from "./state.ts";

/** What a dry run without problems prints. */
export function describePlan(plan: Plan, state: DropState): string {
  const { name, type } = plan.collection;
  return [
    `${plural(plan.tokens.length, "token")} for the ${type} collection "${name}", to ${receiversOf(plan)}.`,
    `${plural(plan.files.length, "file")} to upload, ${plural(bytesOf(plan), "byte")}.`,
    ...(plan.pictures ? ["The folder has no metadata: the tokens get the names of their files."] : []),
    ...(plan.ignored.length > 0 ? [`These fields are not stored: ${plan.ignored.join(", ")}.`] : []),
    nextStep(state),
  ].join("\n");
}

function receiversOf({ tokens, to }: Plan): string {
  const owned = tokens.filter(({ owner }) => owner !== null).length;
  if (owned === 0 && to !== null) return to;
  return to === null || owned === tokens.length
    ? "the owners in the table"
    : `${to}; ${owned.toString()} of them to the owners in the table`;
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
  const text = `${[HEAD, ...lines].map((line) => line.map(cell).join(",")).join("\r\n")}\r\n`;
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

/** A program for tables runs a cell that begins like a formula. */
function cell(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
