import { formatEther } from "ethers";

import type { ContractAddresses } from "../chain/contracts.ts";
import { ChainUnavailable } from "../chain/errors.ts";
import { LOCAL_CHAIN_ID } from "../chain/local-contracts.ts";
import { contractsWithoutCode, readConsumed, readDeploymentLinks, readRelayStatus } from "../chain/reads.ts";
import { databaseOfNoLane, unknownTransaction, wrongBase } from "../domain/conditions.ts";
import { RELAY_GAS_RESERVE } from "../domain/gas-estimate.ts";
import { plural } from "../shared/text.ts";
import { readMeta } from "../store/db/meta.ts";
import type { LaneRow } from "../store/db/schema.ts";
import { type RequestNumber, requestNumbers, stillUnsigned } from "../store/doctor/numbers.ts";
import { readGasMeasurement } from "../store/requests/gas-measurement.ts";
import { allLanes, reusedNonces } from "../store/sending/lanes.ts";
import { type Check, type DoctorContext, type Finding, ok, problem, some, warning } from "./check.ts";

/** The service's contracts exist, belong together and point at this service. */
export const contracts: Check = {
  name: "contracts",
  asksChain: true,
  run: async ({ client, chain, hostedBase }) => {
    const known = chain.contracts;
    const missing = await contractsWithoutCode(client, known);
    if (missing.length > 0) {
      const list = missing.map(({ name, address }) => `${name} ${address}`).join(", ");
      return problem(
        `There is no contract at: ${list}. Check that ${client.nodes.where} is a node of the right chain and is in sync.`,
      );
    }
    const links = await readDeploymentLinks(client, known);
    return [
      ...links.factories.flatMap(({ factory: { address, storage }, relay, erc721Relay, erc1155Relay }) => [
        checkRelay(`factory (${storage} storage)`, address, relay, known),
        checkRelay("ERC721 implementation of the factory", address, erc721Relay, known),
        checkRelay("ERC1155 implementation of the factory", address, erc1155Relay, known),
      ]),
      checkRelay("delegate", known.delegate, links.delegateRelay, known),
      checkBase(links.hostedBase, hostedBase, client.nodes.where),
    ];
  },
};

function checkRelay(name: string, address: string, relay: string | null, known: ContractAddresses): Finding {
  if (relay === known.relay) return ok(`the ${name} ${address} belongs to the relay ${known.relay}`);
  return problem(
    `The ${name} ${address} does not belong to the relay ${known.relay}. Use the deployment file that belongs to ` +
      `this database.`,
  );
}

function checkBase(base: string | null, expected: string, node: string): Finding {
  if (base === null) {
    return problem(`The relay did not return the hosted base URI. Check that ${node} is a node that is in sync.`);
  }
  const wrong = wrongBase(base, expected);
  return wrong === null ? ok(`hosted metadata is at ${base}`) : warning(wrong);
}

/** The node serves the chain that the database belongs to. */
export const chain: Check = {
  name: "chain",
  asksChain: true,
  run: async ({ client, chain: known }) => {
    const advice = `Set ${client.nodes.where} to a node of the database's chain, or set DATABASE_URL to the database of the node's chain.`;
    const chainId = (await client.chainId()).toString();
    if (chainId !== known.chainId) {
      return problem(`The database belongs to chain ${known.chainId}, but the node serves chain ${chainId}. ${advice}`);
    }
    const [genesis] = await client.blocks([0]);
    if (genesis?.hash !== known.genesis) {
      return problem(`The node serves another chain with the same id ${chainId}: block 0 differs. ${advice}`);
    }
    return ok(`the node serves chain ${chainId}, like the database`);
  },
};

/** What a rollup charges for the data that it writes to Ethereum; other chains charge nothing for it. */
export const l1Data: Check = {
  name: "fees",
  asksChain: false,
  run: async ({ database }) => {
    const { measurement } = await readGasMeasurement(database.read);
    const { itemFee, other } = measurement?.l1 ?? { itemFee: 0, other: 0 };
    const fee = formatEther(BigInt(Math.round(itemFee)));
    return [
      ...(itemFee > 0 ? [ok(`L1 data of a mint in a full batch costs ${fee} ether, beside its gas`)] : []),
      ...(other > 0 ? [ok(`L1 data costs up to ${other.toString()} gas for each byte of a transaction`)] : []),
    ];
  },
};

/** What the relay needs beside two new words of its bitmap to end a batch: a cold account, events, a failure's reason. */
const RELAY_WORK = 70_000;

