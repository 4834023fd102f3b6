import { getAddress, ZeroAddress } from "ethers";

import { abi } from "./abi.ts";
import { addressOf, boolOf, stringOf } from "./call-results.ts";
import type { ChainClient } from "./client.ts";
import type { ContractAddresses } from "./contracts.ts";

interface NamedContract {
  name: "relay" | "factory" | "delegate";
  address: string;
}

/** The service's contracts that have no code on this chain. */
export async function contractsWithoutCode(
  client: ChainClient,
  { relay, factories, delegate }: ContractAddresses,
): Promise<NamedContract[]> {
  const contracts: NamedContract[] = [
    { name: "relay", address: relay },
    ...factories.map(({ address }) => ({ name: "factory" as const, address })),
    { name: "delegate", address: delegate },
  ];
  const codes = await client.code(contracts.map(({ address }) => address));
  return contracts.filter((_, index) => (codes[index] ?? "0x") === "0x");
}

/** Calls of a factory that answer what it uses. */
const LINKS = [
  abi.factory.encodeFunctionData("relay"),
  abi.factory.encodeFunctionData("erc721Implementation"),
  abi.factory.encodeFunctionData("erc1155Implementation"),
];

/**
 * How the deployed contracts point at each other and at this service. Null: the contract did not answer. `erc721Relay` and
 * `erc1155Relay` are the relays of the implementations that a factory uses.
 */
export async function readDeploymentLinks(client: ChainClient, { relay, factories, delegate }: ContractAddresses) {
  const [hostedBase, delegateRelay, ...answers] = await client.tryCalls([
    { to: relay, data: abi.relay.encodeFunctionData("hostedBaseURI") },
    { to: delegate, data: abi.delegate.encodeFunctionData("relay") },
    ...factories.flatMap(({ address: to }) => LINKS.map((data) => ({ to, data }))),
  ]);
  const found = factories.map((factory, index) => {
    const [itsRelay, erc721, erc1155] = LINKS.map((_, link) => addressOf(answers[index * LINKS.length + link]));
    return { factory, relay: itsRelay ?? null, implementations: [erc721 ?? null, erc1155 ?? null] };
  });
  // The zero address has no code and answers nothing.
  const relays = await client.tryCalls(
    found
      .flatMap(({ implementations }) => implementations)
      .map((to) => ({ to: to ?? ZeroAddress, data: abi.erc721.encodeFunctionData("relay") })),
  );
  return {
    factories: found.map(({ factory, relay }, index) => ({
      factory,
      relay,
      erc721Relay: addressOf(relays[2 * index]),
      erc1155Relay: addressOf(relays[2 * index + 1]),
    })),
    delegateRelay: addressOf(delegateRelay),
    hostedBase: stringOf(hostedBase),
  };
}

/**
 * Whether the relay takes batches now, and from which of the accounts, in the order asked. Null: no relay answers, or the node
 * could not run the call.
 */
export async function readRelayStatus(client: ChainClient, relay: string, accounts: string[]) {
  const [paused, ...operators] = await client.tryCalls([
    { to: relay, data: abi.relay.encodeFunctionData("paused") },
    ...accounts.map((account) => ({ to: relay, data: abi.relay.encodeFunctionData("isOperator", [account]) })),
  ]);
  return { paused: boolOf(paused), operators: operators.map(boolOf) };
}

/**
 * Whether the relay has consumed each request number, in the order asked. Null: the node does not say.
 * @param block state to read; the newest one when absent.
 */
export async function readConsumed(
  client: ChainClient,
  relay: string,
  numbers: bigint[],
  block?: number,
): Promise<(boolean | null)[]> {
  const calls = numbers.map((number) => ({ to: relay, data: abi.relay.encodeFunctionData("isConsumed", [number]) }));
  return (await client.tryCalls(calls, block)).map(boolOf);
}

/** Owner of the relay now. Null: no relay answers, or the node could not run the call. */
export async function readRelayOwner(client: ChainClient, relay: string): Promise<string | null> {
  const [owner] = await client.tryCalls([{ to: relay, data: abi.relay.encodeFunctionData("owner") }]);
  return addressOf(owner);
}

