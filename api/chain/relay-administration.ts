import type { ContractRunner, Provider } from "ethers";

import { Relay__factory } from "../../contracts/generated/factories/Relay__factory.ts";
import type { Relay } from "../../contracts/generated/Relay.ts";
import { AdaptiveSize } from "../shared/adaptive-size.ts";

/** One call of the relay that only its owner may make; operators may `cancel`, too. */
export interface RelayCall {
  /** As Solidity writes it, with its values. */
  text: string;
  data: string;
  /** Whether the relay is as the call would make it. Then the call is not needed, and some of them would revert. */
  isDone: (relay: Relay) => Promise<boolean>;
}

const relayAbi = Relay__factory.createInterface();

export function pauseCall(): RelayCall {
  return { text: "pause()", data: relayAbi.encodeFunctionData("pause"), isDone: (relay) => relay.paused() };
}

export function unpauseCall(): RelayCall {
  const isDone = async (relay: Relay) => !(await relay.paused());
  return { text: "unpause()", data: relayAbi.encodeFunctionData("unpause"), isDone };
}

export function setOperatorCall(operator: string, allowed: boolean): RelayCall {
  return {
    text: `setOperator(${operator}, ${String(allowed)})`,
    data: relayAbi.encodeFunctionData("setOperator", [operator, allowed]),
    isDone: async (relay) => (await relay.isOperator(operator)) === allowed,
  };
}

/** @param base URI of the metadata of hosted tokens, with a slash at its end. */
export function setHostedBaseCall(base: string): RelayCall {
  return {
    text: `setHostedBaseURI("${base}")`,
    data: relayAbi.encodeFunctionData("setHostedBaseURI", [base]),
    isDone: async (relay) => (await relay.hostedBaseURI()) === base,
  };
}

/** @param numbers of requests that must never run. */
export function cancelCall(numbers: bigint[]): RelayCall {
  return {
    text: `cancel([${numbers.join(", ")}])`,
    data: relayAbi.encodeFunctionData("cancel", [numbers]),
    isDone: async (relay) => (await Promise.all(numbers.map((number) => relay.isConsumed(number)))).every(Boolean),
  };
}

export function connectRelay(address: string, runner: ContractRunner): Relay {
  return Relay__factory.connect(address, runner);
}

export interface RelayState {
  paused: boolean;
  /** Balances are in wei. */
  operators: { address: string; balance: bigint }[];
}

/**
 * @param since block of the relay's deployment, or an earlier one.
 * @throws Error of the provider, also when it does not give the events of the relay.
 */
export async function readRelayState(relay: Relay, provider: Provider, since: number): Promise<RelayState> {
  const paused = await relay.paused();
  const operators: RelayState["operators"] = [];
  for (const operator of await currentOperators(relay, provider, since))
    operators.push({ address: operator, balance: await provider.getBalance(operator) });
  return { paused, operators };
}

/** The largest range of blocks that is asked for. */
const WIDEST = 1_000_000;

/**
 * All operators of the relay now, found by its events: the contract has no list of them.
 * @throws Error of the provider, when it does not even answer for a single block.
 */
async function currentOperators(relay: Relay, provider: Provider, since: number): Promise<string[]> {
  const head = await provider.getBlockNumber();
  const operators = new Set<string>();
  const width = new AdaptiveSize(WIDEST);
  for (let from = since; from <= head;) {
    const to = Math.min(head, from + width.value - 1);
    const blocks = to - from + 1;
    try {
      for (const { args } of await relay.queryFilter(relay.filters.OperatorSet(), from, to)) {
        if (args.allowed) operators.add(args.operator);
        else operators.delete(args.operator);
      }
      from = to + 1;
      width.accepted(blocks);
    } catch (error) {
      // Each provider has its own limit. A range of one block that fails has another cause.
      if (!width.refused(blocks)) throw error;
    }
  }
  return [...operators];
}
