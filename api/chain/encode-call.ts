import type { SigningKey } from "ethers";

import type { Command, CreateCollection, Transfer } from "../domain/command.ts";
import { frozenUris } from "../domain/frozen-uris.ts";
import { signCompact } from "../shared/crypto.ts";
import { abi } from "./abi.ts";
import { addressWord, uintWord, wordCall } from "./abi-words.ts";
import { encodeErc1155Arguments, encodeErc721Arguments } from "./clone-arguments.ts";
import type { ContractAddresses } from "./contracts.ts";
import type { EncodedCall } from "./encode-batch.ts";
import { executionDigest, transferAuthorizationDigest } from "./typed-data.ts";

/** Of the calls that a busy service makes for every request. They are encoded by hand; see abi-words.ts. */
const SELECTORS = {
  mint721: abi.erc721.getFunction("mint").selector,
  mintToWallet: abi.erc721.getFunction("mintToWallet").selector,
  mint1155: abi.erc1155.getFunction("mint").selector,
  transfer721: abi.erc721.getFunction("transferWithAuthorization").selector,
  transfer1155: abi.erc1155.getFunction("transferWithAuthorization").selector,
} as const;

/** Where and under which number a call will run. A wallet's signature covers all of it. */
export interface CallSite {
  chainId: bigint;
  contracts: ContractAddresses;
  number: bigint;
}

/**
 * Encodes a command that needs no wallet signature.
 * @param toWallet whether the recipient is a wallet of the service. Such a wallet accepts every token, so the receiver check
 *   is skipped, which saves 2,600 gas for the first access of an account.
 */
export function encodeServiceCall(
  command: Exclude<Command, Transfer>,
  contracts: ContractAddresses,
  toWallet = false,
): EncodedCall {
  switch (command.kind) {
    case "create-collection":
      return { target: contracts.factory, data: encodeCreate(command) };
    case "mint-erc721":
      return {
        target: command.collection,
        data: wordCall(toWallet ? SELECTORS.mintToWallet : SELECTORS.mint721, addressWord(command.to)),
      };
    case "create-erc1155":
      return {
        target: command.collection,
        data: abi.erc1155.encodeFunctionData("create", [
          command.to,
          command.tokenId,
          command.quantity,
          command.uri ?? "",
        ]),
      };
    case "mint-erc1155":
      return {
        target: command.collection,
        data: wordCall(
          SELECTORS.mint1155,
          addressWord(command.to),
          uintWord(BigInt(command.tokenId)),
          uintWord(BigInt(command.quantity)),
        ),
      };
    case "announce-metadata": {
      const { collection: target, tokenId } = command;
      const data =
        tokenId === null
          ? abi.erc721.encodeFunctionData("announceContractURIUpdate")
          : abi.erc721.encodeFunctionData("announceMetadataUpdate", [tokenId, tokenId]);
      return { target, data };
    }
    case "freeze-metadata": {
      if (command.directory === null) throw new Error("the directory of the frozen metadata is not stored yet");
      const { baseUri, collectionUri } = frozenUris(command.type, command.directory);
      return {
        target: command.collection,
        data: abi.erc721.encodeFunctionData("freezeMetadataAt", [baseUri, collectionUri]),
      };
    }
  }
}

/** Encodes a transfer, with the wallet's signature over exactly this transfer and request number. */
export function encodeTransfer(command: Transfer, wallet: SigningKey, site: CallSite): EncodedCall {
  return command.foreign ? encodeForeignTransfer(command, wallet, site) : encodeOwnTransfer(command, wallet, site);
}

function encodeOwnTransfer(command: Transfer, wallet: SigningKey, site: CallSite): EncodedCall {
  const { from, to, contract } = command;
  const [tokenId, amount] = [BigInt(command.tokenId), BigInt(command.quantity)];
  const digest = transferAuthorizationDigest(site.chainId, contract, {
    from,
    to,
    tokenId,
    amount,
    number: site.number,
  });
  const head = [addressWord(from), addressWord(to), uintWord(tokenId)];
  const signature = signCompact(wallet, digest);
  const data =
    command.contractType === "ERC721"
      ? wordCall(SELECTORS.transfer721, ...head, signature)
      : wordCall(SELECTORS.transfer1155, ...head, uintWord(amount), signature);
  return { target: contract, data };
}

/** The wallet calls the foreign contract through its delegate's code (EIP-7702). */
function encodeForeignTransfer(command: Transfer, wallet: SigningKey, site: CallSite): EncodedCall {
  const inner = encodeForeignCall(command);
  const digest = executionDigest(site.chainId, command.from, {
    relay: site.contracts.relay,
    target: command.contract,
    data: inner,
    number: site.number,
  });
  const signature = signCompact(wallet, digest);
  const [r, vs] = [`0x${signature.slice(0, 64)}`, `0x${signature.slice(64)}`];
  return { target: command.from, data: abi.delegate.encodeFunctionData("execute", [command.contract, inner, r, vs]) };
}

/** The call of a wallet to a foreign contract that transfers its token. */
export function encodeForeignCall({ contractType, from, to, tokenId, quantity }: Transfer): string {
  return contractType === "ERC721"
    ? abi.erc721.encodeFunctionData("safeTransferFrom(address,address,uint256)", [from, to, tokenId])
    : abi.erc1155.encodeFunctionData("safeTransferFrom", [from, to, tokenId, quantity, "0x"]);
}

function encodeCreate(command: CreateCollection): string {
  const { seller_fee_basis_points: basisPoints = 0, fee_recipient: recipient = null } = command.metadata;
  const common = {
    hosted: command.hosting === "hosted",
    soulbound: command.soulbound,
    name: command.name,
    symbol: command.symbol,
    owner: command.newOwner,
    // ERC-2981 requires a receiver, so a fee without one is only in the metadata.
    royaltyBps: recipient === null ? 0 : basisPoints,
    royaltyRecipient: recipient,
    baseUri: command.baseUri ?? "",
    contractUri: command.collectionUri ?? "",
  };
  return command.type === "ERC721"
    ? abi.factory.encodeFunctionData("createERC721", [
        encodeErc721Arguments({ ...common, maxSupply: BigInt(command.maxSupply ?? 0) }),
      ])
    : abi.factory.encodeFunctionData("createERC1155", [encodeErc1155Arguments(common)]);
}