/** A new storage slot costs no more than the relay's reserve was planned for. */
export const reserve: Check = {
  name: "reserve",
  asksChain: false,
  run: async ({ database }) => {
    const { measurement } = await readGasMeasurement(database.read);
    if (measurement === null) return ok("what a new storage slot costs was not measured yet");
    const most = Math.floor((RELAY_GAS_RESERVE - RELAY_WORK) / 2);
    const words = `a new storage slot costs ${Math.round(measurement.newSlot).toString()} gas, and the relay's reserve was planned for ${most.toString()}`;
    if (measurement.newSlot <= most) return ok(words);
    return warning(
      `A${words.slice(1)}. A transaction that ends early can then revert as a whole: nothing is lost, its requests are sent ` +
        "again, and the transaction is paid for nothing. If the fees rise, use smaller batches, or deploy a relay with a higher GAS_RESERVE.",
    );
  },
};

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
    const findings: Finding[] = [];
    const unknown = await readMeta(database.read, "unknown_transaction");
    if (unknown !== null) findings.push(problem(unknownTransaction(unknown)));
    if (rows.length === 0) return [...findings, ...(await checkUnused(context))];
    for (const [index, row] of rows.entries()) {
      findings.push(...(await checkLane(context, row, status.operators[index] === true)));
    }
    return findings;
  },
};

/** The database has sent nothing. Then the lanes of its seed have not, either, or the operator knows it. */
async function checkUnused({
  client,
  database,
  keys: { keyring },
  settings,
  chain,
}: DoctorContext): Promise<Finding[]> {
  const addresses = keyring === null ? [] : settings.lanes.map((lane) => keyring.lane(lane).address);
  const sent = await client.highestNonces(addresses);
  const reused = await reusedNonces(database.read);
  const at = addresses.findIndex((address, index) => (sent[index] ?? 0) > (reused.get(address) ?? 0));
  if (at < 0) return [ok("no lane has sent anything yet")];
  const finding = chain.chainId === LOCAL_CHAIN_ID.toString() ? warning : problem;
  return [finding(databaseOfNoLane(addresses[at] ?? "", sent[at] ?? 0))];
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
  if (context.settings.lanes.includes(row.lane) && !isOperator) {
    findings.push(problem(`${name} is not an operator of the relay. Have the relay's owner call setOperator for it.`));
  }
  // Read the chain before the database: the database commits a nonce before the chain sees it.
  const [mined = 0] = await client.nonces([row.address]);
  const [known = row] = (await allLanes(database.read)).filter((lane) => lane.lane === row.lane);
  findings.push(...checkNonce(name, mined, known.next_nonce));
  return findings.length > 0 ? findings : [ok(`${name}: nonce ${known.next_nonce.toString()}`)];
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

/** Number of final requests to check, newest first. With `--all` every one is checked. */
const RECENT = 10_000;

/** What is wrong when the relay has not consumed the number of a request that ran, or has consumed another one. */
const DISAGREEMENTS: Record<RequestNumber["state"], { words: string; advice: string }> = {
  executed: {
    words: "completed in the database but not on chain",
    advice: "A reorg deeper than CONFIRMATIONS undid them, or the node is not in sync. Check the node first.",
  },
  unsent: {
    words: "executed on chain but stored as failed before sending",
    advice: "Run `npm run cli -- reconcile`.",
  },
  unsigned: {
    words: "executed on chain but not sent by this database",
    advice: "The database is an old backup. Stop the service and run `npm run cli -- reconcile`.",
  },
};

/** The relay has consumed the number of every request that ran, and no other number. */
export const numbers: Check = {
  name: "numbers",
  asksChain: true,
  run: async ({ database, client, chain, thorough }) => {
    const wrong: RequestNumber[] = [];
    let [checked, final] = [0, 0];
    for await (const page of requestNumbers(database.read)) {
      const consumed = await readConsumed(
        client,
        chain.contracts.relay,
        page.map(({ number }) => number),
      );
      if (consumed.includes(null)) throw new ChainUnavailable("the relay does not say which numbers it has consumed");
      wrong.push(...page.filter(({ state }, index) => consumed[index] !== (state === "executed")));
      checked += page.length;
      final += page.filter(({ state }) => state !== "unsigned").length;
      if (!thorough && final >= RECENT) break;
    }
    const found = Map.groupBy(wrong, ({ state }) => state);
    const idsOf = (state: RequestNumber["state"]) => (found.get(state) ?? []).map(({ id }) => id);
    // The service may have signed and executed one of them during this check.
    const unsigned = await stillUnsigned(database.read, idsOf("unsigned"));
    const findings = Object.entries({ executed: idsOf("executed"), unsent: idsOf("unsent"), unsigned })
      .filter(([, ids]) => ids.length > 0)
      .map(([state, ids]) => {
        const { words, advice } = DISAGREEMENTS[state as RequestNumber["state"]];
        return problem(`${plural(ids.length, "request is", "requests are")} ${words}: ${some(ids)}. ${advice}`);
      });
    if (findings.length > 0) return findings;
    return ok(`checked ${plural(checked, "request")}, newest first: database and relay agree on the request numbers`);
  },
};
