import { readFileSync } from "node:fs";
import { join } from "node:path";

import { expect } from "chai";
import { encodeRlp, keccak256, toBeHex } from "ethers";

import {
  NotProven,
  proveHeader,
  proveLogs,
  type ProvenHeader,
  trieRoot,
  UnknownFormat,
} from "../../../api/chain/receipt-proof.ts";

const FIXTURES = join(import.meta.dirname, "../../fixtures/blocks");

interface ShownLog {
  address: string;
  topics: string[];
  data: string;
}
interface ShownReceipt {
  type: string;
  status: string;
  logsBloom: string;
  cumulativeGasUsed: string;
  logs: ShownLog[];
}

function fixture(name: string): unknown {
  return JSON.parse(readFileSync(join(FIXTURES, name), "utf8"));
}

/** Blocks of the test chain of the execution API, as Geth shows them. */
function geth(): { headers: Record<string, object>; whole: { block: object; receipts: ShownReceipt[] } } {
  return fixture("geth.json") as ReturnType<typeof geth>;
}

async function refusal(kind: typeof NotProven | typeof UnknownFormat, work: () => unknown): Promise<string> {
  try {
    await work();
  } catch (error) {
    expect(error).to.be.instanceOf(kind);
    return (error as Error).message;
  }
  throw new Error("it was accepted");
}

