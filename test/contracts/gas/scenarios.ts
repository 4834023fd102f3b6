import { Signature, type BaseWallet } from "ethers";

import { openBench, BASE_URI, CONTRACT_URI, NAME, SYMBOL, TEMPLATE, type Bench, type Hardfork } from "./bench.ts";

/** One line of the gas table: gas per item. */
export interface Row {
  readonly moneta: number;
  readonly openZeppelin?: number;
  readonly erc721a?: number;
}

export type Rows = Record<string, Row>;

/** Measures everything once, under the rules of one hard fork. */
export async function measure(hardfork: Hardfork): Promise<Rows> {
  const bench = await openBench(hardfork);
  return {
    ...(await measureCreation(bench)),
    ...(await measureErc721Mints(bench)),
    ...(await measureErc1155Mints(bench)),
    ...(await measureTransfers(bench)),
  };
}

async function measureCreation(bench: Bench): Promise<Rows> {
  const rows: Rows = {};
  const erc721 = await deploymentGas(bench, "YardstickERC721", [
    NAME,
    SYMBOL,
    BASE_URI,
    CONTRACT_URI,
    10_000n,
    bench.royaltyRecipient.address,
    500n,
  ]);
  const erc1155 = await deploymentGas(bench, "YardstickERC1155", [
    NAME,
    SYMBOL,
    TEMPLATE,
    CONTRACT_URI,
    bench.royaltyRecipient.address,
    500n,
  ]);
  const erc721a = await deploymentGas(bench, "YardstickERC721A", [NAME, SYMBOL, BASE_URI]);
  for (const count of [1, 100]) {
    for (const hosted of [true, false]) {
      const hosting = hosted ? "hosted" : "self-hosted";
      rows[`create ERC721, ${hosting}, ${of(count)}`] = {
        moneta: await bench.batch(count, () => bench.creation("createERC721", bench.erc721Arguments(hosted))),
        openZeppelin: erc721,
        erc721a,
      };
      rows[`create ERC1155, ${hosting}, ${of(count)}`] = {
        moneta: await bench.batch(count, () => bench.creation("createERC1155", bench.erc1155Arguments(hosted))),
        openZeppelin: erc1155,
      };
    }
  }
  return rows;
}

async function measureErc721Mints(bench: Bench): Promise<Rows> {
  const rows: Rows = {};
  const { collection, target } = await bench.erc721();
  const mint = (to: string) => ({ target, data: collection.interface.encodeFunctionData("mint", [to]) });
  const mintToWallet = (to: string) => ({
    target,
    data: collection.interface.encodeFunctionData("mintToWallet", [to]),
  });
  const yardstick = await bench.ethers.deployContract("YardstickERC721", [
    NAME,
    SYMBOL,
    BASE_URI,
    CONTRACT_URI,
    10_000n,
    bench.royaltyRecipient.address,
    500n,
  ]);
  const azuki = await bench.ethers.deployContract("YardstickERC721A", [NAME, SYMBOL, BASE_URI]);
  const holder = bench.wallet().address;

  rows["mint ERC721, the first of a collection, batch of 1"] = {
    moneta: await bench.batch(1, () => mint(holder)),
    openZeppelin: await bench.transaction(yardstick.mint(holder)),
    erc721a: await bench.transaction(azuki.mint(holder, 1n)),
  };
  for (const count of [1, 10, 100]) {
    rows[`mint ERC721 to a new holder, ${of(count)}`] = {
      moneta: await bench.batch(count, () => mint(bench.wallet().address)),
      openZeppelin: await bench.transaction(yardstick.mint(bench.wallet().address)),
      erc721a: await bench.transaction(azuki.mint(bench.wallet().address, 1n)),
    };
    rows[`mint ERC721 to a new wallet of the service, ${of(count)}`] = {
      moneta: await bench.batch(count, () => mintToWallet(bench.wallet().address)),
    };
    rows[`mint ERC721 to one existing holder, ${of(count)}`] = {
      moneta: await bench.batch(count, () => mint(holder)),
      openZeppelin: await bench.transaction(yardstick.mint(holder)),
      erc721a: Math.round((await bench.transaction(azuki.mint(holder, BigInt(count)))) / count),
    };
  }
  return rows;
}

async function measureErc1155Mints(bench: Bench): Promise<Rows> {
  const rows: Rows = {};
  const { collection, target } = await bench.erc1155();
  let ids = 0n;
  const create = (to: string) => ({
    target,
    data: collection.interface.encodeFunctionData("create", [to, ++ids, 10n, ""]),
  });
  const mint = (to: string) => ({ target, data: collection.interface.encodeFunctionData("mint", [to, 1n, 10n]) });
  const yardstick = await bench.ethers.deployContract("YardstickERC1155", [
    NAME,
    SYMBOL,
    TEMPLATE,
    CONTRACT_URI,
    bench.royaltyRecipient.address,
    500n,
  ]);
  const holder = bench.wallet().address;

  for (const count of [1, 10, 100]) {
    rows[`create an ERC1155 id, ${of(count)}`] = {
      moneta: await bench.batch(count, () => create(holder)),
      openZeppelin: await bench.transaction(yardstick.mint(holder, BigInt(count), 10n)),
    };
  }
  for (const count of [1, 10, 100]) {
    rows[`mint an existing ERC1155 id to a new holder, ${of(count)}`] = {
      moneta: await bench.batch(count, () => mint(bench.wallet().address)),
      openZeppelin: await bench.transaction(yardstick.mint(bench.wallet().address, 1n, 10n)),
    };
    rows[`mint an existing ERC1155 id to one existing holder, ${of(count)}`] = {
      moneta: await bench.batch(count, () => mint(holder)),
      openZeppelin: await bench.transaction(yardstick.mint(holder, 1n, 10n)),
    };
  }
  return rows;
}

