import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";

import { ROOT } from "../../../support/process.ts";

const STORE = join(ROOT, "api", "store");

/** Code that builds or runs a statement. */
const BUILDS =
  /sql(<[^`]*>)?`[^`]|\.(selectFrom|selectNoFrom|insertInto|updateTable|deleteFrom|where\w*|orderBy|execute\w*)\(/;

/** Files whose statements are not those of the running service. */
const LEFT_OUT: Readonly<Record<string, string>> = {
  "db/migrations/kit.ts": "creates the schema",
  "db/migrate.ts": "reads the list of migrations",
  "db/migrations/0011-v0.3.0-frozen-and-copies.ts": "counts, once, the copies in a database of an earlier version",
  "db/migrations/0014-v0.3.0-filters.ts": "reads, once, the metadata in a database of an earlier version",
  "db/migrations/0015-v0.3.0-answers-and-names.ts": "reads, once, the names in a database of an earlier version",
  "db/sqlite/group-commit.ts": "begins and ends transactions",
  "db/postgres/concurrent-writes.ts": "begins and ends transactions on PostgreSQL",
  "db/postgres/open.ts": "checks the server of a PostgreSQL database",
  "db/postgres/driver.ts": "locks migrations on PostgreSQL",
  "move/restore-place.ts": "prepares and ends a restore, while the service does not run",
  "move/snapshot.ts": "opens an installation for a backup or a move",
  "move/move.ts": "reads whole tables of an installation that does not run",
  "move/tables.ts": "reads the schema",
};

/** Functions that only PostgreSQL calls. */
const ON_POSTGRES = /^(async )?function (requireRestoreFinished|turnsOfOwners)\b/;
/** What stands before code that only PostgreSQL runs. */
const BEFORE_POSTGRES = /=== "postgres"\)?\s*\??\s*$|!== "postgres"[^\n]*return;\s*$/;

interface Coverage {
  result: { url: string; functions: { ranges: { startOffset: number; endOffset: number; count: number }[] }[] }[];
}

/**
 * The places of api/store that build a statement and that a process did not reach. Branches for PostgreSQL are left out.
 * @param folder the NODE_V8_COVERAGE of that process. It ran the sources as they are, so offsets in the coverage are
 * offsets in the files.
 */
export function unreachedStatements(folder: string): string[] {
  const files = new Map<string, Coverage["result"][number]>();
  for (const name of readdirSync(folder)) {
    const { result } = JSON.parse(readFileSync(join(folder, name), "utf8")) as Coverage;
    for (const script of result) {
      if (script.url.startsWith("file:")) files.set(relative(STORE, fileURLToPath(script.url)), script);
    }
  }
  const sources = readdirSync(STORE, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".ts"));
  return sources
    .map((file) => file.replaceAll("\\", "/"))
    .filter((file) => !(file in LEFT_OUT))
    .flatMap((file) => {
      const text = readFileSync(join(STORE, file), "utf8");
      const script = files.get(file);
      if (script === undefined) return BUILDS.test(text) ? [`api/store/${file}: not loaded`] : [];
      return unreachedIn(script, text).map((place) => `api/store/${file}:${place}`);
    });
}

function unreachedIn(script: Coverage["result"][number], text: string): string[] {
  const ranges = script.functions
    .flatMap(({ ranges }) => ranges)
    .filter(({ count, startOffset, endOffset }) => count === 0 && BUILDS.test(text.slice(startOffset, endOffset)));
  const postgres = ranges.filter(
    ({ startOffset }) => BEFORE_POSTGRES.test(text.slice(0, startOffset)) || ON_POSTGRES.test(text.slice(startOffset)),
  );
  const within = (inner: { startOffset: number; endOffset: number }) =>
    postgres.some(({ startOffset, endOffset }) => startOffset <= inner.startOffset && inner.endOffset <= endOffset);
  return ranges
    .filter((range) => !within(range))
    .map(({ startOffset, endOffset }) => {
      const line = text.slice(0, startOffset).split("\n").length;
      return `${line.toString()}: ${text.slice(startOffset, endOffset).replace(/\s+/g, " ").slice(0, 120)}`;
    });
}
