import { join } from "node:path";

import { isAddress } from "ethers";
import { z } from "zod";

import { type CollectionKind, STORAGES } from "../domain/command.ts";
import { checksumAddress } from "./values.ts";

/** A contract that makes collections. */
export interface Factory extends CollectionKind {
  address: string;
}

/** Addresses of the service's contracts on one chain (EIP-55). */
export interface ContractAddresses {
  relay: string;
  /** Every factory that ever created collections for this relay. The first one creates the new ones. */
  factories: readonly [Factory, ...Factory[]];
  delegate: string;
  /** Block of the first deployment, or an earlier one, but never 0. No event of the service is older. */
  deployedAt: number;
}

/** In checksum form (EIP-55). */
const account = z.string().refine(isAddress, "not an address").transform(checksumAddress);
/** The factory of 0.2.0 has no `signedBurns`. */
const factory = z.object({ storage: z.enum(STORAGES), signedBurns: z.boolean().default(false), address: account });
/** Contracts in the genesis block have no events there: it has no transactions. */
const firstBlock = z
  .number()
  .int()
  .nonnegative()
  .transform((block) => Math.max(1, block));
const common = { relay: account, delegate: account, deployedAt: firstBlock };

/** The addresses as the database has them, and as the service reads them from a deployment file. */
export const storedAddresses = z.preprocess(
  withFactories,
  z.object({ ...common, factories: z.tuple([factory], factory) }),
);

const deployedFactory = factory.extend({ erc721Implementation: z.string(), erc1155Implementation: z.string() });

/** The content of a deployment file. */
export const deployment = z.preprocess(
  withFactories,
  z.object({
    ...common,
    factories: z.tuple([deployedFactory], deployedFactory),
    /** 0.2.0 wrote it. Never stored. */
    ofOneFactory: z.literal(true).optional(),
  }),
);
export type Deployment = z.infer<typeof deployment>;

/** 0.2.0 had one factory, whose ERC721 collections have OpenZeppelin's storage. */
function withFactories(value: unknown): unknown {
  if (typeof value !== "object" || value === null || !isOfOneFactory(value)) return value;
  const { factory: address, erc721Implementation, erc1155Implementation, ...others } = value;
  const only = { storage: "standard", address, erc721Implementation, erc1155Implementation };
  return { ...others, factories: [only], ofOneFactory: true };
}

function isOfOneFactory(
  value: object,
): value is { factory: unknown; erc721Implementation?: unknown; erc1155Implementation?: unknown } {
  return "factory" in value && !("factories" in value);
}

/** The factory with an address; undefined when none of the service has it. */
export function factoryAt({ factories }: ContractAddresses, address: string): Factory | undefined {
  return factories.find((factory) => factory.address === address);
}

/** The file in which `npm run deploy` records what it deployed on a chain. */
export function deploymentFile(folder: string, chainId: bigint): string {
  return join(folder, `${chainId.toString()}.json`);
}
