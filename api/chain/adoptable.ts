import { dataSlice, getAddress, Interface, recoverAddress, TypedDataEncoder, ZeroAddress, ZeroHash } from "ethers";

import type { AdoptableContract } from "../domain/followed-contract.ts";
import { addressOf, boolOf, wordOf } from "./call-results.ts";
import type { ChainClient } from "./client.ts";
import type { ContractAddresses } from "./contracts.ts";
import { monetaDomain } from "./codec/encode.ts";
import { RpcError } from "./errors.ts";
import { askContract, type CallBounds, inspect, nameOf } from "./foreign.ts";

/** The functions that an adopted contract may have: of the EIPs 721, 173, 1271, and of OpenZeppelin's AccessControl. */
const functions = new Interface([
  "function symbol() view returns (string)",
  "function owner() view returns (address)",
  "function totalSupply() view returns (uint256)",
  "function hasRole(bytes32 role, address account) view returns (bool)",
  "function isValidSignature(bytes32 hash, bytes signature) view returns (bytes4)",
]);
const VALID = functions.getFunction("isValidSignature")?.selector ?? "";

/** @returns null: it is no ERC721 or ERC1155 contract. @throws ChainUnavailable when the node could not tell */
export async function describeContract(
  client: ChainClient,
  address: string,
  bounds: CallBounds,
): Promise<AdoptableContract | null> {
  const block = await client.headNumber();
  const known = await inspect(client, address, bounds);
  if (known === null) return null;
  const ask = (name: string) => askContract(client, { to: address, data: functions.encodeFunctionData(name) }, bounds);
  const [symbol, owner, supply] = [await ask("symbol"), await ask("owner"), await ask("totalSupply")];
  return {
    type: known.type,
    name: known.name ?? "",
    symbol: nameOf(symbol) ?? "",
    owner: addressOf(owner) ?? ZeroAddress,
    totalSupply: wordOf(supply)?.toString() ?? null,
    block,
  };
}

/** What the owner of a contract signs, with the chain and the relay, so that an app may adopt it. */
export interface Permission {
  contract: string;
  /** Id of the app. */
  app: string;
  /** 32 random bytes, hex. */
  nonce: string;
  /** Seconds since 1970. */
  expiry: number;
}

/** The type of the text, in the form of EIP-712. */
export const ADOPTION_TYPES = {
  AdoptCollection: [
    { name: "contract", type: "address" },
    { name: "app", type: "string" },
    { name: "relay", type: "address" },
    { name: "nonce", type: "bytes32" },
    { name: "expiry", type: "uint256" },
  ],
};

/** A text to sign, in the form of `eth_signTypedData_v4` (EIP-712). */
export type TypedText = Record<"types" | "domain" | "primaryType" | "message", unknown>;

/** Looks at contracts that apps want to adopt. Every call has limits for gas and size. @throws ChainUnavailable, RpcError */
export interface Adoptables {
  /** Whether the contract is one of the service: a relay, a factory, or the delegate. */
  isOwn(address: string): boolean;
  /** null: it is no ERC721 or ERC1155 contract. */
  describe(address: string, abort: AbortSignal): Promise<AdoptableContract | null>;
  text(permission: Permission): TypedText;
  isPermitted(
    asked: { owner: string; permission: Permission },
    signed: { signer: string; signature: string },
    abort: AbortSignal,
  ): Promise<boolean>;
  /** The block that has the contract first; 0 when the node does not have the old states. */
  firstBlock(address: string, abort: AbortSignal): Promise<number>;
}

export function createAdoptables(
  client: ChainClient,
  { chainId, contracts }: { chainId: bigint; contracts: ContractAddresses },
  gas: number,
): Adoptables {
  const { relay, delegate, factories } = contracts;
  const own = new Set([relay, delegate, ...factories.map(({ address }) => address)]);
  const domain = monetaDomain(chainId, relay);
  const messageOf = (permission: Permission) => ({ ...permission, relay });
  return {
    isOwn: (address) => own.has(address),
    describe: (address, abort) => client.nodes.session(() => describeContract(client, address, { gas, abort })),
    text: (permission) => TypedDataEncoder.getPayload(domain, ADOPTION_TYPES, messageOf(permission)) as TypedText,
    isPermitted: ({ owner, permission }, signed, abort) => {
      const digest = TypedDataEncoder.hash(domain, ADOPTION_TYPES, messageOf(permission));
      const subject = { contract: permission.contract, owner, digest };
      return client.nodes.session(() => isPermitted(client, subject, signed, { gas, abort }));
    },
    firstBlock: (address, abort) => firstBlockOf(client, address, abort),
  };
}

/**
 * Whether the signer may permit it, and has: the contract's owner, or an account with its role DEFAULT_ADMIN_ROLE (AccessControl).
 * An account with code is asked itself (ERC-1271).
 * @throws ChainUnavailable when the node could not tell
 */
async function isPermitted(
  client: ChainClient,
  { contract, owner, digest }: { contract: string; owner: string; digest: string },
  { signer, signature }: { signer: string; signature: string },
  bounds: CallBounds,
): Promise<boolean> {
  if (signer !== owner) {
    const hasRole = async (account: string) => {
      const data = functions.encodeFunctionData("hasRole", [ZeroHash, account]);
      return boolOf(await askContract(client, { to: contract, data }, bounds)) === true;
    };
    // A contract that says it of any address, such as one that nobody could choose, says nothing.
    if (!(await hasRole(signer)) || (await hasRole(getAddress(dataSlice(digest, 0, 20))))) return false;
  }
  if (signerOf(digest, signature) === signer) return true;
  const data = functions.encodeFunctionData("isValidSignature", [digest, signature]);
  const answer = await askContract(client, { to: signer, data }, bounds);
  return answer?.toLowerCase() === VALID.padEnd(2 + 64, "0");
}

function signerOf(digest: string, signature: string): string | null {
  try {
    return recoverAddress(digest, signature);
  } catch {
    // A contract may have signatures of any other form.
    return null;
  }
}

async function firstBlockOf(client: ChainClient, address: string, abort: AbortSignal): Promise<number> {
  try {
    return await client.nodes.session(async () => {
      let [without, has] = [-1, await client.headNumber()];
      while (has - without > 1) {
        const middle = without + Math.floor((has - without) / 2);
        const [code] = await client.code([address], abort, middle);
        if (code === "0x") without = middle;
        else has = middle;
      }
      return has;
    });
  } catch (error) {
    if (error instanceof RpcError) return 0;
    throw error;
  }
}
