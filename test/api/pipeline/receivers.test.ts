import { expect } from "chai";
import { getAddress, type JsonRpcSigner, Wallet } from "ethers";

import { readMeta } from "../../../api/store/db/meta.ts";
import { readLane } from "../../../api/store/sending/lanes.ts";
import { answerOf, type Shape } from "../../../client/client.ts";
import { ERC721Collection__factory } from "../../../types/ethers-contracts/factories/ERC721Collection__factory.ts";
import { PlainERC1155__factory } from "../../../types/ethers-contracts/factories/mocks/PlainERC1155__factory.ts";
import { ProgrammableReceiver__factory } from "../../../types/ethers-contracts/factories/mocks/ProgrammableReceiver__factory.ts";
import { Relay__factory } from "../../../types/ethers-contracts/factories/Relay__factory.ts";
import type { RequestBody } from "../../support/api-client.ts";
import { eventually } from "../../support/eventually.ts";
import { Foreign } from "../../support/foreign.ts";
import { Mode } from "../../support/receiver-mode.ts";
import { useService } from "../../support/use-service.ts";

type Checked = Shape<"CheckedReceiver">;

const WITHOUT_CODE = Wallet.createRandom().address;
/** Code that stops without an answer. */
const SILENT = "0x00";
/** Code that uses about 1,300,000 gas for its memory, and then stops. */
const EXPENSIVE = "0x6001620c39005200";
const KINDS = ["mint", "mint of copies", "transfer", "transfer of copies", "foreign", "foreign copies"] as const;

