import type { Engine } from "../../api/store/db/sql.ts";
import "./rehearsed-writes.ts";

/** The engine of the databases in this test run: TEST_ENGINE, by default SQLite. */
export const TEST_ENGINE: Engine = parseEngine(process.env["TEST_ENGINE"]);

function parseEngine(name: string | undefined): Engine {
  if (name === undefined || name === "") return "sqlite";
  if (name === "sqlite" || name === "postgres") return name;
  throw new Error(`TEST_ENGINE is "${name}". Set it to "sqlite" or "postgres", or leave it out.`);
}

/** `describe` for what exists on one engine only, such as database files. In a run on the other engine it does not exist. */
export function describeOn(engine: Engine, title: string, tests: (this: Mocha.Suite) => void): void {
  if (engine === TEST_ENGINE) describe(title, tests);
}

/**
 * How often a property is tried. PostgreSQL gets a third of the tries: each statement costs several times as much there, and
 * the rules are the same code on both engines.
 */
export function triesOnEngine(onSqlite: number): number {
  return TEST_ENGINE === "sqlite" ? onSqlite : Math.ceil(onSqlite / 3);
}
