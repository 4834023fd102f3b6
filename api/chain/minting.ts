import { getAddress, hexlify, id, Interface, keccak256, randomBytes, toBeHex, ZeroAddress, ZeroHash } from "ethers";

import type { CollectionType, Mint } from "../domain/command.ts";
import { NEXT_ID } from "../domain/token.ts";
import { addressOf, boolOf, type CallAnswer } from "./call-results.ts";
import type { ChainClient, ContractCall } from "./client.ts";
import { revertText } from "./codec/decode.ts";
import { uintWord } from "./codec/encode.ts";
import { MINT_FUNCTIONS, type MintFunction } from "./codec/mint-function.ts";
import { ChainUnavailable } from "./errors.ts";
import { askContract, boundedCalls, type CallBounds, textOf } from "./foreign.ts";

/* Minting into contracts that others deployed: what the relay may do there, and what the contract is. */

/** Where proxies have the address of their code, of the contract that names it, and of their administrator (EIP-1967). */
const [IMPLEMENTATION, BEACON, ADMIN] = ["implementation", "beacon", "admin"].map((name) =>
  toBeHex(BigInt(id(`eip1967.proxy.${name}`)) - 1n, 32),
) as [string, string, string];

const functions = new Interface([
  "function owner() view returns (address)",
  "function implementation() view returns (address)",
  "function supportsInterface(bytes4 id) view returns (bool)",
  "function hasRole(bytes32 role, address account) view returns (bool)",
  "function getRoleAdmin(bytes32 role) view returns (bytes32)",
  "function grantRole(bytes32 role, address account)",
  "function isAdmin(address account) view returns (bool)",
  "function getExtensions() view returns (address[])",
  "function registerExtension(address extension, string baseURI)",
]);

const ACCESS_CONTROL = "0x7965db0b";
const MINTER = id("MINTER_ROLE");
/** The other roles of the known families. */
const ROLES = "PAUSER UPGRADER URI_SETTER BURNER METADATA TRANSFER REVOKE FACTORY OPERATOR EXTENSION MIGRATION"
  .split(" ")
  .map((name) => `${name}_ROLE`);

/** What must stay as it was confirmed so that the service mints into a contract of others. */
export interface MintingFacts {
  /** Keccak-256 of the contract's code. */
  code_hash: string;
  /** The contract whose code a proxy runs (EIP-1967, also through a beacon); null: it is no such proxy. */
  implementation: string | null;
  /** `owner()`; the zero address: it names none. */
  owner: string;
}

/** What has changed, in words; null: nothing. */
function changeOf(confirmed: MintingFacts, now: MintingFacts): string | null {
  if (confirmed.code_hash !== now.code_hash) return "The code of the contract has changed.";
  if (confirmed.implementation !== now.implementation)
    return `The contract runs the code of ${now.implementation ?? "no other contract"} now, and of ${confirmed.implementation ?? "no other contract"} before.`;
  if (confirmed.owner !== now.owner) return `The contract has a new owner: ${now.owner}.`;
  return null;
}

/** Gas for `owner()` or `implementation()`. */
const OWNER_GAS = 200_000;

/**
 * What would make of each contract something else than what was confirmed, if it changed; null: the node could not tell. In the order
 * of the contracts. @param block its number; absent: the newest.
 */
export async function mintingFacts(
  client: ChainClient,
  contracts: string[],
  block?: number,
): Promise<(MintingFacts | null)[]> {
  if (contracts.length === 0) return [];
  const [codes, implementations, beacons] = await Promise.all([
    client.code(contracts, undefined, block),
    client.storage(contracts, IMPLEMENTATION, undefined, block),
    client.storage(contracts, BEACON, undefined, block),
  ]);
  const pointed = beacons.map((beacon) => addressOf(beacon) ?? ZeroAddress);
  const calls = [...contracts.map((to) => callOf(to, "owner")), ...pointed.map((to) => callOf(to, "implementation"))];
  const bounds = { gas: OWNER_GAS, ...(block === undefined ? {} : { block }) };
  const answers = (await boundedCalls(client, calls, bounds)).map(textOf);
  return contracts.map((_, index) => {
    const [own, ofBeacon] = [answers[index], answers[contracts.length + index]];
    if (own === undefined || ofBeacon === undefined) return null;
    const implementation = addressOf(pointed[index] === ZeroAddress ? implementations[index] : ofBeacon);
    return {
      code_hash: keccak256(codes[index] ?? "0x"),
      implementation: implementation === ZeroAddress ? null : implementation,
      owner: addressOf(own) ?? ZeroAddress,
    };
  });
}

function callOf(to: string, name: string, ...args: unknown[]): ContractCall {
  return { to, data: functions.encodeFunctionData(name, args) };
}

/**
 * The contracts that are not what was confirmed any more, as of a block: why, and whether another node says the same. What another
 * node contradicts does not count. `unknown`: the node could not tell.
 */
export async function changedContracts(
  client: ChainClient,
  confirmed: readonly (MintingFacts & { contract: string })[],
  block: number,
): Promise<Map<string, { reason: string; confirmed: boolean } | "unknown">> {
  const rows = new Map(confirmed.map((row) => [row.contract, row]));
  /** null: the node could not tell. */
  const changesOf = async (contracts: string[]) => {
    const facts = await mintingFacts(client, contracts, block);
    const changes = new Map<string, string | null>();
    for (const [index, contract] of contracts.entries()) {
      const [row, now = null] = [rows.get(contract), facts[index]];
      const reason = row === undefined || now === null ? null : changeOf(row, now);
      if (now === null || reason !== null) changes.set(contract, reason);
    }
    return changes;
  };
  const found = await changesOf([...rows.keys()]);
  const changed = [...found].flatMap(([contract, reason]) => (reason === null ? [] : [contract]));
  const again = changed.length === 0 ? null : await client.secondAt(block, () => changesOf(changed));
  const result = new Map<string, { reason: string; confirmed: boolean } | "unknown">();
  for (const [contract, reason] of found) {
    if (reason === null) result.set(contract, "unknown");
    else if (again?.has(contract) !== false) result.set(contract, { reason, confirmed: again?.get(contract) != null });
  }
  return result;
}

