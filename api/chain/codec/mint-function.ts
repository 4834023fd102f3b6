import { FunctionFragment, id, Interface } from "ethers";

import { remember } from "../../shared/bounded-map.ts";
import type { CollectionType, Mint } from "../../domain/command.ts";

/*
 * The functions by which contracts of others mint, as text: the name, and for each argument what it is and its type:
 * `safeMint({to:address},{token_id:uint256})`.
 */

/** What an argument can be, and the types that it can have. An array gets one element. `data` is always empty. */
const PLACES = {
  to: ["address", "address[]"],
  token_id: ["uint256", "uint256[]"],
  quantity: ["uint256", "uint256[]"],
  uri: ["string", "string[]"],
  data: ["bytes"],
} as const;
type Place = keyof typeof PLACES;

/** A function that mints, as it is called. */
export interface MintFunction {
  /** As it was written. */
  text: string;
  /** As Solidity writes it: `safeMint(address,uint256)`. */
  signature: string;
  takes: ReadonlySet<Place>;
  encode: (command: Mint) => string;
}

/**
 * The functions that are tried, by the type of the contract: of OpenZeppelin's Wizard and presets, of thirdweb's TokenERC721 and
 * TokenERC1155, and of Manifold's creator contracts, where the relay is an extension.
 */
export const MINT_FUNCTIONS: Readonly<Record<CollectionType, readonly string[]>> = {
  ERC721: [
    "safeMint({to:address},{token_id:uint256},{uri:string})",
    "safeMint({to:address},{uri:string})",
    "safeMint({to:address},{token_id:uint256})",
    "safeMint({to:address})",
    "mint({to:address})",
    "mintTo({to:address},{uri:string})",
    "mintExtension({to:address},{uri:string})",
  ],
  ERC1155: [
    "mint({to:address},{token_id:uint256},{quantity:uint256},{data:bytes})",
    "mintTo({to:address},{token_id:uint256},{uri:string},{quantity:uint256})",
    "mintExtensionNew({to:address[]},{quantity:uint256[]},{uri:string[]})",
  ],
};

/**
 * Functions that are no mint: of EIPs 20, 173, 721, 777, 1155, 1363, 1967 and 6909, of roles, owners, burnable tokens and votes (as
 * OpenZeppelin and Solady have them), of lists of minters and administrators, of royalties and fees, of Manifold's extensions, and of
 * contracts that run several calls. The relay never calls them.
 */
const FORBIDDEN = `
  transfer(address,uint256) transferFrom(address,address,uint256) approve(address,uint256)
  increaseAllowance(address,uint256) decreaseAllowance(address,uint256) safeTransferFrom(address,address,uint256)
  safeTransferFrom(address,address,uint256,bytes) safeTransferFrom(address,address,uint256,uint256,bytes)
  setApprovalForAll(address,bool) safeBatchTransferFrom(address,address,uint256[],uint256[],bytes) burn(uint256)
  burn(address,uint256) burnFrom(address,uint256) burn(address,uint256,uint256)
  burnBatch(address,uint256[],uint256[]) grantRole(bytes32,address) revokeRole(bytes32,address)
  renounceRole(bytes32,address) transferOwnership(address) renounceOwnership() acceptOwnership() setOwner(address)
  beginDefaultAdminTransfer(address) acceptDefaultAdminTransfer() approveAdmin(address) revokeAdmin(address)
  upgradeTo(address) upgradeToAndCall(address,bytes) changeAdmin(address) initialize(address) multicall(bytes[])
  multicall(bytes[],bytes) multicall(uint256,bytes[]) execute(address,uint256,bytes) send(address,uint256,bytes)
  transferAndCall(address,uint256) transferAndCall(address,uint256,bytes) approveAndCall(address,uint256)
  approveAndCall(address,uint256,bytes) authorizeOperator(address) revokeOperator(address)
  transfer(address,uint256,uint256) approve(address,uint256,uint256) burn(address,uint256[],uint256[])
  burnFrom(address,uint256,uint256) delegate(address) grantRoles(address,uint256) revokeRoles(address,uint256)
  completeOwnershipHandover(address) addMinter(address) removeMinter(address) setMinter(address) addAdmin(address)
  setAdmin(address) registerExtension(address,string) unregisterExtension(address) blacklistExtension(address)
  changeOwner(address) setPendingOwner(address) setImplementation(address) upgrade(address,bytes)
  execute(address,bytes) aggregate((address,bytes)[]) diamondCut((address,uint8,bytes4[])[],address,bytes)
  setRoyalty(address,uint256) setRoyalties(address[],uint256[]) setDefaultRoyaltyInfo(address,uint256)
  setPlatformFeeInfo(address,uint256) setFlatPlatformFeeInfo(address,uint256) setPrimarySaleRecipient(address)`;