async function measureTransfers(bench: Bench): Promise<Rows> {
  const forwarding = await measureForwarding(bench);
  const { collection, target } = await bench.erc721();
  const holders = Array.from({ length: 101 }, () => bench.wallet());
  await bench.prepare(101, (_number, index) => ({
    target,
    data: collection.interface.encodeFunctionData("mint", [holders[index]!.address]),
  }));
  const authorized721 = (first: number) => (number: bigint, index: number) => {
    const from = holders[first + index]!;
    const tokenId = BigInt(first + index) + 1n;
    const to = bench.wallet().address;
    const [r, vs] = bench.signTransfer(from, target, to, tokenId, 1n, number);
    const data = collection.interface.encodeFunctionData("transferWithAuthorization", [
      from.address,
      to,
      tokenId,
      r,
      vs,
    ]);
    return { target, data };
  };

  const multi = await bench.erc1155();
  await bench.prepare(1, () => ({
    target: multi.target,
    data: multi.collection.interface.encodeFunctionData("create", [holders[0]!.address, 1n, 10n, ""]),
  }));
  await bench.prepare(101, (_number, index) => ({
    target: multi.target,
    data: multi.collection.interface.encodeFunctionData("mint", [holders[index]!.address, 1n, 10n]),
  }));
  const authorized1155 = (first: number) => (number: bigint, index: number) => {
    const from = holders[first + index]!;
    const to = bench.wallet().address;
    const [r, vs] = bench.signTransfer(from, multi.target, to, 1n, 4n, number);
    return {
      target: multi.target,
      data: multi.collection.interface.encodeFunctionData("transferWithAuthorization", [
        from.address,
        to,
        1n,
        4n,
        r,
        vs,
      ]),
    };
  };

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
    ...(await measureDelegated(bench)),
  };
}

async function measureDirect721(bench: Bench): Promise<Row> {
  const { collection, target } = await bench.erc721();
  const holder = bench.operator;
  const to = bench.wallet().address;
  const yardstick = await bench.ethers.deployContract("YardstickERC721", [
    NAME,
    SYMBOL,
    BASE_URI,
    CONTRACT_URI,
    10_000n,
    bench.royaltyRecipient.address,
    500n,
  ]);
  const azuki = await bench.ethers.deployContract("YardstickERC721A", [NAME, SYMBOL, BASE_URI]);
  await bench.prepare(2, () => ({ target, data: collection.interface.encodeFunctionData("mint", [holder.address]) }));
  for (let token = 0; token < 2; token++) {
    await yardstick.mint(holder.address);
    await azuki.mint(holder.address, 1n);
  }
  return {
    moneta: await bench.transaction(collection.connect(holder).transferFrom(holder.address, to, 1n)),
    openZeppelin: await bench.transaction(yardstick.connect(holder).transferFrom(holder.address, to, 1n)),
    erc721a: await bench.transaction(azuki.connect(holder).transferFrom(holder.address, to, 1n)),
  };
}

async function measureDirect1155(bench: Bench): Promise<Row> {
  const { collection, target } = await bench.erc1155();
  const holder = bench.operator;
  const to = bench.wallet().address;
  const yardstick = await bench.ethers.deployContract("YardstickERC1155", [
    NAME,
    SYMBOL,
    TEMPLATE,
    CONTRACT_URI,
    bench.royaltyRecipient.address,
    500n,
  ]);
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

async function measureDelegated(bench: Bench): Promise<Rows> {
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

/** The same gasless transfers the way OpenZeppelin offers them: an ERC-2771 forwarder. */
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
    const message = { from: from.address, to, value: 0n, gas: 150_000n, deadline: 4_000_000_000n, data };
    const signature = await from.signTypedData(domain, types, { ...message, nonce: 0n });
    return { ...message, signature: Signature.from(signature).serialized };
  };
  const single = await bench.transaction(forwarder.execute(await request(bench.wallet(), 1n)));
  const requests = [];
  for (let index = 0n; index < 100n; index++) requests.push(await request(bench.wallet(), index + 2n));
  const whole = await bench.transaction(
    forwarder.executeBatch(requests, bench.operator.address, { gasLimit: 16_000_000n }),
  );
  return { single, batch: Math.round(whole / 100) };
}

async function deploymentGas(bench: Bench, name: string, args: unknown[]) {
  const factory = await bench.ethers.getContractFactory(name);
  const contract = await factory.deploy(...args);
  return Number((await contract.deploymentTransaction()!.wait())!.gasUsed);
}

function of(count: number): string {
  return count === 1 ? "batch of 1" : `batch of ${count}, per item`;
}
