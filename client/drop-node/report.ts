import { randomBytes } from "node:crypto";
import { rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

import type { BulkFailure, BulkItem } from "../bulk-progress.ts";
import { csvLine } from "../drop/csv.ts";
import type { FolderToken } from "../drop/folder.ts";
import { REPORT, TOKEN_IDS } from "../drop/layout.ts";
import { ApiRefusal } from "../errors.ts";

const HEAD = ["file", "token_id", "request_id", "status", "error"];

/** Writes the report: one line for each token. @returns its path */
export async function writeReport(
  folder: string,
  tokens: readonly Pick<FolderToken, "source" | "tokenId">[],
  items: readonly BulkItem[],
): Promise<string> {
  const lines = tokens.map(({ source, tokenId }, index) => [
    source,
    ...cellsOf(items[index] ?? { is: "waiting" }, tokenId),
  ]);
  return writeTable(folder, REPORT, [HEAD, ...lines]);
}

/**
 * Writes which new id each old one has become; none yet: the cell is empty.
 * @returns the path; null: the folder says no ids that the contract does not keep
 */
export async function writeTokenIds(
  folder: string,
  tokens: readonly Pick<FolderToken, "oldId">[],
  items: readonly BulkItem[],
): Promise<string | null> {
  const lines = tokens.flatMap(({ oldId }, index) => {
    const item = items[index];
    return oldId === null ? [] : [[oldId, item?.is === "completed" ? (item.tokenId ?? "") : ""]];
  });
  return lines.length === 0 ? null : writeTable(folder, TOKEN_IDS, [["old_id", "new_id"], ...lines]);
}

async function writeTable(folder: string, name: string, lines: readonly string[][]): Promise<string> {
  const path = join(folder, name);
  // The name is new, so a folder from others cannot have a link there.
  const draft = join(folder, `.drop-report-${randomBytes(8).toString("hex")}.part`);
  try {
    await writeFile(draft, lines.map(csvLine).join(""), { flag: "wx" });
    await rename(draft, path);
  } finally {
    await rm(draft, { force: true });
  }
  return path;
}

const NOT_KNOWN =
  "The service does not know this request, as after its restore from a backup. Look whether the collection has the token.";

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

function reasonOf({ requestId, code, message, errors, status }: BulkFailure & { requestId: string | null }): string {
  if (status !== null)
    return new ApiRefusal(status, code === null ? null : { error_code: code, message, errors }).message;
  // Without a code, the journal of version 0.3.0 had the whole reason.
  if (code === null) return message;
  if (requestId === null) return `${code}: ${message}`;
  return [code, ...errors.map(({ field, message: problem }) => `${field}: ${problem}`)].join(" ");
}
