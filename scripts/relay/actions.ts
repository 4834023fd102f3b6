import { getAddress, isAddress } from "ethers";

import { Relay__factory } from "../../contracts/generated/factories/Relay__factory.ts";

/** One call of the relay. */
export interface RelayCall {
  /** As Solidity writes it, with its values. */
  text: string;
  data: string;
}

interface Action {
  /** What the values are; null: the action takes none. */
  values: string | null;
  calls: (values: readonly string[]) => RelayCall[];
}

const relay = Relay__factory.createInterface();

/** What the relay's owner can ask for. `status` reads and calls nothing. */
const ACTIONS: Readonly<Record<string, Action>> = {
  status: { values: null, calls: () => [] },
  pause: { values: null, calls: () => [{ text: "pause()", data: relay.encodeFunctionData("pause") }] },
  unpause: { values: null, calls: () => [{ text: "unpause()", data: relay.encodeFunctionData("unpause") }] },
  "add-operator": { values: "addresses", calls: (values) => values.map((text) => setOperator(text, true)) },
  "remove-operator": { values: "addresses", calls: (values) => values.map((text) => setOperator(text, false)) },
  cancel: { values: "request numbers", calls: (values) => [cancel(values.map(number))] },
};

/** @throws Error that names the wrong word of the command line. */
export function readAction(name: string, values: readonly string[]): RelayCall[] {
  const action = ACTIONS[name];
  if (action === undefined) {
    throw new Error(`${name} is not an action. The actions are: ${Object.keys(ACTIONS).join(", ")}.`);
  }
  if (action.values === null && values.length > 0) {
    throw new Error(`${name} takes no values, but was given: ${values.join(" ")}`);
  }
  if (action.values !== null && values.length === 0) throw new Error(`${name} needs ${action.values}.`);
  return action.calls(values);
}

function setOperator(text: string, allowed: boolean): RelayCall {
  const given: unknown = text;
  if (!isAddress(given)) throw new Error(`${text} is not an address. An address is 0x and 40 hexadecimal digits.`);
  const operator = getAddress(text);
  return {
    text: `setOperator(${operator}, ${String(allowed)})`,
    data: relay.encodeFunctionData("setOperator", [operator, allowed]),
  };
}

function cancel(numbers: bigint[]): RelayCall {
  return { text: `cancel([${numbers.join(", ")}])`, data: relay.encodeFunctionData("cancel", [numbers]) };
}

function number(text: string): bigint {
  if (!/^\d{1,78}$/.test(text) || BigInt(text) >= 2n ** 256n) {
    throw new Error(`${text} is not a request number. \`npm run cli -- request show <id>\` prints it.`);
  }
  return BigInt(text);
}
