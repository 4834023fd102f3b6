import type { BaseWallet } from "ethers";

import { ERC1155Collection__factory } from "../../../contracts/generated/factories/ERC1155Collection__factory.ts";
import { ERC721Collection__factory } from "../../../contracts/generated/factories/ERC721Collection__factory.ts";
import type { Bench } from "./bench.ts";
import { measureForwarding } from "./forwarding.ts";
import type { Figures, Measured } from "./rows.ts";
import { erc1155Yardstick, erc721Yardstick, PLAIN_YARDSTICK } from "./yardsticks.ts";

/** Makes the item for a request number and a position in the batch. */
type MakeItem = (number: bigint, index: number) => { target: string; data: string };

/** Gas of every kind of transfer. */
export async function measureTransfers(bench: Bench): Promise<Measured> {
  const forwarding = await measureForwarding(bench);
  const holders = Array.from({ length: 101 }, () => bench.wallet());
  const authorized721 = await prepareErc721(bench, holders);
  const authorized1155 = await prepareErc1155(bench, holders);
  const burns721 = await prepareErc721(bench, holders, burnErc721);
  const burns1155 = await prepareErc1155(bench, holders, burnErc1155);
  return {
    "transfer ERC721 directly, by its holder": await measureDirect721(bench),
    "transfer ERC1155 directly, by its holder": await measureDirect1155(bench),
    "transfer ERC721 by authorization, batch of 1": {
      moneta: await bench.batch(1, authorized721(0)),
      openZeppelin: forwarding.single,
    },
    "transfer ERC721 by authorization, batch of 100, per item": {
      moneta: await bench.batch(100, authorized721(1)),
      openZeppelin: forwarding.batch,
    },
    "transfer ERC1155 by authorization, batch of 1": { moneta: await bench.batch(1, authorized1155(0)) },
    "transfer ERC1155 by authorization, batch of 100, per item": { moneta: await bench.batch(100, authorized1155(1)) },
    "burn ERC721 by authorization, batch of 1": { moneta: await bench.batch(1, burns721(0)) },
    "burn ERC721 by authorization, batch of 100, per item": { moneta: await bench.batch(100, burns721(1)) },
    "burn ERC1155 by authorization, batch of 1": { moneta: await bench.batch(1, burns1155(0)) },
    "burn ERC1155 by authorization, batch of 100, per item": { moneta: await bench.batch(100, burns1155(1)) },
    ...(await measureDelegated(bench)),
  };
}

/** Gas of transfers of ERC721 tokens, without those of the reference contracts. */
export async function measureErc721Transfers(bench: Bench): Promise<Measured> {
  const holders = Array.from({ length: 101 }, () => bench.wallet());
  const authorized = await prepareErc721(bench, holders);
  const burns = await prepareErc721(bench, holders, burnErc721);
  return {
    "transfer ERC721 directly, by its holder": await measureDirect721(bench),
    "transfer ERC721 by authorization, batch of 1": { moneta: await bench.batch(1, authorized(0)) },
    "transfer ERC721 by authorization, batch of 100, per item": { moneta: await bench.batch(100, authorized(1)) },
    "burn ERC721 by authorization, batch of 1": { moneta: await bench.batch(1, burns(0)) },
    "burn ERC721 by authorization, batch of 100, per item": { moneta: await bench.batch(100, burns(1)) },
  };
}

/** Makes the calldata of a signed call for a holder's token. */
type Encode = (bench: Bench, target: string, from: BaseWallet, tokenId: bigint, number: bigint) => string;

const erc721 = ERC721Collection__factory.createInterface();
const erc1155 = ERC1155Collection__factory.createInterface();

const transferErc721: Encode = (bench, target, from, tokenId, number) => {
  const to = bench.wallet().address;
  const [r, vs] = bench.signTransfer(from, target, to, tokenId, 1n, number);
  return erc721.encodeFunctionData("transferWithAuthorization", [from.address, to, tokenId, r, vs]);
};

const burnErc721: Encode = (bench, target, from, tokenId, number) => {
  const [r, vs] = bench.signBurn(from, target, tokenId, 1n, number);
  return erc721.encodeFunctionData("burnWithAuthorization", [from.address, tokenId, r, vs]);
};

const transferErc1155: Encode = (bench, target, from, tokenId, number) => {
  const to = bench.wallet().address;
  const [r, vs] = bench.signTransfer(from, target, to, tokenId, 4n, number);
  return erc1155.encodeFunctionData("transferWithAuthorization", [from.address, to, tokenId, 4n, r, vs]);
};

