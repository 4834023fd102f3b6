import { readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";

import { committed, hashOf } from "./bytecode.ts";
import { proveRelay, RELAY_THEOREMS } from "./relay.ts";
import { report } from "./report.ts";
import { startSolver } from "./solver.ts";

/**
 * `npm run prove` proves the theorems of docs/contracts.md#proof on the committed bytecode, and writes its hash and the result
 * to proved.json. With `--if-changed` it does nothing if that file has the hash of the committed bytecode.
 */

const PROVED = fileURLToPath(new URL("./proved.json", import.meta.url));
/** Seconds for the whole proof. What is not decided by then is not proved. */
const TIME_LIMIT = 1_800;

const contract = await committed("Relay");
const hash = hashOf(contract);
if (process.argv.includes("--if-changed") && (await provedBefore()) === hash) {
  console.log("The relay's bytecode is the one that was proved last.");
} else {
  const start = Date.now();
  const solver = await startSolver(start + TIME_LIMIT * 1000);
  const { lines, isProved } = report(Object.values(RELAY_THEOREMS), await proveRelay(contract, solver));
  for (const line of lines) console.log(line);
  console.log(`${solver.asked()} questions, ${Math.round((Date.now() - start) / 1000)} s.`);
  if (isProved) {
    const result = { contract: "Relay", bytecode: hash, theorems: Object.values(RELAY_THEOREMS) };
    await writeFile(PROVED, `${JSON.stringify(result, undefined, 2)}\n`);
    console.log("Proved. scripts/prove/proved.json has the hash of the bytecode: commit it.");
  } else {
    console.error("Not proved.");
  }
  // The threads of z3 would keep the process.
  process.exit(isProved ? 0 : 1);
}

async function provedBefore(): Promise<string | undefined> {
  const result = JSON.parse(await readFile(PROVED, "utf8")) as { bytecode?: string };
  return result.bytecode;
}