/** A contract into which the relay shall mint. */
export interface MintSubject {
  contract: string;
  type: CollectionType;
  relay: string;
  /** Ids of the contract, which may be the only ones that it mints copies of. */
  known: readonly string[];
}

/** The rights that the relay has in a contract and must not have, in words. @throws ChainUnavailable */
export async function excessRights(client: ChainClient, subject: MintSubject, bounds: CallBounds): Promise<string[]> {
  const { contract, relay } = subject;
  const ask = (name: string, ...args: unknown[]) => askContract(client, callOf(contract, name, ...args), bounds);
  const has = async (role: string) => boolOf(await ask("hasRole", role, relay)) === true;
  const excess: string[] = [];
  if (addressOf(await ask("owner")) === relay) excess.push("it is the owner()");
  const [admin] = await client.storage([contract], ADMIN, bounds.abort);
  if (addressOf(admin) === relay) excess.push("it is the administrator of the proxy (EIP-1967)");
  if (boolOf(await ask("isAdmin", relay)) === true) excess.push("it is an admin (isAdmin)");
  if (await has(ZeroHash)) excess.push("it has the role DEFAULT_ADMIN_ROLE");
  const adminOfMinters = await ask("getRoleAdmin", MINTER);
  if (adminOfMinters?.length === 66 && adminOfMinters !== ZeroHash && (await has(adminOfMinters)))
    excess.push("it has the role that appoints minters");
  for (const role of ROLES) if (await has(id(role))) excess.push(`it has the role ${role}`);
  return excess;
}

/**
 * The right of the relay to call a function that mints. `isKnown`: it has it, by the rules of a known family. `grant`: the call by which
 * it gets it, in words; null: it has it, or nobody can tell.
 * @throws ChainUnavailable
 */
export async function rightToMint(
  client: ChainClient,
  { contract, relay }: MintSubject,
  { text, signature }: MintFunction,
  bounds: CallBounds,
): Promise<{ isKnown: boolean; grant: string | null }> {
  const ask = (name: string, ...args: unknown[]) => askContract(client, callOf(contract, name, ...args), bounds);
  const isKnown = Object.values(MINT_FUNCTIONS).flat().includes(text);
  const isExtension = isKnown && signature.startsWith("mintExtension");
  const has = isExtension
    ? extensionsIn(await ask("getExtensions"))?.includes(relay)
    : boolOf(await ask("supportsInterface", ACCESS_CONTROL)) === true
      ? boolOf(await ask("hasRole", MINTER, relay)) === true
      : undefined;
  if (has !== false) return { isKnown: isKnown && has === true, grant: null };
  const [name, ...args] = isExtension ? ["registerExtension", relay, ""] : ["grantRole", MINTER, relay];
  const { data } = callOf(contract, name, ...args);
  return { isKnown: false, grant: `${functions.getFunction(name)?.format() ?? ""} of ${contract}, data ${data}` };
}

function extensionsIn(answer: CallAnswer): string[] | null {
  if (answer == null) return null;
  try {
    return [...(functions.decodeFunctionResult("getExtensions", answer)[0] as Iterable<string>)];
  } catch {
    // A contract may answer in any shape.
    return null;
  }
}

/**
 * Tries a mint without sending it, to an address that nobody has, as the relay would call it: with a request number after the
 * arguments, which the contract must ignore.
 * @returns null when it would work; otherwise why not. @throws ChainUnavailable
 */
export async function tryMint(
  client: ChainClient,
  { contract, type, relay, known }: MintSubject,
  minting: MintFunction,
  bounds: CallBounds,
): Promise<string | null> {
  const to = getAddress(hexlify(randomBytes(20)));
  let reason = "The contract answers nothing.";
  const unused = BigInt(hexlify(randomBytes(15))).toString();
  for (const tokenId of type === "ERC721" ? [unused] : [unused, NEXT_ID, ...known]) {
    const data = minting.encode(probe(type, contract, to, tokenId, minting));
    const calls = ["", uintWord(BigInt(unused))].map((number) => ({ from: relay, to: contract, data: data + number }));
    const [plain, numbered] = await boundedCalls(client, calls, bounds);
    if (plain === "unknown" || numbered === "unknown") throw new ChainUnavailable("the node could not run the mint");
    if (typeof plain === "object" && "reverted" in plain) reason = revertText(plain.reverted);
    else if (plain === "failed" || plain === undefined)
      reason = "The call uses too much gas, or answers too many bytes.";
    else if (textOf(numbered) !== plain.returned)
      return "The contract reads more than its arguments: the request number after them changes what it does.";
    else return null;
  }
  return reason;
}

function probe(type: CollectionType, collection: string, to: string, tokenId: string, { takes }: MintFunction): Mint {
  const adopted = { tokenId: takes.has("token_id") ? tokenId : null, uri: takes.has("uri") ? "ipfs://" : null };
  if (type === "ERC721") return { kind: "mint-erc721", collection, to, metadata: null, adopted };
  return { kind: "mint-erc1155", collection, to, tokenId, quantity: "1", adopted };
}
