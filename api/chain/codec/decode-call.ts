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

/** A call as its transaction has it. */
export interface SentCall extends ExecutedCall {
  gasLimit: number;
}

/** The calls of a `Relay.execute`; null when the transaction calls something else. */
export function decodeExecute(input: string): SentCall[] | null {
  const parsed = parse(abi.relay, input);
  if (parsed?.name !== "execute") return null;
  const [calls] = parsed.args as unknown as [{ number: bigint; target: string; data: string; gasLimit: bigint }[]];
  return calls.map(({ number, target, data, gasLimit }) => ({
    ...{ number, target: getAddress(target), data },
    gasLimit: Number(gasLimit),
  }));
}

/**
 * The command that a call carried out. Off-chain metadata is missing. A call that fits no other command becomes a metadata
 * announcement of its target, which moves nothing.
 */
export function decodeCommand(call: ExecutedCall, contracts: ContractAddresses): Command {
  const neutral: Command = { kind: "announce-metadata", collection: call.target, tokenId: null };
  if (factoryAt(contracts, call.target) !== undefined) return decodeCreation(call.data) ?? neutral;
  return decodeOwn(call, "ERC721") ?? decodeOwn(call, "ERC1155") ?? decodeForeign(call) ?? neutral;
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

/** A call of one of the service's collections. */
function decodeOwn({ target, data }: ExecutedCall, type: CollectionType): Command | null {
  const parsed = parse(type === "ERC721" ? abi.erc721 : abi.erc1155, data);
  switch (parsed?.name) {
    case "mint":
    case "mintToWallet":
    case "create": {
      const [to, id, quantity, uri] = parsed.args as unknown as [string, bigint, bigint, string];
      if (type === "ERC721") return { kind: "mint-erc721", collection: target, to, metadata: null };
      const token = { collection: target, to, tokenId: id.toString(), quantity: quantity.toString() };
      if (parsed.name === "mint") return { kind: "mint-erc1155", ...token };
      return { kind: "create-erc1155", ...token, uri: uri === "" ? null : uri, metadata: null };
    }
    case "transferWithAuthorization": {
      const [from, to, id, quantity] = parsed.args as unknown as [string, string, bigint, bigint];
      return { kind: "transfer", foreign: false, from, to, ...token(type, target, id, quantity) };
    }
    case "burnWithAuthorization": {
      const [from, id, quantity] = parsed.args as unknown as [string, bigint, bigint];
      return { kind: "burn", foreign: false, from, ...token(type, target, id, quantity) };
    }
    default:
      return null;
  }
}

/** A wallet's call to a contract, through its delegate. */
function decodeForeign({ target: from, data }: ExecutedCall): Command | null {
  const outer = parse(abi.delegate, data);
  if (outer?.name !== "execute") return null;
  const [contract, inner] = outer.args as unknown as [string, string];
  for (const type of ["ERC721", "ERC1155"] as const) {
    const parsed = parse(type === "ERC721" ? abi.erc721 : abi.erc1155, inner);
    if (parsed?.name === "safeTransferFrom") {
      const [owner, to, id, quantity] = parsed.args as unknown as [string, string, bigint, bigint];
      return { kind: "transfer", foreign: true, from: owner, to, ...token(type, contract, id, quantity) };
    }
    if (parsed?.name === "burn") {
      const [id, quantity] = (type === "ERC721" ? parsed.args : parsed.args.slice(1)) as unknown as [bigint, bigint];
      return { kind: "burn", foreign: true, from, ...token(type, contract, id, quantity) };
    }
  }
  return null;
}

/** @param quantity of ERC1155 copies. */
function token(contractType: CollectionType, contract: string, id: bigint, quantity: bigint) {
  const copies = contractType === "ERC721" ? "1" : quantity.toString();
  return { contractType, contract, tokenId: id.toString(), quantity: copies };
}

function parse(contract: Interface, data: string): TransactionDescription | null {
  try {
    return contract.parseTransaction({ data });
  } catch {
    // The data may fit no function of the service's contracts.
    return null;
  }
}