/** Owners of collections at the end of a block. Null: the node no longer has the state of that block. */
export async function readCollectionOwners(
  client: ChainClient,
  collections: readonly string[],
  block: number,
): Promise<(string | null)[]> {
  const data = abi.erc721.encodeFunctionData("owner");
  const owners = await client.tryCalls(
    collections.map((to) => ({ to, data })),
    block,
  );
  return collections.map((_, index) => addressOf(owners[index]));
}

/**
 * Collections whose owner took the relay's right to mint away, as of a block, and whether another node says the same. A missing
 * answer does not count, and neither does one that another node contradicts.
 */
export async function collectionsWithoutMinter(
  client: ChainClient,
  collections: string[],
  relay: string,
  block: number,
): Promise<Map<string, { confirmed: boolean }>> {
  const found = [...(await withoutMinter(client, collections, relay, block))];
  if (found.length === 0) return new Map();
  const again = await client.secondAt(block, () => withoutMinter(client, found, relay, block));
  return new Map((again === null ? found : [...again]).map((one) => [one, { confirmed: again !== null }]));
}

async function withoutMinter(
  client: ChainClient,
  collections: string[],
  relay: string,
  block: number,
): Promise<Set<string>> {
  const data = abi.erc721.encodeFunctionData("isMinter", [relay]);
  const answers = await client.tryCalls(
    collections.map((to) => ({ to, data })),
    block,
  );
  return new Set(collections.filter((_, index) => boolOf(answers[index]) === false));
}

/** Code of an account that delegates to a contract (EIP-7702): this prefix, then the contract's address. */
const PREFIX = "0xef0100";
const LENGTH = PREFIX.length + 40;

/** The contract whose code an account runs; null when the account does not delegate. */
export function delegateOf(code: string): string | null {
  const lower = code.toLowerCase();
  return lower.startsWith(PREFIX) && lower.length === LENGTH ? getAddress(`0x${lower.slice(PREFIX.length)}`) : null;
}

/**
 * Whose code accounts run, as each node that answers says. Null: nobody's. `contract`: the account is a contract; else the address of
 * the contract to which it has delegated.
 */
export async function delegatesOf(
  client: ChainClient,
  accounts: readonly string[],
): Promise<Map<string, (string | null)[]>> {
  if (accounts.length === 0) return new Map();
  const answers = await client.nodes.each(() => client.code([...accounts]));
  const named = (code: string) => (code === "0x" ? null : (delegateOf(code) ?? "contract"));
  return new Map(accounts.map((account, index) => [account, answers.map((codes) => named(codes[index] ?? "0x"))]));
}

/** Wallets that do not run the delegate's code yet. */
export async function walletsToDelegate(client: ChainClient, wallets: string[], delegate: string): Promise<string[]> {
  const codes = await client.code(wallets);
  return wallets.filter((_, index) => delegateOf(codes[index] ?? "0x") !== delegate);
}

/** Accounts with code that is not the service's: a receiver hook may run there. */
export async function accountsWithForeignCode(
  client: ChainClient,
  accounts: string[],
  delegate: string,
): Promise<Set<string>> {
  const codes = await client.code(accounts);
  return new Set(
    accounts.filter((_, index) => {
      const code = codes[index] ?? "0x";
      return code !== "0x" && delegateOf(code) !== delegate;
    }),
  );
}

/** The code of a minimal proxy (EIP-1167), around the address of the contract that it runs. Its arguments follow. */
const CLONE = /^0x363d3d373d3d3d363d73([0-9a-f]{40})5af43d82803e903d91602b57fd5bf3/;

/** The contract whose code a clone runs. Null: the address has no code, or that of something else. */
export async function readCloneTarget(
  client: Pick<ChainClient, "code">,
  clone: string,
  abort: AbortSignal,
): Promise<string | null> {
  const [code = "0x"] = await client.code([clone], abort);
  const [, target] = CLONE.exec(code.toLowerCase()) ?? [];
  return target === undefined ? null : getAddress(`0x${target}`);
}
