import { expect } from "chai";

import { parseLogs } from "../../../api/chain/query-logs.ts";

const HASH = `0x${"ab".repeat(32)}`;
const LOG = {
  address: "0x5fbdb2315678afecb367f032d93f642f64180aa3",
  topics: [HASH],
  data: "0x01",
  blockNumber: "0x10",
  blockHash: HASH,
  transactionHash: HASH,
  logIndex: "0x0",
  removed: false,
};

describe("parseLogs", () => {
  it("gives addresses in checksum form, and numbers", async () => {
    const { removed: _removed, ...log } = LOG;
    expect(await parseLogs([LOG])).to.deep.equal([
      { ...log, address: "0x5FbDB2315678afecb367f032d93F642f64180aa3", blockNumber: 16, logIndex: 0 },
    ]);
    expect(await parseLogs([])).to.deep.equal([]);
  });

  const wrong: [string, unknown][] = [
    ["an answer that is no list", LOG],
    ["no answer", null],
    ["an entry that is no log", [null]],
    ["an address that is too short", [{ ...LOG, address: "0x5fbd" }]],
    ["an address whose checksum is wrong", [{ ...LOG, address: "0x5FbDB2315678afecb367f032d93F642f64180aA3" }]],
    ["a topic that is no hash", [{ ...LOG, topics: ["0x01"] }]],
    ["topics that are no list", [{ ...LOG, topics: HASH }]],
    ["data that is not hexadecimal", [{ ...LOG, data: "01" }]],
    ["a block that is not mined yet", [{ ...LOG, blockNumber: null, blockHash: null }]],
    ["a number that JavaScript cannot hold", [{ ...LOG, blockNumber: `0x${"f".repeat(16)}` }]],
    ["a decimal number", [{ ...LOG, logIndex: 1 }]],
    ["a hash in capitals", [{ ...LOG, transactionHash: HASH.toUpperCase() }]],
  ];
  for (const [what, answer] of wrong) {
    it(`refuses ${what}`, async () => {
      expect(await parseLogs(answer)).to.equal(null);
    });
  }
});
