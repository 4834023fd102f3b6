import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

import { expect } from "chai";
import { ZeroAddress } from "ethers";

import { blockCandidates, candidatesOf, SLOTS, slotOf } from "../support/compact-layout.ts";
import { createErc721, deploySystemWith, ethers, item, networkHelpers, run, signerOf } from "../support/deploy.ts";
import { reverts } from "../support/expect-failure.ts";
import { shortOrLong, steps } from "../support/runs.ts";
import { newWallet, signTransfer } from "../support/sign.ts";

const ALL_BITS = 2n ** 256n - 1n;
/** The mask of a hash with so many bits in each 64-bit piece. */
function bits(count: number): bigint {
  return [0n, 64n, 128n, 192n].reduce((mask, at) => mask | ((2n ** BigInt(count) - 1n) << at), 0n);
}

async function modelWith(mask: bigint) {
  const [admin] = await ethers.getSigners();
  return ethers.deployContract("HoldersModel", [admin!.address, mask]);
}

async function deployCompact() {
  const system = await deploySystemWith("compact");
  const collection = await createErc721(system);
  const target = await collection.getAddress();
  const wallets = Array.from({ length: 2 }, newWallet);
  return { ...system, collection, target, wallets };
}

describe("CompactHolders", () => {
  describe("the layout", () => {
    it("has a slot of its own for each variable, and all mappings are Solidity mappings", () => {
      const layout = compilerLayout();
      const mappings = layout.filter(({ type }) => type.startsWith("t_mapping"));
      expect(new Set(mappings.map(({ slot }) => slot)).size).to.equal(mappings.length);
      expect(layout.slice(-4).map(({ label, slot }) => [label, BigInt(slot)])).to.deep.equal([
        ["_holders", SLOTS.holders],
        ["_owners", SLOTS.owners],
        ["_plainOwners", SLOTS.plainOwners],
        ["_plainBalances", SLOTS.plainBalances],
      ]);
    });

    it("writes only elements of its mappings, each where the layout says", async () => {
      const { relay, collection, target } = await networkHelpers.loadFixture(deployCompact);
      const [keyed, plain] = [newWallet().address, newWallet().address];
      await blockCandidates(target, plain, networkHelpers);
      await run(relay, await item(collection, "mint", keyed), await item(collection, "mint", plain));
      const read = async (slot: string) => BigInt(await ethers.provider.getStorage(target, slot));
      const [key] = candidatesOf(target, keyed);
      expect(await read(slotOf("holders", key!))).to.equal((1n << 160n) | BigInt(keyed));
      expect(await read(slotOf("owners", 0n))).to.equal((key! << 32n) | ((2n ** 32n - 1n) << 64n));
      expect(await read(slotOf("plainOwners", 2n))).to.equal(BigInt(plain));
      expect(await read(slotOf("plainBalances", plain))).to.equal(1n);
      // Nothing else of the same token or holder.
      expect(await read(slotOf("plainOwners", 1n))).to.equal(0n);
      expect(await read(slotOf("plainBalances", keyed))).to.equal(0n);
      // 0 is the lane of a token that does not exist yet, and not a key.
      expect(await read(slotOf("holders", 0n))).to.equal(0n);
    });
  });

  describe("given a holder some of whose candidates belong to others", () => {
    for (const blocked of [0, 1, 2, 3])
      it(`takes candidate ${(blocked + 1).toString()} of 4 if others have those before`, async () => {
        const { relay, collection, target } = await networkHelpers.loadFixture(deployCompact);
        const holder = newWallet().address;
        await blockCandidates(target, holder, networkHelpers, blocked);
        await run(relay, await item(collection, "mint", holder), await item(collection, "mint", holder));
        const words = candidatesOf(target, holder).map((key) =>
          ethers.provider.getStorage(target, slotOf("holders", key)),
        );
        const taken = (await Promise.all(words)).map((word) => BigInt(word) === ((2n << 160n) | BigInt(holder)));
        expect(taken).to.deep.equal([0, 1, 2, 3].map((candidate) => candidate === blocked));
        expect(await collection.balanceOf(holder)).to.equal(2n);
      });
  });

  describe("given random operations", () => {
    for (const [what, mask] of [
      ["the real hash", ALL_BITS],
      ["a hash of 4 bits", bits(4)],
      ["a hash of 0 bits, so that there is one key", 0n],
    ] as const) {
      it(`agrees with plain mappings, with ${what}`, async () => {
        const model = await modelWith(mask);
        // Under the gas rules of Amsterdam, one transaction has room for so many.
        const operations = 25;
        let calls = 0;
        for (const call of steps(1_000 / operations, 100_000 / operations)) {
          await (await model.play(call, operations, { gasLimit: 16_000_000n })).wait();
          calls = call + 1;
        }
        const made = await Promise.all([0, 1, 2, 3].map((kind) => model.made(kind)));
        for (const count of made) expect(Number(count)).to.be.greaterThan(calls * operations * 0.03);
      }).timeout(900_000);
    }
  });

  describe("given many holders of one collection", () => {
    const keyBits = shortOrLong(9, 16);

    /** Mints for many holders. @returns how many there are, and how many of them have no key. */
    async function mintForMany(mask: bigint): Promise<{ holders: number; plain: number }> {
      const model = await modelWith(mask);
      let [holders, plain] = [0, 0];
      const step = 64;
      for (const index of steps(2 ** 9 / step, 2 ** 16 / step)) {
        const args = [index * step, step] as const;
        plain += Number(await model.mintMany.staticCall(...args, { gasLimit: 16_000_000n }));
        await (await model.mintMany(...args, { gasLimit: 16_000_000n })).wait();
        holders += step;
      }
      return { holders, plain };
    }

    it("gives all of them a key with the real hash", async () => {
      expect((await mintForMany(ALL_BITS)).plain).to.equal(0);
    }).timeout(900_000);

    it("gives 16 of them a key with a hash of 4 bits", async () => {
      const { holders, plain } = await mintForMany(bits(4));
      expect(plain).to.equal(holders - 16);
    }).timeout(900_000);

    it("leaves the expected share without a key where there are as many keys as holders", async () => {
      const { holders, plain } = await mintForMany(bits(keyBits));
      // With a share x of the keys taken, a new holder gets a key with probability 1 - x^4.
      let taken = 0;
      for (let holder = 0; holder < holders; holder++) taken += (1 - taken ** 4) / 2 ** keyBits;
      const expected = 1 - (taken * 2 ** keyBits) / holders;
      expect(Math.round(Math.abs(plain / holders - expected) * 10_000)).to.be.at.most(shortOrLong(600, 50));
    }).timeout(900_000);
  });

  describe("given a holder whose candidates all belong to others", () => {
    async function setUp() {
      const system = await networkHelpers.loadFixture(deployCompact);
      const { target, wallets } = system;
      for (const { address } of wallets) await blockCandidates(target, address, networkHelpers);
      return system;
    }

    it("mints, transfers between two such holders, and burns", async () => {
      const { relay, collection, target, wallets, alice, bob } = await setUp();
      const [from, to] = wallets as [(typeof wallets)[number], (typeof wallets)[number]];
      await run(relay, await item(collection, "mint", from.address), await item(collection, "mint", alice.address));
      expect(await collection.ownerOf(1n)).to.equal(from.address);
      const number = (await relay.queryFilter(relay.filters.BatchExecuted)).length;
      const transfer = { from: from.address, to: to.address, tokenId: 1n, amount: 1n, number: BigInt(number) };
      const { r, vs } = signTransfer(from, target, transfer);
      const call = await item(collection, "transferWithAuthorization", from.address, to.address, 1n, r, vs);
      await expect(run(relay, { ...call, number: transfer.number })).not.to.emit(relay, "CallFailed");
      expect(await collection.ownerOf(1n)).to.equal(to.address);
      expect([await collection.balanceOf(from.address), await collection.balanceOf(to.address)]).to.deep.equal([
        0n,
        1n,
      ]);
      // The approval of a holder without a key is cleared with its token.
      const holder = await signerOf(to.address);
      await collection.connect(holder).approve(bob.address, 1n);
      await collection.connect(holder).transferFrom(to.address, to.address, 1n);
      expect(await collection.getApproved(1n)).to.equal(ZeroAddress);
      expect(await collection.balanceOf(to.address)).to.equal(1n);
      await collection.connect(holder).transferFrom(to.address, alice.address, 1n);
      expect(await collection.balanceOf(alice.address)).to.equal(2n);
      expect(await ethers.provider.getStorage(target, slotOf("plainOwners", 1n))).to.equal(ethers.ZeroHash);
      await collection.connect(alice).transferFrom(alice.address, to.address, 2n);
      await collection.connect(holder).burn(2n);
      expect(await collection.balanceOf(to.address)).to.equal(0n);
      expect(await collection.totalSupply()).to.equal(1n);
    });

    it("does the same in a receiver's hook", async () => {
      const { relay, collection, target, bob } = await setUp();
      const receiver = await ethers.deployContract("ProgrammableReceiver");
      await blockCandidates(target, await receiver.getAddress(), networkHelpers);
      const move = collection.interface.encodeFunctionData("transferFrom", [receiver.target, bob.address, 1n]);
      await receiver.programCall(target, move);
      await run(relay, await item(collection, "mint", receiver.target));
      expect(await collection.ownerOf(1n)).to.equal(bob.address);
      expect(await collection.balanceOf(receiver.target)).to.equal(0n);
      expect(await collection.balanceOf(bob.address)).to.equal(1n);
    });

    it("keeps it without a key for ever, and a holder with a key keeps its key without a token", async () => {
      const { relay, collection, target, alice, bob } = await setUp();
      const [key] = candidatesOf(target, alice.address);
      await run(relay, await item(collection, "mint", alice.address));
      await collection.connect(alice).burn(1n);
      expect(BigInt(await ethers.provider.getStorage(target, slotOf("holders", key!)))).to.equal(BigInt(alice.address));
      expect(await collection.balanceOf(alice.address)).to.equal(0n);
      expect(await collection.balanceOf(bob.address)).to.equal(0n);
      await run(relay, await item(collection, "mint", alice.address));
      expect(await collection.ownerOf(2n)).to.equal(alice.address);
    });
  });

  it("given the same candidate twice: takes it once, and passes over it twice if another holder has it", async () => {
    const model = await modelWith(0n);
    const [first, second] = [await model.accountOf(1n), await model.accountOf(2n)];
    for (const [id, holder] of [first, second, first].entries()) await model.put(holder, id);
    expect([await model.keyOf(first), await model.keyOf(second)]).to.deep.equal([1n, 2n ** 32n - 1n]);
    expect([await model.balanceOf(first), await model.balanceOf(second)]).to.deep.equal([2n, 1n]);
  });

  it("given ids at the borders of words: moves each without touching its neighbours", async () => {
    const model = await modelWith(bits(4));
    const ids = [0n, 1n, 7n, 8n, 9n, 15n, 16n, 2n ** 64n - 2n, 2n ** 256n - 1n];
    const owners = new Map<bigint, string>();
    for (const round of [0n, 100n, 200n]) {
      for (const id of ids) {
        const to = round === 200n && id % 2n === 1n ? ZeroAddress : await model.accountOf((round + id) % 1_000n);
        await model.put(to, id);
        owners.set(id, to);
        for (const [other, owner] of owners) {
          if (owner !== ZeroAddress) expect(await model.ownerOf(other)).to.equal(owner);
          else await expect(model.ownerOf(other)).to.be.revertedWithCustomError(model, "ERC721NonexistentToken");
        }
      }
    }
  });

  it("given everything is burnt: mints again to the same holders without a new slot", async () => {
    const { relay, collection, target, alice, bob } = await networkHelpers.loadFixture(deployCompact);
    const mints = [await item(collection, "mint", alice.address), await item(collection, "mint", bob.address)];
    await run(relay, ...mints);
    await collection.connect(alice).burn(1n);
    await collection.connect(bob).burn(2n);
    expect(BigInt(await ethers.provider.getStorage(target, slotOf("owners", 0n)))).to.equal(0n);
    await run(relay, ...mints);
    expect(await collection.ownerOf(3n)).to.equal(alice.address);
    expect(await collection.balanceOf(bob.address)).to.equal(1n);
    expect(await collection.totalSupply()).to.equal(2n);
  });

  it("has no other way to change a balance: OpenZeppelin's _increaseBalance reverts", async () => {
    const model = await modelWith(ALL_BITS);
    const [account] = await ethers.getSigners();
    await expect(model.increaseBalance(account!.address, 1n)).to.be.revertedWithCustomError(
      model,
      "CompactBalanceWrite",
    );
    await reverts(model.balanceOf(ZeroAddress), model, "ERC721InvalidOwner", ZeroAddress);
  });
});

interface Variable {
  label: string;
  slot: string;
  type: string;
}

/** The storage layout of a compact collection, from the compiler. */
function compilerLayout(): Variable[] {
  const file = "contracts/CompactERC721Collection.sol";
  const compiler = createRequire(import.meta.url)("solc") as {
    compile(input: string, callbacks: { import(path: string): { contents: string } }): string;
  };
  const read = (path: string) => ({
    contents: readFileSync(path.startsWith("contracts/") ? path : `node_modules/${path}`, "utf8"),
  });
  const input = {
    language: "Solidity",
    sources: { [file]: { content: read(file).contents } },
    settings: { evmVersion: "cancun", outputSelection: { "*": { "*": ["storageLayout"] } } },
  };
  const output = JSON.parse(compiler.compile(JSON.stringify(input), { import: read })) as {
    contracts: Record<string, Record<string, { storageLayout: { storage: Variable[] } }>>;
  };
  return output.contracts[file]!["CompactERC721Collection"]!.storageLayout.storage;
}
