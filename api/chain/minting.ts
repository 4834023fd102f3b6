import { getAddress, hexlify, id, Interface, keccak256, randomBytes, toBeHex, ZeroAddress, ZeroHash } from "ethers";

import type { CollectionType, Mint } from "../domain/command.ts";
import { addressOf, boolOf, type CallAnswer } from "./call-results.ts";
import type { ChainClient } from "./client.ts";
import { revertText } from "./codec/decode.ts";
import { uintWord } from "./codec/encode.ts";
import { MINT_FUNCTIONS, type MintFunction } from "./codec/mint-function.ts";
import { ChainUnavailable } from "./errors.ts";
import { boundedCalls, type CallBounds, textOf } from "./foreign.ts";

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
const ROLES = [
  ...[
    "PAUSER_ROLE",
    "UPGRADER_ROLE",
    "URI_SETTER_ROLE",
    "BURNER_ROLE",
    "METADATA_ROLE",
    "TRANSFER_ROLE",
    "REVOKE_ROLE",
  ],
  ...["FACTORY_ROLE", "OPERATOR_ROLE", "EXTENSION_ROLE", "MIGRATION_ROLE"],
];

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
 * What would make of each contract something else than what was confirmed, if it changed; null: it cannot be read now.
 * @param block its number; absent: the newest.
 */
