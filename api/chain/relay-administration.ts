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

export const PAUSE: RelayCall = {
  text: "pause()",
  data: relayAbi.encodeFunctionData("pause"),
  isDone: (relay) => relay.paused(),
};

export const UNPAUSE: RelayCall = {
  text: "unpause()",
  data: relayAbi.encodeFunctionData("unpause"),
  isDone: async (relay) => !(await relay.paused()),
};

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

/** The largest range of blocks that is asked for. */
const WIDEST = 1_000_000;

/**
 * The relay now. Its operators are found by its events: the contract has no list of them.
 * @param since block of the relay's deployment, or an earlier one.
 * @throws Error of the provider, also when it does not even give the events of a single block.
 */
export async function readRelayState(relay: Relay, provider: Provider, since: number): Promise<RelayState> {
  const paused = await relay.paused();
  const head = await provider.getBlockNumber();
  const found = new Set<string>();
  const width = new AdaptiveSize(WIDEST);
  for (let from = since; from <= head;) {
    const to = Math.min(head, from + width.value - 1);
    const blocks = to - from + 1;
    try {
      for (const { args } of await relay.queryFilter(relay.filters.OperatorSet(), from, to)) {
        if (args.allowed) found.add(args.operator);
        else found.delete(args.operator);
      }
      from = to + 1;
      width.accepted(blocks);
    } catch (error) {
      // Each provider has its own limit. A range of one block that fails has another cause.
      if (!width.refused(blocks)) throw error;
    }
  }
  const operators: RelayState["operators"] = [];
  for (const address of found) operators.push({ address, balance: await provider.getBalance(address) });
  return { paused, operators };
}
