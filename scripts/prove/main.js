import { committed } from "./bytecode.ts";
import { HOLDERS_THEOREMS, proveHolders } from "./holders.ts";
import { proveRelay, RELAY_THEOREMS } from "./relay.ts";
import { report } from "./report.ts";
import { startSolver } from "./solver.ts";
/** `npm run prove` proves the theorems of docs/contracts.md#proof on the committed bytecode. */
/** Seconds for the whole proof. What is not decided by then is not proved. */
const TIME_LIMIT = 1_800;
const start = Date.now();
const until = start + TIME_LIMIT * 1000;
/** @returns whether all theorems of a contract are proved. A new z3 for each contract: it gets slower with time. */
async function prove(name, proof, theorems) {
    const contract = await committed(name);
    const solver = await startSolver(until);
    const { lines, isProved } = report(theorems, await proof(contract, solver));
    console.log(`${name}:\n${lines.join("\n")}`);
    console.log(`${solver.asked()} questions, ${Math.round((Date.now() - start) / 1000)} s since the start.\n`);
    solver.stop();
    return isProved;
}
const isRelayProved = await prove("Relay", proveRelay, Object.values(RELAY_THEOREMS));
const areHoldersProved = await prove("CompactERC721Collection", proveHolders, Object.values(HOLDERS_THEOREMS));
if (isRelayProved && areHoldersProved)
    console.log("Proved.");
else {
    console.error("Not proved.");
    process.exitCode = 1;
}
