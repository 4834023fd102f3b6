import { formatEther, getAddress, isAddress, type Provider, type Signer } from "ethers";

import {
  cancelCall,
  connectRelay,
  PAUSE,
  readRelayState,
  type RelayCall,
  type RelayState,
  setHostedBaseCall,
  setOperatorCall,
  UNPAUSE,
} from "../../chain/relay-administration.ts";
import type { Deployment } from "../../chain/contracts.ts";
import { OperatorError } from "../operator-error.ts";
import { readDeploymentFile } from "./journal.ts";
import { type Plan, readAddress } from "./plan.ts";
import { hasCode, type Say, sendOnce } from "./transactions.ts";

interface Action {
  description: string;
  /** What the values are; null: the action takes none. */
  values: string | null;
  calls: (values: readonly string[]) => RelayCall[];
}

/** What the relay's owner can ask for. `status` reads and calls nothing. */
export const RELAY_ACTIONS: Readonly<Record<string, Action>> = {
  status: {
    description: "Show the owner of the relay, its operators, and whether it is paused.",
    values: null,
    calls: () => [],
  },
  pause: {
    description: "Stop all batches of all operators. Requests are still accepted, and wait.",
    values: null,
    calls: () => [PAUSE],
  },
  unpause: {
    description: "Let batches run again. What waited is sent.",
    values: null,
    calls: () => [UNPAUSE],
  },
  "add-operator": {
    description: "Allow accounts to send batches.",
    values: "addresses",
    calls: (values) => values.map((text) => setOperatorCall(readAddress(text), true)),
  },
  "remove-operator": {
    description: "Forbid accounts to send batches.",
    values: "addresses",
    calls: (values) => values.map((text) => setOperatorCall(readAddress(text), false)),
  },
  cancel: {
    description: "Make sure that requests never run, also those that are signed.",
    values: "numbers",
    calls: (values) => [cancelCall(values.map(requestNumber))],
  },
};

/** @throws OperatorError that names the wrong word of the command line. */
export function readAction(name: string, values: readonly string[]): RelayCall[] {
  const action = RELAY_ACTIONS[name];
  if (action === undefined)
    throw new OperatorError(`${name} is not an action. The actions are: ${Object.keys(RELAY_ACTIONS).join(", ")}.`);
  if (action.values === null && values.length > 0)
    throw new OperatorError(`${name} takes no values, but was given: ${values.join(" ")}`);
  if (action.values !== null && values.length === 0) throw new OperatorError(`${name} needs ${action.values}.`);
  return action.calls(values);
}

function requestNumber(text: string): bigint {
  if (!/^\d{1,78}$/.test(text) || BigInt(text) >= 2n ** 256n)
    throw new OperatorError(`${text} is not a request number. \`npm run cli -- request show <id>\` prints it.`);
  return BigInt(text);
}

interface RelayPlace {
  address: string;
  /** Block of its deployment, or 0. */
  since: number;
}

/**
 * The relay of the deployment file, or the one that is named.
 * @param option `--relay`; empty: not given. @throws OperatorError when no relay is there.
 */
export async function findRelay(option: string, folder: string, provider: Provider): Promise<RelayPlace> {
  const { chainId } = await provider.getNetwork();
  const given: unknown = option;
  if (option !== "" && !isAddress(given)) throw new OperatorError(`--relay: ${option} is not an address.`);
  const deployment = await readDeploymentFile({ folder, chainId });
  if (option === "" && deployment === null)
    throw new OperatorError(
      `${folder}/${chainId.toString()}.json is missing: pass --relay <address>. \`npm run cli -- doctor\` prints it; beside \`npm start\`, put DATA_DIR=data/local before both commands.`,
    );
  const address = option === "" ? (deployment?.relay ?? "") : getAddress(option);
  if (!(await hasCode(provider, address)))
    throw new OperatorError(`There is no contract at ${address} on chain ${chainId.toString()}.`);
  return { address, since: address === deployment?.relay ? deployment.deployedAt : 0 };
}

export interface RelayResult {
  relay: string;
  owner: string;
  sent: { call: string; transactionHash: string; blockNumber: number }[];
  /** What the owner must send, because no account here is the owner. */
  toDo: RelayCall[];
  /** Null: it was not asked for, or the node does not give the events of the relay. */
  state: RelayState | null;
}

/**
 * Sends the calls as the relay's owner, one after the other, without those whose effect is there. Without the owner's account
 * nothing is sent.
 * @param signerOf the account with this address, if it is here.
 */
