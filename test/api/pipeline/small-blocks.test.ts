import { expect } from "chai";

import { readLane } from "../../../api/store/sending/lanes.ts";
import { eventually } from "../../support/eventually.ts";
import { useService } from "../../support/use-service.ts";
import { rejectionOf } from "../../support/rejection.ts";
import { jsonOfCli, runCli } from "../cli/support/run.ts";

/** Gas of a block: enough for a mint, and too little for a collection with long URIs. */
const BLOCK_GAS = 1_200_000;

describe("a chain with small blocks", () => {
  // The gas limit of the blocks is changed.
  const moneta = useService({});
  const { api } = moneta;

  it("holds a request that fits into no transaction until its operator ends it, and the others go on", async () => {
    const [collection, to] = [await api.collection({ type: "ERC721" }), await api.wallet()];
    await moneta.provider.send("evm_setBlockGasLimit", [`0x${BLOCK_GAS.toString(16)}`]);
    await moneta.provider.send("evm_mine", []);
    const nonce = async () => (await readLane(moneta.service.database.read, 0))?.next_nonce;
    const before = await nonce();
    const uri = `https://example.com/${"a".repeat(2_000)}/{id}`;
    const id = await api.accept("/v1/collections", {
      type: "ERC1155",
      name: "Large",
      symbol: "L",
      base_uri: uri,
      collection_uri: uri,
    });
    const parked = () =>
      moneta.service.database.read.selectFrom("parked_rows").selectAll().where("id", "=", id).executeTakeFirst();
    const { reason } = await eventually(parked);
    expect(reason).to.match(/^The request needs about \d+ gas, and one transaction can have \d+\.$/);
    expect(await nonce()).to.equal(before);
    const minted = await api.accept("/v1/nfts", { collection_address: collection, to_address: to });
    expect(await api.settled(minted)).to.include({ status: "completed" });
    const refused = await rejectionOf(runCli(moneta.env, "request", "fail", minted));
    expect(refused.message).to.contain("is final already");
    // A lane may be looking at it just now.
    const failed = await eventually(() =>
      jsonOfCli<object>(moneta.env, "request", "fail", id).catch((error: unknown) => {
        expect(String(error)).to.contain("Run this command again.");
        return undefined;
      }),
    );
    expect(failed).to.deep.equal({ request_id: id, status: "failed", error_code: "ended_by_operator" });
    expect(await api.settled(id)).to.include({ error_code: "ended_by_operator", transaction_hash: null });
    expect(await parked()).to.equal(undefined);
  });
});
