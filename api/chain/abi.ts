import { CollectionFactory__factory } from "../../contracts/generated/factories/CollectionFactory__factory.ts";
import { ERC1155Collection__factory } from "../../contracts/generated/factories/ERC1155Collection__factory.ts";
import { ERC721Collection__factory } from "../../contracts/generated/factories/ERC721Collection__factory.ts";
import { Relay__factory } from "../../contracts/generated/factories/Relay__factory.ts";
import { WalletDelegate__factory } from "../../contracts/generated/factories/WalletDelegate__factory.ts";

/** Encodes and decodes calls, events and errors of the service's contracts. Only files of `api/chain` may import it. */
export const abi = {
  relay: Relay__factory.createInterface(),
  factory: CollectionFactory__factory.createInterface(),
  erc721: ERC721Collection__factory.createInterface(),
  erc1155: ERC1155Collection__factory.createInterface(),
  delegate: WalletDelegate__factory.createInterface(),
} as const;