async function callAsOwner(
  calls: readonly RelayCall[],
  address: string,
  { provider, signerOf }: { provider: Provider; signerOf: (owner: string) => Promise<Signer | null> },
  say: Say,
): Promise<Omit<RelayResult, "state">> {
  const relay = connectRelay(address, provider);
  const owner = await relay.owner();
  const needed: RelayCall[] = [];
  for (const call of calls) {
    if (await call.isDone(relay)) say(`  nothing to do for ${call.text}`);
    else needed.push(call);
  }
  const signer = needed.length === 0 ? null : await signerOf(owner);
  // In an incident, the owner must see at once what to send.
  if (signer === null) return { relay: address, owner, sent: [], toDo: needed };
  const sent: RelayResult["sent"] = [];
  for (const { text, data, isDone } of needed) {
    const transaction = { name: text, to: address, data, isDone: () => isDone(relay) };
    const receipt = await sendOnce(signer, transaction, say);
    if (receipt === null) continue;
    say(`  done      ${text} in block ${receipt.blockNumber.toString()}`);
    sent.push({ call: text, transactionHash: receipt.hash, blockNumber: receipt.blockNumber });
  }
  return { relay: address, owner, sent, toDo: [] };
}

/** Sends the calls, and reads how the relay is afterwards. */
export async function administerRelay(
  calls: readonly RelayCall[],
  { address, since }: RelayPlace,
  accounts: { provider: Provider; signerOf: (owner: string) => Promise<Signer | null> },
  say: Say,
): Promise<RelayResult> {
  const result = await callAsOwner(calls, address, accounts, say);
  if (result.toDo.length > 0) return { ...result, state: null };
  const { provider } = accounts;
  const relay = connectRelay(address, provider);
  const state = await readRelayState(relay, provider, since).catch((error: unknown) => {
    // What was asked for is done.
    if (calls.length === 0) throw error;
    say("  state     not known: the node does not give the events of the relay");
    return null;
  });
  return { ...result, state };
}

/** The result as lines: what the owner must send, or the state of the relay. */
export function relayLines({ relay, owner, toDo, state }: RelayResult): string[] {
  if (toDo.length > 0)
    return toDo.flatMap(({ text, data }) => [
      `  to do     the owner ${owner} must send to ${relay}: ${text}`,
      `            data ${data}`,
    ]);
  const place = [`  relay     ${relay}`, `  owner     ${owner}`];
  if (state === null) return place;
  return [
    ...place,
    `  state     ${state.paused ? "paused: nothing is sent" : "not paused"}`,
    ...state.operators.map(({ address, balance }) => `  operator  ${address} has ${formatEther(balance)}`),
  ];
}

export const NO_LANE =
  "no lane can send yet: run this again with --operators <addresses>, or with SEED_FILE and SEED_PASSPHRASE set";

/** What the owner of the relay must call so that the lanes of a plan can send, and hosted metadata is at its public URL. */
function callsOf({ operators, hostedBase }: Plan): RelayCall[] {
  return [...operators.map((operator) => setOperatorCall(operator, true)), setHostedBaseCall(hostedBase)];
}

/**
 * Adds the lanes as operators and sets the hosted base URI.
 * @param signer of the deployer; null: it only says what the owner must do.
 * @returns what the relay's owner must send, because this account is not the owner.
 */
export async function administer(
  plan: Plan,
  deployment: Deployment,
  { provider, deployer, signer }: { provider: Provider; deployer: string; signer: Signer | null },
  say: Say,
): Promise<{ owner: string; toDo: RelayCall[] }> {
  const { relay } = deployment;
  const before = await connectRelay(relay, provider).hostedBaseURI();
  const signerOf = (owner: string) => Promise.resolve(owner === deployer ? signer : null);
  const { owner, toDo, sent } = await callAsOwner(callsOf(plan), relay, { provider, signerOf }, say);
  for (const { text } of toDo) say(`  to do     the relay's owner ${owner} must call ${text} on ${relay}`);
  for (const operator of plan.operators) {
    const funds = await provider.getBalance(operator);
    if (funds === 0n) say(`  to do     send funds to ${operator}: this account pays the gas of every batch it sends`);
    else say(`  funds     ${operator} has ${formatEther(funds)} of the native currency`);
  }
  if (plan.operators.length === 0) say(`  to do     ${NO_LANE}`);
  if (sent.some(({ call }) => call === setHostedBaseCall(plan.hostedBase).text))
    say(
      `  hosted    the metadata of all hosted tokens has moved from ${before} to ${plan.hostedBase}. To move it back: --public-url ${before.replace(/\/metadata\/$/, "")}`,
    );
  return { owner, toDo };
}

/** How many calls of the relay are left. @param deployment null: the relay is not there yet */
export async function countCalls(plan: Plan, deployment: Deployment | null, provider: Provider): Promise<number> {
  // The constructor sets the base.
  if (deployment === null) return plan.operators.length;
  const relay = connectRelay(deployment.relay, provider);
  const done = await Promise.all(callsOf(plan).map(({ isDone }) => isDone(relay)));
  return done.filter((each) => !each).length;
}