const burnErc1155: Encode = (bench, target, from, tokenId, number) => {
  const [r, vs] = bench.signBurn(from, target, tokenId, 4n, number);
  return erc1155.encodeFunctionData("burnWithAuthorization", [from.address, tokenId, 4n, r, vs]);
};

/** Mints a token for each holder. Returns the signed calls for their tokens, starting with the holder at `first`. */
async function prepareErc721(
  bench: Bench,
  holders: BaseWallet[],
  encode = transferErc721,
): Promise<(first: number) => MakeItem> {
  const { collection, target } = await bench.erc721();
  await bench.prepare(holders.length, (_number, index) => ({
    target,
    data: collection.interface.encodeFunctionData("mint", [holders[index]!.address]),
  }));
  return (first) => (number, index) => {
    const tokenId = BigInt(first + index) + 1n;
    return { target, data: encode(bench, target, holders[first + index]!, tokenId, number) };
  };
}

/** Mints copies of id 1 for each holder. Returns the signed calls for their copies, starting with the holder at `first`. */
async function prepareErc1155(
  bench: Bench,
  holders: BaseWallet[],
  encode = transferErc1155,
): Promise<(first: number) => MakeItem> {
  const { collection, target } = await bench.erc1155();
  await bench.prepare(1, () => ({
    target,
    data: collection.interface.encodeFunctionData("create", [holders[0]!.address, 1n, 10n, ""]),
  }));
  await bench.prepare(holders.length, (_number, index) => ({
    target,
    data: collection.interface.encodeFunctionData("mint", [holders[index]!.address, 1n, 10n]),
  }));
  return (first) => (number, index) => {
    return { target, data: encode(bench, target, holders[first + index]!, 1n, number) };
  };
}

async function measureDirect721(bench: Bench): Promise<Figures> {
  const { collection, target } = await bench.erc721();
  const holder = bench.operator;
  const to = bench.wallet().address;
  const yardstick = await bench.ethers.deployContract("YardstickERC721", erc721Yardstick(bench));
  const solady = await bench.ethers.deployContract("YardstickSolady", PLAIN_YARDSTICK);
  const erc721a = await bench.ethers.deployContract("YardstickERC721A", PLAIN_YARDSTICK);
  await bench.prepare(2, () => ({ target, data: collection.interface.encodeFunctionData("mint", [holder.address]) }));
  for (let token = 0; token < 2; token++) {
    await yardstick.mint(holder.address);
    await solady.mint(holder.address);
    await erc721a.mint(holder.address, 1n);
  }
  return {
    moneta: await bench.transaction(collection.connect(holder).transferFrom(holder.address, to, 1n)),
    openZeppelin: await bench.transaction(yardstick.connect(holder).transferFrom(holder.address, to, 1n)),
    solady: await bench.transaction(solady.connect(holder).transferFrom(holder.address, to, 1n)),
    erc721a: await bench.transaction(erc721a.connect(holder).transferFrom(holder.address, to, 1n)),
  };
}

async function measureDirect1155(bench: Bench): Promise<Figures> {
  const { collection, target } = await bench.erc1155();
  const holder = bench.operator;
  const to = bench.wallet().address;
  const yardstick = await bench.ethers.deployContract("YardstickERC1155", erc1155Yardstick(bench));
  await bench.prepare(1, () => ({
    target,
    data: collection.interface.encodeFunctionData("create", [holder.address, 1n, 10n, ""]),
  }));
  await yardstick.mint(holder.address, 1n, 10n);
  return {
    moneta: await bench.transaction(collection.connect(holder).safeTransferFrom(holder.address, to, 1n, 4n, "0x")),
    openZeppelin: await bench.transaction(yardstick.connect(holder).safeTransferFrom(holder.address, to, 1n, 4n, "0x")),
  };
}

async function measureDelegated(bench: Bench): Promise<Measured> {
  const plain = await bench.ethers.deployContract("PlainERC721");
  const target = await plain.getAddress();
  const from = bench.wallet();
  for (const id of [1n, 2n, 3n]) await plain.mint(from.address, id);
  const transfer = (id: bigint) =>
    plain.interface.encodeFunctionData("transferFrom", [from.address, bench.wallet().address, id]);
  return {
    "transfer a foreign ERC721 through the delegate, the wallet's first": {
      moneta: await bench.execution(from, target, transfer(1n), true),
    },
    "transfer a foreign ERC721 through the delegate, later": {
      moneta: await bench.execution(from, target, transfer(2n), false),
    },
  };
}