describe("receivers", () => {
  const moneta = useService();
  const { api } = moneta;
  const foreign = new Foreign(moneta);
  let outsider: JsonRpcSigner;
  before(async () => {
    outsider = await foreign.signer();
  });

  const nextNonce = async () => (await readLane(moneta.service.database.read, 0))?.next_nonce;
  const moving = (contract: string, from: string, to: string, tokenId: number) => ({
    ...{ from_address: from, to_address: to, contract_address: contract, token_id: tokenId },
  });
  const mintTo = (collection: string, to: string) => ({ collection_address: collection, to_address: to });

  /** Asserts that the request fails with the code, without a transaction. */
  async function failsUnsent(run: () => Promise<RequestBody>, code: string): Promise<RequestBody> {
    const before = await nextNonce();
    const request = await run();
    expect(request).to.include({ status: "failed", error_code: code, transaction_hash: null, block_number: null });
    expect(await nextNonce()).to.equal(before);
    return request;
  }

  /** Accepts a request, changes the chain while its transaction is on the way, and lets the transaction arrive. */
  async function changedOnTheWay(accept: () => Promise<string>, change: () => Promise<unknown>) {
    const held: string[] = [];
    moneta.intercept = ({ method, params }) => {
      if (method !== "eth_sendRawTransaction") return undefined;
      held.push(params[0] as string);
      return { result: `0x${"0".repeat(64)}` };
    };
    const id = await accept();
    const raw = await eventually(() => Promise.resolve(held[0]));
    await change();
    await moneta.provider.send("eth_sendRawTransaction", [raw]).catch(() => undefined);
    return id;
  }

  describe("checked by a call", () => {
    const collections = { ERC721: "", ERC1155: "" };
    before(async () => {
      for (const type of ["ERC721", "ERC1155"] as const) collections[type] = await api.collection({ type });
    });
    const check = async (contract: string, addresses: string[]): Promise<Checked[]> => {
      const body = { contract_address: contract, addresses };
      return (await answerOf(api.client.POST("/v1/receivers/check", { body }))).receivers;
    };
    const outcomes = (found: Checked[]) => found.map(({ kind, accepts }) => `${kind} ${String(accepts)}`);

    for (const type of ["ERC721", "ERC1155"] as const) {
      it(`are what they are, and accept ${type} or not`, async () => {
        const hook = type === "ERC721" ? "onERC721Received" : "onERC1155Received";
        const other = await moneta.createApp(`another app, ${type}`);
        const [rejecting, accepting] = [await foreign.rejecting(), await foreign.programmed(Mode.accept)];
        const delegatedTo = (delegate: string) => foreign.withCode(`0xef0100${delegate.slice(2).toLowerCase()}`);
        const delegated = /delegate 0x\w{40} \(EIP-7702\).*/.source;
        const exhausting = /uses more than 1000000 gas|without a reason/;
        const cases: [address: string, outcome: string, message: RegExp | null][] = [
          [await api.wallet(), "wallet true", null],
          [await other.wallet(), "account true", null],
          [Wallet.createRandom().address, "account true", null],
          [accepting, "contract true", null],
          [await delegatedTo(accepting), "delegated_account true", null],
          [await delegatedTo(moneta.service.contracts.delegate), "delegated_account true", null],
          [await foreign.withCode(SILENT), "contract false", /: the code answers nothing\.$/],
          [await delegatedTo(WITHOUT_CODE), "delegated_account false", RegExp(`${delegated}answers nothing\\.$`)],
          [await delegatedTo(rejecting), "delegated_account false", RegExp(`${delegated}without a reason\\.$`)],
          [rejecting, "contract false", /or it reverts without a reason\.$/],
          [await foreign.programmed(Mode.lie), "contract false", /does not answer what the standard demands\.$/],
          [
            await foreign.programmed(Mode.reason),
            "contract false",
            RegExp(`\`${hook}\` refuses the token: .*0x63c38351`),
          ],
          [await foreign.programmed(Mode.burn), "contract false", exhausting],
          [await foreign.programmed(Mode.revertMegabyte), "contract false", exhausting],
          [await foreign.programmed(Mode.returnMegabyte), "contract false", exhausting],
          [collections[type], "contract false", /or it reverts without a reason\.$/],
        ];
        const addresses = cases.map(([address]) => address);
        const found = await check(collections[type], addresses);
        expect(found.map(({ address }) => address)).to.deep.equal(addresses);
        expect(outcomes(found)).to.deep.equal(cases.map(([, outcome]) => outcome));
        for (const [index, [, outcome, message]] of cases.entries()) {
          if (message === null) expect(found[index]?.message, outcome).to.equal(null);
          else expect(found[index]?.message, outcome).to.match(message);
        }
      });
    }

    it("do what a mint then does", async () => {
      const modes = await Promise.all([Mode.accept, Mode.reason, Mode.lie].map((mode) => foreign.programmed(mode)));
      const all = [...modes, await foreign.withCode(SILENT), Wallet.createRandom().address];
      const found = await check(collections.ERC721, all);
      const minted = await Promise.all(all.map((to) => api.done("/v1/nfts", mintTo(collections.ERC721, to))));
      expect(found.map(({ accepts }) => accepts)).to.deep.equal(minted.map(({ status }) => status === "completed"));
      expect(found.map(({ accepts }) => accepts)).to.deep.equal([true, false, false, false, true]);
    });

    it("are unknown where the node gives no code, errors or rubbish, which is neither refusal nor consent", async () => {
      const [wallet, account] = [await api.wallet(), Wallet.createRandom().address];
      const accepting = await foreign.programmed(Mode.accept);
      for (const answer of [
        { error: { code: -32_000, message: "out of gas" } },
        { result: "rubbish" },
        { result: null },
      ]) {
        moneta.intercept = ({ method }) => (method === "eth_getCode" ? answer : undefined);
        const found = await check(collections.ERC721, [account, wallet]);
        expect(outcomes(found)).to.deep.equal(["unknown null", "wallet true"]);
        expect(found[0]?.message).to.match(/^The service's node could not tell/);
        if ("result" in answer && answer.result === null) continue;
        moneta.intercept = ({ method }) => (method === "eth_call" ? answer : undefined);
        expect(outcomes(await check(collections.ERC721, [accepting]))).to.deep.equal(["contract null"]);
      }
    });
  });

  it("that do not take a token fail every request, before it is sent", async function () {
    this.timeout(120_000);
    const rejecting = await foreign.rejecting();
    const receivers: [name: string, address: string, delegate?: string][] = [
      ["a contract that stops without an answer", await foreign.withCode(SILENT)],
      ["a contract that returns nothing", await foreign.programmed(Mode.nothing)],
      ["a contract that reverts without a reason", await foreign.programmed(Mode.empty)],
      ["a contract that reverts with a megabyte", await foreign.programmed(Mode.revertMegabyte)],
      ["a contract that burns all gas", await foreign.programmed(Mode.burn)],
      ["a contract that returns a wrong value", await foreign.programmed(Mode.lie)],
      ["a contract without hooks", rejecting],
    ];
    for (const delegate of [await foreign.withCode(SILENT), rejecting, WITHOUT_CODE])
      receivers.push([`an account that delegated to ${delegate}`, await foreign.delegatedTo(delegate), delegate]);
    const [wallet, other] = [await api.wallet(), await api.wallet()];
    const [single, copies] = [await api.collection({ type: "ERC721" }), await api.collection({ type: "ERC1155" })];
    const ids = await api.acceptBatch("/v1/nfts/batch", Array(receivers.length).fill(mintTo(single, wallet)));
    await Promise.all(ids.map((id) => api.settled(id)));
    await api.create(copies, wallet, 1, 1_000);
    const { address: theirs } = await foreign.plain(wallet, ...[...receivers.keys(), receivers.length]);
    const editions = await new PlainERC1155__factory(outsider).deploy();
    await (await editions.mint(other, 1, 1_000)).wait();
    const theirCopies = await editions.getAddress();
    // From here on the first wallet has delegated, the other one has not.
    await api.move(theirs, 0, wallet, other);
    const before = await nextNonce();
    const sent = receivers.map(async ([name, to, delegate], index) => {
      const requests = await Promise.all([
        api.done("/v1/nfts", mintTo(single, to)),
        api.done("/v1/nfts", { ...mintTo(copies, to), token_id: 1, quantity: 1 }),
        api.done("/v1/transfers", moving(single, wallet, to, index + 1)),
        api.done("/v1/transfers", { ...moving(copies, wallet, to, 1), amount: 1 }),
        api.done("/v1/transfers", moving(theirs, wallet, to, index + 1)),
        api.done("/v1/transfers", { ...moving(theirCopies, other, to, 1), amount: 1 }),
      ]);
      for (const [kind, request] of requests.entries()) {
        const what = `${KINDS[kind] ?? ""} to ${name}`;
        const failure = { status: "failed", error_code: "receiver_rejected", transaction_hash: null };
        expect(request, what).to.include(failure);
        const words = `The account ${to} has delegated to the contract ${getAddress(delegate ?? to)} (EIP-7702)`;
        if (delegate !== undefined) expect(request.errors?.[0]?.message, what).to.contain(words);
      }
    });
    await Promise.all(sent);
    expect(await nextNonce()).to.equal(before);
  });

  it("that reject a token release what their requests had reserved", async () => {
    const refusing = await foreign.programmed(Mode.reason);
    const collection = await api.collection({ type: "ERC721", mint_supply_count: 1 });
    const failed = await failsUnsent(() => api.done("/v1/nfts", mintTo(collection, refusing)), "receiver_rejected");
    expect(failed.errors?.[0]?.message).to.match(/^The contract call reverted with unknown data: 0x63c38351/);
    expect((await api.mint(collection, await api.wallet())).nft_token_id).to.equal(1);

    const [editions, wallet] = [await api.collection({ type: "ERC1155" }), await api.wallet()];
    const create = { collection_address: editions, token_id: 1, initial_supply: 5 };
    await failsUnsent(() => api.done("/v1/nfts", { ...create, initial_owner: refusing }), "receiver_rejected");
    await api.create(editions, wallet, 1, 5);
    const more = { ...mintTo(editions, refusing), token_id: 1, quantity: 2 };
    await failsUnsent(() => api.done("/v1/nfts", more), "receiver_rejected");
    const transfer = { ...moving(editions, wallet, refusing, 1), amount: 5 };
    await failsUnsent(() => api.done("/v1/transfers", transfer), "receiver_rejected");
    await api.move(editions, 1, wallet, await api.wallet(), 5);
  });

  it("that need more gas than an item may have fail with the gas figures", async () => {
    const expensive = await foreign.programmed(Mode.useTwoMillionGas);
    const collection = await api.collection({ type: "ERC721" });
    const failed = await failsUnsent(() => api.done("/v1/nfts", mintTo(collection, expensive)), "out_of_gas");
    expect(failed.errors?.[0]?.message).to.match(
      /^The request needs about \d{7} gas\. One request may use 1000000 \(MAX_ITEM_GAS\)\.$/,
    );
  });

  it("that take a token get it: with hooks, delegated to such, or destroyed by themselves", async () => {
    const collection = await api.collection({ type: "ERC721" });
    const accepting = await foreign.programmed(Mode.accept);
    // Its constructor destroys it.
    const gone = await (await outsider.sendTransaction({ data: "0x33ff" })).wait();
    for (const to of [accepting, await foreign.delegatedTo(accepting), gone?.contractAddress ?? ""])
      await api.mint(collection, to);
    // The service treats an answer that takes too long like one that is not valid.
    moneta.intercept = ({ method }) => (method === "eth_estimateGas" ? { result: "?" } : undefined);
    await api.mint(collection, accepting);
  });

  describe("given a node whose head is behind the checkpoint", () => {
    for (const [result, mode] of [
      ["a failed simulation", Mode.reason],
      ["a simulation that needs more gas than an item may have", Mode.useTwoMillionGas],
    ] as const) {
      it(`do not fail by ${result}`, async () => {
        const receiver = await new ProgrammableReceiver__factory(outsider).deploy();
        const address = await receiver.getAddress();
        await (await receiver.program(mode)).wait();
        const collection = await api.collection({ type: "ERC721" });
        const behind: unknown = await moneta.provider.send("eth_getBlockByNumber", ["latest", false]);
        await (await receiver.program(Mode.accept)).wait();
        await moneta.caughtUp();
        let asked = 0;
        moneta.intercept = ({ method, params }) => {
          // The service measures what its own calls cost now and then.
          const concerns = JSON.stringify(params).toLowerCase().includes(address.slice(2).toLowerCase());
          if (method === "eth_estimateGas" && concerns) asked += 1;
          return method === "eth_getBlockByNumber" && params[0] === "latest" ? { result: behind } : undefined;
        };
        expect((await api.mint(collection, address)).nft_token_id).to.equal(1);
        expect(asked).to.equal(1);
      });
    }
  });

  it("get nothing when the owner removes the service as minter while the mint is pending", async () => {
    const owner = await moneta.provider.getSigner(4);
    const collection = await api.collection({ type: "ERC721", new_owner: owner.address });
    await failsUnsent(async () => {
      // The lane cannot send without knowing its funds.
      moneta.intercept = ({ method }) =>
        method === "eth_getBalance" ? { error: { code: -32000, message: "?" } } : undefined;
      const id = await api.accept("/v1/nfts", mintTo(collection, await api.wallet()));
      const { relay } = moneta.service.contracts;
      await (await ERC721Collection__factory.connect(collection, owner).setMinter(relay, false)).wait();
      moneta.intercept = null;
      return api.settled(id);
    }, "service_cannot_mint");
  });

  describe("after a batch was sent", () => {
    /** A token of others, and a transfer of it. */
    async function foreignToken() {
      const wallet = await api.wallet();
      const { address } = await foreign.plain(wallet, 1);
      return { contract: address, sendTo: (to: string) => api.accept("/v1/transfers", moving(address, wallet, to, 1)) };
    }
    const shortages = () => readMeta(moneta.service.database.read, "gas_shortage");
    const setCode = (address: string, code: string) => moneta.provider.send("hardhat_setCode", [address, code]);

    for (const [what, mode, words] of [
      ["reject", Mode.acceptSimulated, /0x63c38351/],
      [
        "answer nothing",
        Mode.nothingOnChain,
        /^The contract 0x\w{40} does not take the token: it gave no valid answer/,
      ],
    ] as const) {
      it(`fail only their own call when they ${what} only on chain`, async () => {
        const [receiver, wallet] = [await foreign.programmed(mode), await api.wallet()];
        const collection = await api.collection({ type: "ERC721" });
        const before = await shortages();
        // Accepted in one commit, they share a batch.
        const ids = await api.acceptBatch(
          "/v1/nfts/batch",
          [wallet, receiver].map((to) => mintTo(collection, to)),
        );
        const [good, bad] = await Promise.all(ids.map((id) => api.settled(id)));
        expect(good).to.include({ status: "completed", nft_token_id: 1 });
        expect(bad).to.include({ status: "failed", error_code: "receiver_rejected" });
        expect(bad?.transaction_hash).to.equal(good?.transaction_hash);
        expect(bad?.errors?.[0]?.message).to.match(words);
        expect(await shortages()).to.equal(before);
      });
    }

    it("are what failed when one of a foreign token has changed meanwhile, but not when the contract itself reverts", async () => {
      const receiver = await foreign.programmed(Mode.accept);
      for (const [ofReceiver, code, error] of [
        [false, "0x5f5ffd", "execution_reverted"],
        [true, SILENT, "receiver_rejected"],
      ] as const) {
        const { contract, sendTo } = await foreignToken();
        const id = await changedOnTheWay(
          () => sendTo(receiver),
          () => setCode(ofReceiver ? receiver : contract, code),
        );
        const request = await api.settled(id);
        expect(request).to.include({ status: "failed", error_code: error });
        expect(request.transaction_hash).to.be.a("string");
      }
    });

    it("are not blamed for a call that needs more gas than its limit: the costs are measured again", async () => {
      const { contract, sendTo } = await foreignToken();
      const id = await changedOnTheWay(
        async () => sendTo(await api.wallet()),
        () => setCode(contract, EXPENSIVE),
      );
      const request = await api.settled(id);
      expect(request).to.include({ status: "failed", error_code: "out_of_gas" });
      expect(request.errors?.[0]?.message).to.equal(
        "The call ran out of gas: it used up its limit of 1000000. The costs are measured again: send a new request.",
      );
      expect(await shortages()).to.equal(request.transaction_hash);
    });

    it("leave a call that only reverted when the node has pruned the state before the block", async () => {
      const { contract, sendTo } = await foreignToken();
      const id = await changedOnTheWay(
        async () => sendTo(await api.wallet()),
        async () => {
          await setCode(contract, EXPENSIVE);
          moneta.intercept = ({ method, params: [, block] }) =>
            ["eth_call", "eth_getCode"].includes(method) && typeof block === "object"
              ? { error: { code: -32000, message: "missing trie node" } }
              : undefined;
        },
      );
      expect(await api.settled(id)).to.include({ status: "failed", error_code: "execution_reverted" });
    });

    it("decide on chain when the request is signed already", async () => {
      const receiver = await new ProgrammableReceiver__factory(outsider).deploy();
      await (await receiver.program(Mode.accept)).wait();
      const [collection, to] = [await api.collection({ type: "ERC721" }), await receiver.getAddress()];
      const relay = Relay__factory.connect(moneta.service.contracts.relay, await moneta.provider.getSigner(0));
      // The batch reverts as a whole, so the request is returned. By then its receiver rejects the token.
      const id = await changedOnTheWay(
        () => api.accept("/v1/nfts", mintTo(collection, to)),
        async () => (await relay.pause()).wait(),
      );
      await (await receiver.program(Mode.reason)).wait();
      await (await relay.unpause()).wait();
      moneta.intercept = null;
      const request = await api.settled(id);
      expect(request).to.include({ status: "failed", error_code: "receiver_rejected" });
      expect(request.block_number).to.be.a("number");
    });
  });
});
