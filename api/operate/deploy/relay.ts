import { formatEther, getAddress, isAddress, type Provider, type Signer } from "ethers";

import {
  cancelCall,
  connectRelay,
  pauseCall,
  readRelayState,
  type RelayCall,
  type RelayState,
  setOperatorCall,
  unpauseCall,
} from "../../chain/relay-administration.ts";
import { OperatorError } from "../operator-error.ts";
import type { Say } from "./announce.ts";
import { readDeploymentFile } from "./journal.ts";
import { readAddress } from "./plan.ts";
import { hasCode, MINED_WITHIN } from "./transactions.ts";

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
    calls: () => [pauseCall()],
  },
  unpause: {
    description: "Let batches run again. What waited is sent.",
    values: null,
    calls: () => [unpauseCall()],
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
export async function administerRelay(
  calls: readonly RelayCall[],
  { address, since }: RelayPlace,
  { provider, signerOf }: { provider: Provider; signerOf: (owner: string) => Promise<Signer | null> },
  say: Say,
): Promise<RelayResult> {
  const relay = connectRelay(address, provider);
  const owner = await relay.owner();
  const needed: RelayCall[] = [];
  for (const call of calls) {
    if (await call.isDone(relay)) say(`  nothing to do for ${call.text}`);
    else needed.push(call);
  }
  const signer = needed.length === 0 ? null : await signerOf(owner);
  // In an incident, the owner must see at once what to send.
  if (needed.length > 0 && signer === null) return { relay: address, owner, sent: [], toDo: needed, state: null };
  const sent: RelayResult["sent"] = [];
  for (const { text, data } of needed) {
    const transaction = await signer?.sendTransaction({ to: address, data });
    say(`  sent      ${text} in ${transaction?.hash ?? ""}`);
    const receipt = await transaction?.wait(1, MINED_WITHIN);
    if (receipt == null) throw new Error(`${text} was sent, and has no receipt`);
    say(`  done      block ${receipt.blockNumber.toString()}`);
    sent.push({ call: text, transactionHash: receipt.hash, blockNumber: receipt.blockNumber });
  }
  const state = await readRelayState(relay, provider, since).catch((error: unknown) => {
    // What was asked for is done.
    if (calls.length === 0) throw error;
    say("  state     not known: the node does not give the events of the relay");
    return null;
  });
  return { relay: address, owner, sent, toDo: [], state };
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