const FORBIDDEN_SELECTORS = new Set(FORBIDDEN.trim().split(/\s+/).map(selectorOf));

function selectorOf(signature: string): string {
  return id(signature).slice(0, 10);
}

/** Thrown for a text that is no function that may be called. The message says what is wrong. */
export class NoMintFunction extends Error {
  override readonly name = "NoMintFunction";
}

const FUNCTION = /^([A-Za-z_$][\w$]{0,63})\((\{[a-z_]+:[a-z0-9[\]]+\}(?:,\{[a-z_]+:[a-z0-9[\]]+\})*)\)$/;

/** The function that a text names. @throws NoMintFunction */
export const mintFunction = remember(1_000, readFunction);

function readFunction(text: string): MintFunction {
  const [, name, list] = FUNCTION.exec(text.replaceAll(/\s/g, "")) ?? [];
  if (name === undefined || list === undefined)
    throw new NoMintFunction('Write the function as in "safeMint({to:address},{token_id:uint256})".');
  const places: Place[] = [];
  const types: string[] = [];
  for (const part of list.slice(1, -1).split("},{")) {
    const [place = "", type = ""] = part.split(":");
    if (!isPlace(place) || !(PLACES[place] as readonly string[]).includes(type))
      throw new NoMintFunction(`{${part}} is no argument. There are: ${allArguments()}.`);
    if (places.includes(place)) throw new NoMintFunction(`{${place}} is there twice.`);
    places.push(place);
    types.push(type);
  }
  if (!places.includes("to")) throw new NoMintFunction("One argument must be {to:address}: who gets the token.");
  const signature = `${name}(${types.join(",")})`;
  if (FORBIDDEN_SELECTORS.has(selectorOf(signature)))
    throw new NoMintFunction(`${signature} is not a function that mints. The service never calls it.`);
  const contract = new Interface([FunctionFragment.from(`function ${signature}`)]);
  const encode = (command: Mint): string => {
    const { tokenId = null, uri = null } = command.adopted ?? {};
    const quantity = command.kind === "mint-erc721" ? "1" : command.quantity;
    const [byId, byUri] = [places.includes("token_id"), places.includes("uri")];
    if (byId !== (tokenId !== null) || byUri !== (uri !== null) || !(quantity === "1" || places.includes("quantity")))
      throw new NoMintFunction(
        `The contract mints by ${signature} now, which takes other fields than the request has.`,
      );
    const values = { to: command.to, token_id: tokenId, quantity, uri, data: "0x" };
    const given = places.map((place, index) => (types[index]?.endsWith("[]") ? [values[place]] : values[place]));
    return contract.encodeFunctionData(name, given);
  };
  return { text: `${name}(${list})`, signature, takes: new Set(places), encode };
}

function isPlace(text: string): text is Place {
  return Object.hasOwn(PLACES, text);
}

function allArguments(): string {
  return Object.entries(PLACES)
    .flatMap(([place, types]) => types.map((type) => `{${place}:${type}}`))
    .join(", ");
}
