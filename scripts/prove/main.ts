import { committed } from "./bytecode.ts";
import { proveRelay, RELAY_THEOREMS } from "./relay.ts";
import { report } from "./report.ts";
import { startSolver } from "./solver.ts";

/** `npm run prove` proves the theorems of docs/contracts.md#proof on the committed bytecode. */

/** Seconds for the whole proof. What is not decided by then is not proved. */
const TIME_LIMIT = 1_800;

const start = Date.now();
const contract = await committed("Relay");
const solver = await startSolver(start + TIME_LIMIT * 1000);
const { lines, isProved } = report(Object.values(RELAY_THEOREMS), await proveRelay(contract, solver));
for (const line of lines) console.log(line);
console.log(`${solver.asked()} questions, ${Math.round((Date.now() - start) / 1000)} s.`);
solver.stop();
if (isProved) console.log("Proved.");
else {
  console.error("Not proved.");
  process.exitCode = 1;
}
