import { AbiCoder, type BaseWallet, concat, type Interface, Signature } from "ethers";

import { ERC1155Collection__factory } from "../../../contracts/generated/factories/ERC1155Collection__factory.ts";
import { ERC721Collection__factory } from "../../../contracts/generated/factories/ERC721Collection__factory.ts";
import { blockCandidates } from "../support/compact-layout.ts";
import type { Bench } from "./bench.ts";
import { deployYardsticks, erc1155Yardstick } from "./mints.ts";
import type { Figures, Measured } from "./rows.ts";

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
/** Of an ERC1155 id. */
const COPIES = 4n;

/** Transfers to a new wallet. */
function transferring(abi: Interface, copies: bigint[]): Encode {
  return (bench, target, from, tokenId, number) => {
    const to = bench.wallet().address;
    const signature = bench.signTransfer(from, target, to, tokenId, copies[0] ?? 1n, number);
    const args = [from.address, to, tokenId, ...copies, ...signature];
    return abi.encodeFunctionData("transferWithAuthorization", args);
  };
}

function burning(abi: Interface, copies: bigint[]): Encode {
  return (bench, target, from, tokenId, number) => {
    const signature = bench.signBurn(from, target, tokenId, copies[0] ?? 1n, number);
    return abi.encodeFunctionData("burnWithAuthorization", [from.address, tokenId, ...copies, ...signature]);
  };
}

const transferErc721 = transferring(erc721, []);
const transferErc1155 = transferring(erc1155, [COPIES]);
const burnErc721 = burning(erc721, []);
const burnErc1155 = burning(erc1155, [COPIES]);

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
  const { openZeppelin: yardstick, solady, erc721a } = await deployYardsticks(bench);
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

const BATCH = 100;

/** Gas of what depends on how owners and balances of ERC721 tokens are stored: known receivers, burning, reading. */
export async function measureHolders(bench: Bench): Promise<Measured> {
  const { collection, target } = await bench.erc721();
  const mint = (to: string) => ({ target, data: collection.interface.encodeFunctionData("mintToWallet", [to]) });
  const holders = Array.from({ length: BATCH }, () => bench.wallet());
  const receivers = Array.from({ length: BATCH }, () => bench.wallet());
  const everybody = [...holders, ...receivers, bench.operator, bench.operator];
  await bench.prepare(everybody.length, (_number, index) => mint(everybody[index]!.address));
  return {
    "mint ERC721 to a wallet that has one, batch of 100, per item": {
      moneta: await bench.batch(BATCH, (_number, index) => mint(holders[index]!.address)),
    },
    "transfer ERC721 by authorization to a holder, batch of 100, per item": {
      moneta: await bench.batch(BATCH, (number, index) =>
        transfer(bench, target, { from: holders[index]!, to: receivers[index]!.address }, index + 1, number),
      ),
    },
    "burn ERC721 directly, by its holder": {
      moneta: await bench.transaction(collection.connect(bench.operator).burn(2 * BATCH + 1)),
    },
    "burn ERC721 directly, the holder's only one": {
      moneta: await bench.transaction(collection.connect(bench.operator).burn(2 * BATCH + 2)),
    },
    "ownerOf, called by a contract": { moneta: await coldCall(bench, target, "ownerOf", [BATCH + 5]) },
    "balanceOf, called by a contract": { moneta: await coldCall(bench, target, "balanceOf", [holders[5]!.address]) },
  };
}

/** Gas in a compact collection for holders whose four keys others have taken. */
export async function measureBlockedHolders(bench: Bench): Promise<Measured> {
  const { collection, target } = await bench.erc721();
  const mint = (to: string) => ({ target, data: collection.interface.encodeFunctionData("mintToWallet", [to]) });
  const holders = Array.from({ length: BATCH }, () => bench.wallet());
  const receivers = Array.from({ length: BATCH }, () => bench.wallet());
  for (const { address } of [...holders, ...receivers]) await blockCandidates(target, address, bench.networkHelpers);
  return {
    "mint ERC721 to a new wallet whose keys are taken, batch of 100, per item": {
      moneta: await bench.batch(BATCH, (_number, index) => mint(holders[index]!.address)),
    },
    "transfer ERC721 by authorization between wallets whose keys are taken, batch of 100, per item": {
      moneta: await bench.batch(BATCH, (number, index) =>
        transfer(bench, target, { from: holders[index]!, to: receivers[index]!.address }, index + 1, number),
      ),
    },
  };
}

/** Gas of a call that is the first one in its transaction to touch the contract. */
async function coldCall(bench: Bench, target: string, name: "ownerOf" | "balanceOf", args: unknown[]): Promise<number> {
  const { interface: abi } = await bench.ethers.getContractAt("ERC721Collection", target);
  const probe = await bench.ethers.getContractFactory("GasProbe");
  const data = concat([
    probe.bytecode,
    probe.interface.encodeDeploy([[{ target, data: abi.encodeFunctionData(name as "ownerOf", args as [bigint]) }]]),
  ]);
  const answer = await bench.ethers.provider.call({ data });
  const [, used] = AbiCoder.defaultAbiCoder().decode(["tuple(uint256,uint256,uint256)", "uint256[]"], answer);
  return Number((used as bigint[])[0]);
}

function transfer(
  bench: Bench,
  target: string,
  { from, to }: { from: BaseWallet; to: string },
  tokenId: number,
  number: bigint,
) {
  const signature = bench.signTransfer(from, target, to, BigInt(tokenId), 1n, number);
  const args = [from.address, to, tokenId, ...signature] as const;
  return { target, data: erc721.encodeFunctionData("transferWithAuthorization", [...args]) };
}

/** Gas of the same gasless transfers through OpenZeppelin's ERC-2771 forwarder. */
async function measureForwarding(bench: Bench) {
  const forwarder = await bench.ethers.deployContract("YardstickForwarder");
  const verifyingContract = await forwarder.getAddress();
  const token = await bench.ethers.deployContract("YardstickForwardedERC721", [verifyingContract]);
  const to = await token.getAddress();
  const domain = { name: "Forwarder", version: "1", chainId: 31337n, verifyingContract };
  const types = {
    ForwardRequest: [
      { name: "from", type: "address" },
      { name: "to", type: "address" },
      { name: "value", type: "uint256" },
      { name: "gas", type: "uint256" },
      { name: "nonce", type: "uint256" },
      { name: "deadline", type: "uint48" },
      { name: "data", type: "bytes" },
    ],
  };
  const request = async (from: BaseWallet, id: bigint) => {
    await token.mint(from.address, id);
    const transfer = "safeTransferFrom(address,address,uint256)";
    const data = token.interface.encodeFunctionData(transfer, [from.address, bench.wallet().address, id]);
    const message = { from: from.address, to, value: 0n, gas: 1_000_000n, deadline: 4_000_000_000n, data };
    const signature = await from.signTypedData(domain, types, { ...message, nonce: 0n });
    return { ...message, signature: Signature.from(signature).serialized };
  };
  const single = await bench.transaction(forwarder.execute(await request(bench.wallet(), 1n)));
  const requests = [];
  for (let index = 0n; index < 100n; index++) requests.push(await request(bench.wallet(), index + 2n));
  const whole = await bench.transaction(
    forwarder.executeBatch(requests, bench.operator.address, { gasLimit: bench.batchGas }),
  );
  return { single, batch: Math.round(whole / 100) };
}
