import { getAddress, type Interface, type TransactionDescription } from "ethers";

import { type CollectionType, type Command, isOfWallet, receiverOf } from "../../domain/command.ts";
import { abi } from "../abi.ts";
import { type ContractAddresses, factoryAt } from "../contracts.ts";
import { decodeCloneArguments } from "./clone-arguments.ts";
import { encodeServiceCall } from "./encode.ts";

/** One call of a batch, as read from the chain. */
export interface ExecutedCall {
  number: bigint;
  target: string;
  data: string;
}

/** The calls of a `Relay.execute`; null when the transaction calls something else. */
export function decodeExecute(input: string): ExecutedCall[] | null {
  const parsed = parse(abi.relay, input);
  if (parsed?.name !== "execute") return null;
  const [calls] = parsed.args as unknown as [{ number: bigint; target: string; data: string }[]];
  return calls.map(({ number, target, data }) => ({ number, target: getAddress(target), data }));
}

/**
 * The command that a call carried out. Off-chain metadata is missing. A call that fits no other command becomes a metadata
 * announcement of its target, which moves nothing.
 */
export function decodeCommand(call: ExecutedCall, contracts: ContractAddresses): Command {
  const neutral: Command = { kind: "announce-metadata", collection: call.target, tokenId: null };
  if (factoryAt(contracts, call.target) !== undefined) return decodeCreation(call.data) ?? neutral;
  return decodeErc721(call) ?? decodeErc1155(call) ?? decodeForeign(call) ?? neutral;
}

/** Whether a call creates a collection with a factory that the service does not know: its deployment file is too old. */
export function usesUnknownFactory(call: ExecutedCall, contracts: ContractAddresses): boolean {
  return factoryAt(contracts, call.target) === undefined && creationIn(call.data) !== null;
}

/** A key that is equal for commands with the same effect on chain. Null: the command cannot be encoded as a call. */
export function effectOf(command: Command, contracts: ContractAddresses): string | null {
  if (isOfWallet(command)) {
    const { kind, contract, from, tokenId, quantity } = command;
    return [kind, contract, from, receiverOf(command) ?? "", tokenId, quantity].join("/");
  }
  if (command.kind === "create-erc1155") return ["create", command.collection, command.tokenId].join("/");
  try {
    const { target, data } = encodeServiceCall(command, contracts);
    return `${target}/${data}`;
  } catch {
    // A command that cannot be encoded was never in a transaction.
    return null;
  }
}

function decodeCreation(data: string): Command | null {
  const creation = creationIn(data);
  if (creation === null) return null;
  try {
    return decodeCloneArguments(creation.type, creation.packed);
  } catch (error) {
    // The factory refuses such arguments, but anyone with a lane's key can send them.
    if (error instanceof RangeError) return null;
    throw error;
  }
}

function creationIn(data: string): { type: CollectionType; packed: string } | null {
  const parsed = parse(abi.factory, data);
  if (parsed?.name !== "createERC721" && parsed?.name !== "createERC1155") return null;
  const [packed] = parsed.args as unknown as [string];
  return { type: parsed.name === "createERC721" ? "ERC721" : "ERC1155", packed };
}

function decodeErc721({ target, data }: ExecutedCall): Command | null {
  const parsed = parse(abi.erc721, data);
  const args = parsed?.args as unknown as [string, string, bigint];
  switch (parsed?.name) {
    case "mint":
    case "mintToWallet":
      return { kind: "mint-erc721", collection: target, to: args[0], metadata: null };
    case "transferWithAuthorization": {
      const [from, to, tokenId] = args;
      const token = { contract: target, tokenId: tokenId.toString(), quantity: "1" };
      return { kind: "transfer", contractType: "ERC721", foreign: false, from, to, ...token };
    }
    case "burnWithAuthorization": {
      const [from, tokenId] = parsed.args as unknown as [string, bigint];
      const token = { contract: target, tokenId: tokenId.toString(), quantity: "1" };
      return { kind: "burn", contractType: "ERC721", foreign: false, from, ...token };
    }
    default:
      return null;
  }
}

function decodeErc1155({ target, data }: ExecutedCall): Command | null {
  const parsed = parse(abi.erc1155, data);
  switch (parsed?.name) {
    case "create": {
      const [to, id, quantity, uri] = parsed.args as unknown as [string, bigint, bigint, string];
      const token = { collection: target, tokenId: id.toString(), quantity: quantity.toString() };
      return { kind: "create-erc1155", to, ...token, uri: uri === "" ? null : uri, metadata: null };
    }
    case "mint": {
      const [to, id, quantity] = parsed.args as unknown as [string, bigint, bigint];
      return { kind: "mint-erc1155", collection: target, to, tokenId: id.toString(), quantity: quantity.toString() };
    }
    case "transferWithAuthorization": {
      const [from, to, id, quantity] = parsed.args as unknown as [string, string, bigint, bigint];
      const token = { contract: target, tokenId: id.toString(), quantity: quantity.toString() };
      return { kind: "transfer", contractType: "ERC1155", foreign: false, from, to, ...token };
    }
    case "burnWithAuthorization": {
      const [from, id, quantity] = parsed.args as unknown as [string, bigint, bigint];
      const token = { contract: target, tokenId: id.toString(), quantity: quantity.toString() };
      return { kind: "burn", contractType: "ERC1155", foreign: false, from, ...token };
    }
    default:
      return null;
  }
}

/** A wallet's call to a contract, through its delegate. */
function decodeForeign({ target: wallet, data }: ExecutedCall): Command | null {
  const outer = parse(abi.delegate, data);
  if (outer?.name !== "execute") return null;
  const [contract, inner] = outer.args as unknown as [string, string];
  const single = parse(abi.erc721, inner);
  if (single?.name === "safeTransferFrom") {
    const [from, to, tokenId] = single.args as unknown as [string, string, bigint];
    const token = { contract, tokenId: tokenId.toString(), quantity: "1" };
    return { kind: "transfer", contractType: "ERC721", foreign: true, from, to, ...token };
  }
  if (single?.name === "burn") {
    const [tokenId] = single.args as unknown as [bigint];
    const token = { contract, tokenId: tokenId.toString(), quantity: "1" };
    return { kind: "burn", contractType: "ERC721", foreign: true, from: wallet, ...token };
  }
  const many = parse(abi.erc1155, inner);
  if (many?.name === "burn") {
    const [, id, quantity] = many.args as unknown as [string, bigint, bigint];
    const token = { contract, tokenId: id.toString(), quantity: quantity.toString() };
    return { kind: "burn", contractType: "ERC1155", foreign: true, from: wallet, ...token };
  }
  if (many?.name !== "safeTransferFrom") return null;
  const [, to, id, quantity] = many.args as unknown as [string, string, bigint, bigint];
  const token = { contract, tokenId: id.toString(), quantity: quantity.toString() };
  return { kind: "transfer", contractType: "ERC1155", foreign: true, from: wallet, to, ...token };
}

function parse(contract: Interface, data: string): TransactionDescription | null {
  try {
    return contract.parseTransaction({ data });
  } catch {
    // The data may fit no function of the service's contracts.
    return null;
  }
}
