import { Signature, Wallet, id, type BaseWallet, type ContractTransactionResponse, type HDNodeWallet } from "ethers";
import { network } from "hardhat";

import { encodeErc1155Arguments, encodeErc721Arguments } from "../../../api/chain/codec/clone-arguments.ts";
import {
  burnAuthorizationDigest,
  executionDigest,
  transferAuthorizationDigest,
} from "../../../api/chain/codec/encode.ts";

export type Hardfork = "prague" | "osaka" | "amsterdam";

export type Storage = "standard" | "compact";

const ERC721 = { standard: "ERC721Collection", compact: "CompactERC721Collection" } as const;

export type Bench = Awaited<ReturnType<typeof openBench>>;
type Chain = Awaited<ReturnType<typeof deploy>>;
type Batches = ReturnType<typeof createBatches>;
type MakeItem = (number: bigint, index: number) => { target: string; data: string };

interface BenchItem {
  readonly target: string;
  readonly data: string;
  readonly number: bigint;
}

const CHAIN_ID = 31337n;
const ITEM_GAS = 1_500_000n;
const HOSTED_BASE_URI = "https://nft.example.com/metadata/";

export const NAME = "Harbour Lights";
export const SYMBOL = "HARB";
export const BASE_URI = "https://app.example.com/harbour/tokens/";
export const TEMPLATE = "https://app.example.com/harbour/{id}.json";
export const CONTRACT_URI = "https://app.example.com/harbour/collection.json";

/**
 * Starts a separate chain under the rules of a hard fork and deploys everything. Every address is the same on each run, so
 * the figures are exact.
 */
export async function openBench(hardfork: Hardfork, storage: Storage) {
  const chain = await deploy(hardfork, storage);
  const batches = createBatches(chain);
  await chain.relay.cancel([batches.lastNumber()]);
  return {
    ...chain,
    ...batches,
    ...createCollections(chain, batches),
    wallet: walletSource(),
    transaction,
    signTransfer,
    signBurn,
    execution: (from: BaseWallet, target: string, data: string, delegating: boolean) =>
      execute(chain, batches.nextNumber(), { from, target, data, delegating }),
  };
}

async function deploy(hardfork: Hardfork, storage: Storage) {
  // Neither batches of 100 nor the larger contracts fit below the limit of EIP-7825 in Amsterdam.
  const limits = hardfork === "amsterdam" ? { transactionGasCap: false as const, blockGasLimit: 200_000_000 } : {};
  const { ethers, networkHelpers } = await network.create({ network: "default", override: { hardfork, ...limits } });
  const [admin, operator, newOwner, royaltyRecipient] = await ethers.getSigners();
  const relay = (await ethers.deployContract("Relay", [admin!.address, HOSTED_BASE_URI])).connect(operator);
  await relay.connect(admin).setOperator(operator!.address, true);
  const erc721 = await ethers.deployContract(ERC721[storage], [relay.target]);
  const erc1155 = await ethers.deployContract("ERC1155Collection", [relay.target]);
  const factory = await ethers.deployContract("CollectionFactory", [relay.target, erc721.target, erc1155.target]);
  const delegate = await ethers.deployContract("WalletDelegate", [relay.target]);
  return {
    ethers,
    networkHelpers,
    admin: admin!,
    operator: operator!,
    newOwner: newOwner!,
    royaltyRecipient: royaltyRecipient!,
    relay,
    relayAddress: await relay.getAddress(),
    factory,
    factoryAddress: await factory.getAddress(),
    delegate,
    batchGas: hardfork === "amsterdam" ? 150_000_000n : 16_000_000n,
  };
}

/** Returns a function that gives a new wallet, which the chain has never seen, on each call. */
function walletSource(): () => BaseWallet {
  let wallets = 0;
  return () => {
    wallets += 1;
    return new Wallet(id(`bench wallet ${wallets}`));
  };
}

function createBatches({ relay, batchGas }: Chain) {
  // The first number is in a bitmap word that is already in use, as in nearly every real batch.
  let numbers = (0x5eed_5eed_5eed_5eedn << 32n) + 1n;

  /** Runs one batch and returns the gas per item. A hundred items start a new word of the relay's bitmap; fewer continue one. */
  async function batch(count: number, item: MakeItem) {
    if (count >= 100) numbers = ((numbers >> 8n) + 1n) << 8n;
    const items: BenchItem[] = [];
    for (let index = 0; index < count; index++) {
      items.push({ ...item(numbers, index), number: numbers });
      numbers += 1n;
    }
    const calls = items.map((entry) => ({ ...entry, gasLimit: ITEM_GAS }));
    const receipt = await (await relay.execute(calls, { gasLimit: batchGas })).wait();
    const failed = receipt!.logs.some((log) => log.topics[0] === relay.interface.getEvent("CallFailed").topicHash);
    const [executed] = relay.interface.parseLog(receipt!.logs.at(-1)!)!.args;
    if (failed || executed !== BigInt(count)) throw new Error("A measured batch had a failed call or stopped early.");
    return Math.round(Number(receipt!.gasUsed) / count);
  }

  /** Runs items without measuring them. */
  async function prepare(count: number, item: MakeItem) {
    for (let done = 0; done < count; done += 50) {
      await batch(Math.min(50, count - done), (number, index) => item(number, done + index));
    }
  }

  return { batch, prepare, nextNumber: () => numbers++, lastNumber: () => numbers - 1n };
}

