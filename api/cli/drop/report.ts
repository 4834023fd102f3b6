import { randomBytes } from "node:crypto";
import { rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

import type { Plan } from "./plan.ts";
import type { DropState, TokenState } from "./state.ts";

export const REPORT = "drop-report.csv";
const HEAD = ["file", "token_id", "request_id", "status", "error"];

/** Writes the report: one line for each token. */
export async function writeReport(folder: string, { tokens }: Plan, state: DropState): Promise<string> {
  const lines = tokens.map((token, index) => [
    token.source,
    ...cellsOf(state.tokens[index] ?? { is: "waiting" }, token.tokenId),
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

function cellsOf(token: TokenState, tokenId: string | null): string[] {
  switch (token.is) {
    case "final":
      return [
        token.status === "unknown" ? "" : (token.token_id ?? tokenId ?? ""),
        token.requestId,
        token.status,
        token.error ?? "",
      ];
    case "refused":
      return ["", "", "refused", token.error];
    case "accepted":
      return ["", token.requestId, "accepted", ""];
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
