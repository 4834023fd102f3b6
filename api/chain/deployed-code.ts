import { getBytes, keccak256 } from "ethers";

import { RELEASED_CODE } from "../../contracts/generated/released-code.ts";
import type { ChainClient } from "./client.ts";
import type { ContractAddresses } from "./contracts.ts";
import { readDeploymentLinks } from "./reads.ts";

/** The code of a contract, as a release deploys it. */
interface Code {
  /** The first release that has it. */
  since: string;
  /** Keccak-256 of the code with zeros for its immutables. */
  hash: string;
  /** Where the immutables are: first byte and length. */
  immutables: readonly (readonly [number, number])[];
}

/** The code of the contracts that the service calls by their addresses, of all releases. */
export type ReleasedCode = Record<"Relay" | "CollectionFactory" | "WalletDelegate", readonly Code[]>;

/** A contract that is not one of Moneta's, or that belongs to another relay. */
export interface StrangeContract {
  name: "relay" | "factory" | "delegate";
  address: string;
  /** Keccak-256 of its code. */
  hash: string;
  /** The relay that it names, if that is another one; null: its code is unknown. */
  relay: string | null;
}

/**
 * The contracts whose code no release has, and those that belong to another relay.
 * @param allowed hashes of code that the operator trusts besides.
 */
export async function strangeContracts(
  client: ChainClient,
  contracts: ContractAddresses,
  allowed: readonly string[],
): Promise<StrangeContract[]> {
  const { relay, factories, delegate } = contracts;
  const found = [
    { name: "relay", address: relay, codes: RELEASED_CODE.Relay },
    ...factories.map(({ address }) => ({ name: "factory", address, codes: RELEASED_CODE.CollectionFactory }) as const),
    { name: "delegate", address: delegate, codes: RELEASED_CODE.WalletDelegate },
  ] as const;
  const code = await client.code(found.map(({ address }) => address));
  const unknown = found.flatMap(({ name, address, codes }, index): StrangeContract[] => {
    const its = code[index] ?? "0x";
    const hash = keccak256(its);
    return allowed.includes(hash) || codes.some((known) => isCode(its, known))
      ? []
      : [{ name, address, hash, relay: null }];
  });
  if (unknown.length > 0) return unknown;
  // Code that is known answers truly.
  const links = await readDeploymentLinks(client, contracts);
  const named = [null, ...links.factories.map((factory) => factory.relay), links.delegateRelay];
  return found.flatMap(({ name, address }, index): StrangeContract[] => {
    const other = named[index] ?? null;
    return other === null || other === relay
      ? []
      : [{ name, address, hash: keccak256(code[index] ?? "0x"), relay: other }];
  });
}

function isCode(code: string, { hash, immutables }: Code): boolean {
  const bytes = getBytes(code);
  for (const [start, length] of immutables) bytes.fill(0, start, start + length);
  return keccak256(bytes) === hash;
}