describe("receipt proof", () => {
  describe("trieRoot", () => {
    // Computed with @ethereumjs/mpt 10.1.3.
    const ROOTS: [number, string][] = [
      [0, "0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421"],
      [1, "0x7da536f7df63a0dfb481590e53be0e3063d9b798925cc3d479a3eb3155d0b394"],
      [2, "0x0944ba4a51843e5a2003f1f3986974fc47223852f0aea787f5cd14009f55479e"],
      [17, "0x94811dc70ce2473081c96bf5338c446976d7a3f08ba040bbc07bb569e09b7448"],
      [128, "0x604073eb4e712bccb3afc10b20d28a8678bcabcfd9c32744b4e5177be3ac6a8f"],
      [129, "0x3cd5009e89b7087882139ec9774cb10e8513a17d3f8291d4c1a8f757d4aefc04"],
      [257, "0xe81e88384150341a59bc1f7c606a893f51c5d8d0b4eae94da04f7eb87d909832"],
      [1000, "0xa9a954ac71e5e1594058ad299cfb0e39ddc09a2d34c4cefb5f30f8223d47cf86"],
    ];
    for (const [count, root] of ROOTS) {
      it(`gives the root that a trie library gives for ${count.toString()} values`, async () => {
        const values = Array.from({ length: count }, (_, index) => Buffer.alloc(1 + ((index * 37) % 300), index));
        expect(await trieRoot(values)).to.equal(root);
      });
    }
  });

  describe("proveHeader", () => {
    for (const [fork, block] of Object.entries(geth().headers)) {
      it(`gives the hash of a block of Geth, ${fork}`, () => {
        expect(proveHeader(block).hash).to.equal((block as { hash: string }).hash);
      });
    }

    it("has the fields of Amsterdam in their order", async () => {
      const block = geth().headers["prague-fork"] as Record<string, string>;
      const added = { blockAccessListHash: `0x${"ab".repeat(32)}`, slotNumber: "0x1234" };
      const words = [
        "parentHash sha3Uncles miner stateRoot transactionsRoot receiptsRoot logsBloom difficulty number gasLimit gasUsed",
        "timestamp extraData mixHash nonce baseFeePerGas withdrawalsRoot blobGasUsed excessBlobGas parentBeaconBlockRoot",
        "requestsHash blockAccessListHash slotNumber",
      ];
      const numbers =
        "difficulty number gasLimit gasUsed timestamp baseFeePerGas blobGasUsed excessBlobGas slotNumber".split(" ");
      const whole: Record<string, string> = { ...block, ...added };
      const encoded = words
        .join(" ")
        .split(" ")
        .map((name) => (numbers.includes(name) ? quantityOf(whole[name] ?? "") : (whole[name] ?? "")));
      const hash = keccak256(encodeRlp(encoded));
      expect(proveHeader({ ...whole, hash }).hash).to.equal(hash);
      await refusal(NotProven, () => proveHeader({ ...whole, hash, slotNumber: "0x1235" }));
    });

    it("says which field it does not know, when the hash is another one", async () => {
      const block = { ...geth().headers["prague-fork"], sealOfFuture: "0x1" };
      // A field that is not part of the hash changes nothing.
      expect(proveHeader(block).number).to.equal(45);
      const other = { ...block, hash: `0x${"00".repeat(32)}` };
      expect(await refusal(UnknownFormat, () => proveHeader(other))).to.contain("sealOfFuture");
      expect(
        await refusal(UnknownFormat, () => proveHeader({ ...block, logsBloom: undefined })),
        "a field is missing",
      ).to.contain("logsBloom");
    });
  });

  describe("proveLogs", () => {
    const prove = async (change: (receipts: ShownReceipt[]) => unknown, header: Partial<ProvenHeader> = {}) => {
      const { block, receipts } = geth().whole;
      change(receipts);
      return proveLogs({ ...proveHeader(block), ...header }, [receipts]);
    };
    const at = (receipts: ShownReceipt[], index: number) => receipts[index] ?? expect.fail("no such receipt");

    it("gives the logs of a block of Geth", async () => {
      expect((await prove(() => undefined)).logs).to.have.length(11);
    });

    const LIES: [string, (receipts: ShownReceipt[]) => unknown][] = [
      ["leaves a log out", (all) => at(all, 1).logs.pop()],
      ["invents a log", (all) => at(all, 1).logs.push({ ...(at(all, 1).logs[0] ?? expect.fail()) })],
      ["changes a status", (all) => (at(all, 1).status = "0x0")],
      ["changes the gas", (all) => (at(all, 1).cumulativeGasUsed = "0x1")],
      ["changes a type", (all) => (at(all, 1).type = "0x2")],
      ["leaves a receipt out", (all) => all.pop()],
      ["changes the order", (all) => all.reverse()],
    ];
    for (const [words, change] of LIES) {
      it(`notices a node that ${words}`, async () => {
        await refusal(NotProven, () => prove(change));
      });
    }

    it("notices a wrong root", async () => {
      const receiptsRoot = `0x${"00".repeat(32)}`;
      expect(await refusal(NotProven, () => prove(() => undefined, { receiptsRoot }))).to.contain("root in its header");
    });

    it("proves the rest when a receipt without gas is not part of the root, and names its logs", async () => {
      // Polygon PoS shows such a receipt for what its bridge did. It comes after the transactions of the block.
      let shown: ShownReceipt | null = null;
      const proven = await prove((all) => {
        const last = at(all, all.length - 1);
        const transactionHash = `0x${"ab".repeat(32)}`;
        const logs = (all.find((one) => one.logs.length > 0)?.logs ?? []).map((log) => ({ ...log, transactionHash }));
        shown = { ...last, cumulativeGasUsed: "0x0", logs };
        all.push(Object.assign(shown, { transactionHash, transactionIndex: `0x${all.length.toString(16)}` }));
      });
      expect(proven.logs).to.have.length(11);
      expect(proven.outside.length).to.be.greaterThan(0);
      expect(proven.outside.length).to.equal((shown as ShownReceipt | null)?.logs.length);
    });

    it("notices a receipt that was added and uses gas", async () => {
      await refusal(NotProven, () =>
        prove((all) => {
          const last = at(all, all.length - 1);
          const transactionIndex = `0x${all.length.toString(16)}`;
          const more = { cumulativeGasUsed: `0x${(BigInt(last.cumulativeGasUsed) + 1n).toString(16)}` };
          all.push(Object.assign({ ...last, logs: [], ...more }, { transactionIndex }));
        }),
      );
    });

    it("says which type it does not know", async () => {
      const message = await refusal(UnknownFormat, () => prove((all) => (at(all, 1).type = "0x64")));
      expect(message).to.contain("type 0x64");
    });

    it("gives the logs of a block of Base Goerli, whose deposit has a nonce that is not part of the root", async () => {
      const { receiptsRoot, receipts } = fixture("base-goerli.json") as {
        receiptsRoot: string;
        receipts: { blockHash: string }[];
      };
      const hash = receipts[0]?.blockHash ?? "";
      const header = { number: 1, hash, parentHash: hash, receiptsRoot, gasUsed: 0n, logsBloom: Buffer.alloc(256) };
      expect((await proveLogs(header, [receipts])).logs).to.have.length(16);
    });

    for (const type of ["0x0", "0x1", "0x2", "0x3", "0x4", "0x7e"]) {
      it(`has the root of one receipt of type ${type}, by the specification`, async () => {
        const deposit = type === "0x7e" ? ["0x0102", "0x01"] : [];
        const logsBloom = `0x${"00".repeat(256)}`;
        const body = encodeRlp(["0x01", "0x5208", logsBloom, [], ...deposit]);
        const value = type === "0x0" ? body : `${toBeHex(Number(type), 1)}${body.slice(2)}`;
        // The only node is a leaf. Its key is the index 0, which RLP writes as 0x80: two half bytes.
        const receiptsRoot = keccak256(encodeRlp(["0x2080", value]));
        const hash = `0x${"11".repeat(32)}`;
        const header = { number: 1, hash, parentHash: hash, receiptsRoot, gasUsed: 0n, logsBloom: Buffer.alloc(256) };
        const shown = {
          type,
          status: "0x1",
          cumulativeGasUsed: "0x5208",
          logsBloom,
          logs: [],
          transactionHash: hash,
          transactionIndex: "0x0",
          blockHash: hash,
          ...(type === "0x7e" ? { depositNonce: "0x102", depositReceiptVersion: "0x1" } : {}),
        };
        expect((await proveLogs(header, [[shown]])).logs).to.deep.equal([]);
        await refusal(NotProven, () => proveLogs(header, [[{ ...shown, status: "0x0" }]]));
      });
    }
  });
});

function quantityOf(hex: string): string {
  return BigInt(hex) === 0n ? "0x" : toBeHex(BigInt(hex));
}
