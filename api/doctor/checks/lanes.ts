import { readRelayStatus } from "../../chain/relay-reads.ts";
import { LANE_STUCK } from "../../domain/conditions.ts";
import { unknownTransaction } from "../../domain/unknown-transaction.ts";
import { readMeta } from "../../store/db/meta.ts";
import { openBatchesOf } from "../../store/doctor/pipeline.ts";
import { allLanes } from "../../store/sending/lanes.ts";
import type { LaneRow } from "../../store/db/schema.ts";
import { type Check, type DoctorContext, duration, type Finding, ok, problem, warning } from "../check.ts";
import { plural } from "../../shared/plural.ts";

/** Every sending key comes from the seed, may use the relay, and has sent only what the database knows. */
export const lanes: Check = {
  name: "lanes",
  asksChain: true,
  run: async (context) => {
    const { client, chain, database } = context;
    const rows = await allLanes(database.read);
    const { relay } = chain.contracts;
    const status = await readRelayStatus(
      client,
      relay,
      rows.map((row) => row.address),
    );
    const findings = checkPaused(relay, status.paused);
    const unknown = await readMeta(database.read, "unknown_transaction");
    if (unknown !== null) findings.push(problem(unknownTransaction(unknown)));
    if (rows.length === 0) return [...findings, ok("no lane has sent anything yet")];
    for (const [index, row] of rows.entries()) {
      findings.push(...(await checkLane(context, row, status.operators[index] === true)));
    }
    return findings;
  },
};

function checkPaused(relay: string, paused: boolean | null): Finding[] {
  if (paused === null) {
    return [problem(`No relay answers at ${relay}. Check that RPC_URL is a node of the right chain and is in sync.`)];
  }
  if (!paused) return [];
  return [problem("The relay is paused: nothing is sent. Have the relay's owner call unpause.", "relay_paused")];
}

async function checkLane(context: DoctorContext, row: LaneRow, isOperator: boolean): Promise<Finding[]> {
  const { client, keys, database } = context;
  const name = `lane ${row.lane.toString()} (${row.address})`;
  const findings: Finding[] = [];
  const derived = keys.keyring?.lane(row.lane).address ?? row.address;
  if (derived !== row.address) {
    findings.push(
      problem(`The seed makes ${derived} for ${name}. Set SEED_FILE to the seed that belongs to this database.`),
    );
  }
  if (context.lanes.includes(row.lane) && !isOperator) {
    findings.push(problem(`${name} is not an operator of the relay. Have the relay's owner call setOperator for it.`));
  }
  // Read the chain before the database: the database commits a nonce before the chain sees it.
  const [mined = 0] = await client.nonces([row.address]);
  const [known = row] = (await allLanes(database.read)).filter((lane) => lane.lane === row.lane);
  findings.push(...checkNonce(name, mined, known.next_nonce));
  const open = await openBatchesOf(database.read, row.lane);
  const age = open.oldest === null ? 0 : context.now - open.oldest;
  if (age > LANE_STUCK) {
    findings.push(
      warning(
        `${name} has ${plural(open.count, "unmined batch", "unmined batches")}, the oldest for ${duration(age)}. Check that a ` +
          `process with the role relayer runs, that MAX_FEE_GWEI is not below the present fees, and that the node ` +
          `broadcasts transactions. Its log says when the node refuses them.`,
        "lane_stuck",
      ),
    );
  }
  if (findings.length > 0) return findings;
  return [
    ok(`${name}: nonce ${known.next_nonce.toString()}, ${plural(open.count, "unmined batch", "unmined batches")}`),
  ];
}

function checkNonce(name: string, mined: number, known: number): Finding[] {
  if (mined <= known) return [];
  return [
    problem(
      `${name} has ${plural(mined, "transaction")} on chain, but the database knows ${known.toString()}. The database is an ` +
        `old backup, or another service uses the same seed. Stop the service and run \`npm run cli -- reconcile\`.`,
    ),
  ];
}