async function transaction(sent: Promise<ContractTransactionResponse>) {
  return Number((await (await sent).wait())!.gasUsed);
}

function createCollections(chain: Chain, { batch, lastNumber }: Batches) {
  const { ethers, factory, factoryAddress, newOwner, royaltyRecipient } = chain;

  function erc721Arguments(hosted: boolean) {
    return encodeErc721Arguments({ ...commonArguments(hosted), maxSupply: 10_000n });
  }

  function erc1155Arguments(hosted: boolean) {
    return encodeErc1155Arguments({ ...commonArguments(hosted), baseUri: TEMPLATE });
  }

  function commonArguments(hosted: boolean) {
    return {
      hosted,
      soulbound: false,
      name: NAME,
      symbol: SYMBOL,
      owner: hosted ? null : newOwner.address,
      royaltyBps: hosted ? 500 : 0,
      royaltyRecipient: hosted ? royaltyRecipient.address : null,
      baseUri: BASE_URI,
      contractUri: CONTRACT_URI,
    };
  }

  function creation(kind: "createERC721" | "createERC1155", args: string) {
    const data =
      kind === "createERC721"
        ? factory.interface.encodeFunctionData("createERC721", [args])
        : factory.interface.encodeFunctionData("createERC1155", [args]);
    return { target: factoryAddress, data };
  }

  async function erc721() {
    const args = erc721Arguments(true);
    await batch(1, () => creation("createERC721", args));
    const collection = await ethers.getContractAt("ERC721Collection", await factory.predictERC721(lastNumber(), args));
    return { collection, target: await collection.getAddress() };
  }

  async function erc1155() {
    const args = erc1155Arguments(true);
    await batch(1, () => creation("createERC1155", args));
    const address = await factory.predictERC1155(lastNumber(), args);
    const collection = await ethers.getContractAt("ERC1155Collection", address);
    return { collection, target: address };
  }

  return { erc721Arguments, erc1155Arguments, creation, erc721, erc1155 };
}

function signTransfer(
  from: BaseWallet,
  collection: string,
  to: string,
  tokenId: bigint,
  amount: bigint,
  number: bigint,
) {
  const digest = transferAuthorizationDigest(CHAIN_ID, collection, {
    from: from.address,
    to,
    tokenId,
    amount,
    number,
  });
  const signature = Signature.from(from.signingKey.sign(digest));
  return [signature.r, signature.yParityAndS] as const;
}

function signBurn(from: BaseWallet, collection: string, tokenId: bigint, amount: bigint, number: bigint) {
  const digest = burnAuthorizationDigest(CHAIN_ID, collection, { from: from.address, tokenId, amount, number });
  const signature = Signature.from(from.signingKey.sign(digest));
  return [signature.r, signature.yParityAndS] as const;
}

/** Runs one execution through the wallet's delegate and returns its gas. With `delegating`, the transaction also delegates the wallet. */
async function execute(
  { ethers, networkHelpers, admin, relay, relayAddress, delegate }: Chain,
  number: bigint,
  { from, target, data, delegating }: { from: BaseWallet; target: string; data: string; delegating: boolean },
) {
  const digest = executionDigest(CHAIN_ID, from.address, { relay: relayAddress, target, data, number });
  const { r, yParityAndS } = Signature.from(from.signingKey.sign(digest));
  const call = delegate.interface.encodeFunctionData("execute", [target, data, r, yParityAndS]);
  const lane: BaseWallet | HDNodeWallet = new Wallet(id("bench lane"), ethers.provider);
  await networkHelpers.setBalance(lane.address, 10n ** 20n);
  if (!(await relay.isOperator(lane.address))) await relay.connect(admin).setOperator(lane.address, true);
  const authorizationList = delegating
    ? [await from.authorize({ address: await delegate.getAddress(), nonce: 0, chainId: CHAIN_ID })]
    : null;
  const sent = await lane.sendTransaction({
    type: delegating ? 4 : 2,
    to: relayAddress,
    data: relay.interface.encodeFunctionData("execute", [
      [{ number, target: from.address, gasLimit: ITEM_GAS, data: call }],
    ]),
    gasLimit: 3_000_000n,
    authorizationList,
  });
  const receipt = await sent.wait();
  if (receipt!.logs.length !== 2) throw new Error("A measured execution failed.");
  return Number(receipt!.gasUsed);
}
