import { expect } from "chai";

import type { Held, HoldingQuery } from "../../../api/chain/foreign.ts";
import type { CollectionType, Transfer } from "../../../api/domain/command.ts";
import { type RanCommand, unmovedAmong } from "../../../api/indexer/foreign-moves.ts";
import { randomAddress } from "../support/rows.ts";

const [CONTRACT, FROM, TO] = [randomAddress(), randomAddress(), randomAddress()];

function transferOf(requestId: string, tokenId: string, fields: Partial<Transfer> = {}) {
  const contractType: CollectionType = "ERC1155";
  const command: Transfer = {
    ...{ kind: "transfer", contract: CONTRACT, contractType, foreign: true, from: FROM, to: TO, tokenId },
    ...{ quantity: "1", ...fields },
  };
  return { requestId, command, block: { before: "0x8", after: "0x9" } };
}

/** Balances of the two ends, before and after block 0x9, by token. */
function chain(balances: Record<string, { before: [Held, Held]; after: [Held, Held] }>) {
  return (queries: HoldingQuery[], block: number | string) => {
    expect(["0x8", "0x9"]).to.include(block);
    return Promise.resolve(
      queries.map(
        ({ tokenId, owner }) => balances[tokenId]?.[block === "0x8" ? "before" : "after"][owner === FROM ? 0 : 1],
      ),
    );
  };
}

describe("transfers in contracts of others, without an event", () => {
  it("moved nothing when both ends have what they had before", async () => {
    const read = chain({
      same: { before: [5n, 1n], after: [5n, 1n] },
      sent: { before: [5n, 1n], after: [4n, 2n] },
      burnt: { before: [5n, 0n], after: [4n, 0n] },
      forwarded: { before: [5n, 0n], after: [4n, 0n] },
      refilled: { before: [5n, 0n], after: [5n, 1n] },
    });
    const transfers = ["same", "sent", "burnt", "forwarded", "refilled"].map((id) => transferOf(id, id));
    expect([...(await unmovedAmong(transfers, read))]).to.deep.equal(["same"]);
  });

  it("burnt nothing when the wallet has what it had before", async () => {
    const read = chain({
      same: { before: [5n, 1n], after: [5n, 1n] },
      burnt: { before: [5n, 1n], after: [4n, 1n] },
      sent: { before: [5n, 1n], after: [4n, 2n] },
      unread: { before: [5n, 1n], after: ["failed", 1n] },
    });
    const burnOf = (id: string): RanCommand => {
      const { command, ...ran } = transferOf(id, id);
      const { to: _to, ...burn } = command;
      return { ...ran, command: { ...burn, kind: "burn" } };
    };
    const commands = [burnOf("same"), burnOf("burnt"), transferOf("sent", "sent"), burnOf("unread")];
    expect([...(await unmovedAmong(commands, read))]).to.deep.equal(["same"]);
  });

  it("count as moved when a balance cannot be read", async () => {
    const unread: Held[] = [null, "failed", undefined];
    for (const held of unread) {
      for (const [before, after] of [
        [
          [held, 0n],
          [held, 0n],
        ],
        [
          [1n, held],
          [1n, held],
        ],
        [
          [1n, 0n],
          [held, 0n],
        ],
      ] as [[Held, Held], [Held, Held]][])
        expect((await unmovedAmong([transferOf("one", "t")], chain({ t: { before, after } }))).size).to.equal(0);
    }
  });

  it("count as moved when another transfer of the block may have brought the token back, or both ends are the same", async () => {
    const read = chain({ t: { before: [1n, 0n], after: [1n, 0n] } });
    const back = transferOf("back", "t", { from: TO, to: FROM });
    expect((await unmovedAmong([transferOf("out", "t"), back], read)).size).to.equal(0);
    expect((await unmovedAmong([transferOf("self", "t", { to: FROM })], read)).size).to.equal(0);
  });

  it("are looked at up to a bound", async () => {
    let asked = 0;
    const read = (queries: HoldingQuery[]) => {
      asked += queries.length;
      return Promise.resolve(queries.map(() => 1n));
    };
    const many = Array.from({ length: 300 }, (_, index) => transferOf(index.toString(), index.toString()));
    expect((await unmovedAmong(many, read)).size).to.equal(50);
    expect(asked).to.equal(200);
  });
});
