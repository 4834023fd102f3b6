import { cpSync, mkdirSync } from "node:fs";
import { join } from "node:path";

import { expect } from "chai";

import { openDatabase } from "../../../../api/store/db/database.ts";
import { temporaryFolder } from "../../../support/folder.ts";
import { ROOT, TestProcess } from "../../../support/process.ts";
import { EXCEPTIONS, type Liberty } from "../plans/exceptions.ts";
import type { TourReport } from "../plans/main.ts";
import { fill } from "./large-database.ts";

/** The project's own Node runs TypeScript as it is, so offsets in its coverage are offsets in the sources. */
const NODE = join(ROOT, "node_modules", "node", "bin", process.platform === "win32" ? "node.exe" : "node");

/** A filled database, and what came of calling every function of the store on a copy of it. */
export interface Toured {
  folder: string;
  file: string;
  report: TourReport;
  /** The NODE_V8_COVERAGE of the process that called the functions. */
  coverage: string;
  remove(): Promise<void>;
}

/** Fills a database, and calls every function of the store. @param rows in each large table. */
export async function tour(rows: number): Promise<Toured> {
  const temporary = await temporaryFolder();
  const folder = temporary.path;
  const file = join(folder, "large.sqlite");
  const coverage = join(folder, "coverage");
  mkdirSync(coverage);
  await (await openDatabase(`file:${file}`)).close();
  fill(file, rows);
  const toured = join(folder, "toured.sqlite");
  cpSync(file, toured);
  const child = new TestProcess(
    [join(import.meta.dirname, "..", "plans", "main.ts"), toured],
    { NODE_V8_COVERAGE: coverage, LARGE_TABLE_ROWS: rows.toString() },
    NODE,
  );
  expect(await child.gone(), child.output).to.equal(0);
  const [, json = ""] = /^REPORT (.*)$/m.exec(child.output) ?? [];
  return { folder, file, report: JSON.parse(json) as TourReport, coverage, remove: () => temporary.remove() };
}

export function isExcepted(sql: string, liberty: Liberty): boolean {
  return EXCEPTIONS.some(({ statement, liberties }) => liberties.includes(liberty) && statement.test(plain(sql)));
}

export function plain(sql: string): string {
  return sql.replace(/\s+/g, " ");
}