export async function mintingFacts(
  client: ChainClient,
  contracts: string[],
  { block, abort }: Pick<CallBounds, "block" | "abort"> = {},
): Promise<(MintingFacts | null)[]> {
  if (contracts.length === 0) return [];
  const [codes, implementations, beacons] = await Promise.all([
    client.code(contracts, abort, block),
    client.storage(contracts, IMPLEMENTATION, abort, block),
    client.storage(contracts, BEACON, abort, block),
  ]);
  const pointed = beacons.map((beacon) => addressOf(beacon) ?? ZeroAddress);
  const [owner, named] = ["owner", "implementation"].map((name) => functions.encodeFunctionData(name)) as [
    string,
    string,
  ];
  const calls = [...contracts.map((to) => ({ to, data: owner })), ...pointed.map((to) => ({ to, data: named }))];
  const answers = (
    await boundedCalls(client, calls, {
      gas: OWNER_GAS,
      ...(block === undefined ? {} : { block }),
      ...(abort === undefined ? {} : { abort }),
    })
  ).map(textOf);
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

/**
 * The contracts that are not what was confirmed any more, as of a block: why, and whether another node says the same. `unknown`: it
 * cannot be read now. What another node contradicts does not count.
 */
export async function changedContracts(
  client: ChainClient,
  confirmed: readonly (MintingFacts & { contract: string })[],
  block: number,
): Promise<Map<string, { reason: string; confirmed: boolean } | "unknown">> {
  const rows = new Map(confirmed.map((row) => [row.contract, row]));
  const changesOf = async (contracts: string[]) => {
    const facts = await mintingFacts(client, contracts, { block });
    return new Map(
      contracts.flatMap((contract, index) => {
        const [row, now] = [rows.get(contract), facts[index] ?? null];
        const reason = row === undefined ? null : now === null ? "unknown" : changeOf(row, now);
        return reason === null ? [] : [[contract, reason] as const];
      }),
    );
  };
  const found = await changesOf([...rows.keys()]);
  const changed = [...found].flatMap(([contract, reason]) => (reason === "unknown" ? [] : [contract]));
  const again = changed.length === 0 ? null : await client.secondAt(block, () => changesOf(changed));
  const result = new Map<string, { reason: string; confirmed: boolean } | "unknown">();
  for (const [contract, reason] of found) {
    if (reason === "unknown") result.set(contract, reason);
    else if (again === null || again.has(contract))
      result.set(contract, { reason, confirmed: again !== null && again.get(contract) !== "unknown" });
  }
  return result;
}

/** What the relay may do in a contract. */
export interface RelayRights {
  /** Whether its rights can be checked: the contract is of a known family, and the relay has the right to mint there, alone. */
  areKnown: boolean;
  /** Rights that the relay must not have, in words. */
  excess: string[];
  /** The call by which the relay gets the right to mint; null: it has it, or nobody knows. */
  grant: { to: string; function: string; data: string } | null;
}

/** @throws ChainUnavailable */
export async function readRights(
  client: ChainClient,
  contract: string,
  minting: MintFunction,
  relay: string,
  bounds: CallBounds,
): Promise<RelayRights> {
  const ask = async (name: string, ...args: unknown[]): Promise<CallAnswer> => {
    const call = { to: contract, data: functions.encodeFunctionData(name, args) };
    const answer = textOf((await boundedCalls(client, [call], bounds))[0]);
    if (answer === undefined) throw new ChainUnavailable("the node could not run a call of the contract");
    return answer;
  };
  const has = async (role: string) => boolOf(await ask("hasRole", role, relay)) === true;
  const excess: string[] = [];
  if (addressOf(await ask("owner")) === relay) excess.push("it is the owner()");
  const [admin] = await client.storage([contract], ADMIN, bounds.abort);
  if (addressOf(admin) === relay) excess.push("it is the administrator of the proxy (EIP-1967)");
  if (boolOf(await ask("isAdmin", relay)) === true) excess.push("it is an admin (isAdmin)");
  if (await has(ZeroHash)) excess.push("it has the role DEFAULT_ADMIN_ROLE");
  const adminOfMinters = await ask("getRoleAdmin", MINTER);
  if (
    adminOfMinters != null &&
    adminOfMinters.length === 66 &&
    adminOfMinters !== ZeroHash &&
    (await has(adminOfMinters))
  )
    excess.push("it has the role that appoints minters");
  for (const role of ROLES) if (await has(id(role))) excess.push(`it has the role ${role}`);
  const isKnown = Object.values(MINT_FUNCTIONS).flat().includes(minting.text);
  if (isKnown && minting.signature.startsWith("mintExtension")) {
    const extensions = extensionsIn(await ask("getExtensions"));
    const isExtension = extensions?.includes(relay) === true;
    return {
      areKnown: isExtension,
      excess,
      grant: isExtension || extensions === null ? null : extensionGrant(contract, relay),
    };
  }
  const hasRoles = boolOf(await ask("supportsInterface", ACCESS_CONTROL)) === true;
  const mayMint = hasRoles && (await has(MINTER));
  const grant = hasRoles && !mayMint ? roleGrant(contract, relay) : null;
  return { areKnown: isKnown && mayMint, excess, grant };
}

function extensionsIn(answer: CallAnswer): string[] | null {
  if (answer == null) return null;
  try {
    return [...(functions.decodeFunctionResult("getExtensions", answer)[0] as Iterable<string>)].map(getAddress);
  } catch {
    // A contract may answer in any shape.
    return null;
  }
}

function extensionGrant(to: string, relay: string) {
  const name = "registerExtension";
  return { to, function: `${name}(address,string)`, data: functions.encodeFunctionData(name, [relay, ""]) };
}

function roleGrant(to: string, relay: string) {
  return {
    to,
    function: "grantRole(bytes32,address)",
    data: functions.encodeFunctionData("grantRole", [MINTER, relay]),
  };
}

/**
 * Tries a mint without sending it, to an address that nobody has, as the relay would call it: with a request number after the
 * arguments, which the contract must ignore.
 * @param known ids of the contract, which may be the only ones that it mints copies of.
 * @returns null when it would work; otherwise why not. @throws ChainUnavailable
 */
export async function tryMint(
  client: ChainClient,
  { contract, type, relay, known }: { contract: string; type: CollectionType; relay: string; known: readonly string[] },
  minting: MintFunction,
  bounds: CallBounds,
): Promise<string | null> {
  const to = getAddress(hexlify(randomBytes(20)));
  let reason = "The contract answers nothing.";
  const unused = BigInt(hexlify(randomBytes(15))).toString();
  for (const tokenId of type === "ERC721" ? [unused] : [unused, ...known]) {
    const command = probe(type, contract, to, tokenId, minting);
    const data = minting.encode(command);
    const calls = [data, data + uintWord(BigInt(unused))].map((calldata) => ({
      from: relay,
      to: contract,
      data: calldata,
    }));
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
