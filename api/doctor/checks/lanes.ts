import { abi } from "../../chain/contracts.ts";
import { openBatchesOf } from "../../store/doctor/pipeline.ts";
import { allLanes } from "../../store/sending/lanes.ts";
import type { LaneRow } from "../../store/db/schema.ts";
import { type Check, type DoctorContext, duration, type Finding, ok, problem, warning } from "../check.ts";

/** A batch that no block has taken for so long needs somebody to look. In milliseconds. */
const SLOW = 300_000;

/** Every sending key is the seed's, may use the relay, and has sent what the database knows. */
export const lanes: Check = {
  name: "lanes",
  asksChain: true,
  run: async (context) => {
    const rows = await allLanes(context.database.read);
    const findings = await relayTakesBatches(context);
    if (rows.length === 0) return [...findings, ok("no lane has sent anything yet")];
    for (const row of rows) findings.push(...(await lookAt(context, row)));
    return findings;
  },
};

async function relayTakesBatches({ client, chain }: DoctorContext): Promise<Finding[]> {
  const [paused] = await client.tryCalls([{ to: chain.contracts.relay, data: abi.relay.encodeFunctionData("paused") }]);
  if (paused == null) return [problem(`No relay answers at ${chain.contracts.relay}.`)];
  if (BigInt(paused) === 0n) return [];
  return [problem("The relay is paused: nothing is sent until its owner calls unpause.")];
}

async function lookAt(context: DoctorContext, row: LaneRow): Promise<Finding[]> {
  const { client, chain, keys, database, now } = context;
  const name = `lane ${row.lane.toString()} (${row.address})`;
  const findings: Finding[] = [];
  const derived = keys.keyring?.lane(row.lane).address ?? row.address;
  if (derived !== row.address) {
    findings.push(problem(`The seed makes ${derived} for ${name}. Set SEED_FILE to the seed of this database.`));
  }
  const [operator] = await client.tryCalls([
    { to: chain.contracts.relay, data: abi.relay.encodeFunctionData("isOperator", [row.address]) },
  ]);
  const used = row.lane < context.lanes;
  if (used && (operator == null || BigInt(operator) !== 1n)) {
    findings.push(problem(`${name} is no operator of the relay. Let the relay's owner call setOperator for it.`));
  }
  // The chain first: what the database then knows can only be more.
  const [mined = 0] = await client.nonces([row.address]);
  const [known = row] = (await allLanes(database.read)).filter((lane) => lane.lane === row.lane);
  if (mined > known.next_nonce) {
    findings.push(
      problem(
        `${name} has ${mined.toString()} transactions on chain, the database knows of ${known.next_nonce.toString()}: it ` +
          `is an old backup, or another service uses the same seed. Stop the service and run \`npm run cli -- reconcile\`.`,
      ),
    );
  }
  const open = await openBatchesOf(database.read, row.lane);
  const age = open.oldest === null ? 0 : now - open.oldest;
  if (age > SLOW) {
    findings.push(
      warning(
        `${name} has ${open.count.toString()} batches in no block, the oldest for ${duration(age)}. Is the service running ` +
          `(role relayer), are fees far above REPLACE_SECONDS' reach, does the node pass transactions on?`,
      ),
    );
  }
  if (findings.length > 0) return findings;
  return [ok(`${name}: nonce ${known.next_nonce.toString()}, ${open.count.toString()} batches under way`)];
}
