import { expect } from "chai";

import { readLane } from "../../../api/store/sending/lanes.ts";
import { useService } from "../../support/use-service.ts";

/** Gas of a block: enough for a mint, and too little for a collection with long URIs. */
const BLOCK_GAS = 1_200_000;

describe("a chain with small blocks", () => {
  // The gas limit of the blocks is changed.
  const moneta = useService({});
  const { api } = moneta;

  it("fails a request that fits into no transaction, without sending it, and the others go on", async () => {
    const [collection, to] = [await api.collection({ type: "ERC721" }), await api.wallet()];
    await moneta.provider.send("evm_setBlockGasLimit", [`0x${BLOCK_GAS.toString(16)}`]);
    await moneta.provider.send("evm_mine", []);
    const nonce = async () => (await readLane(moneta.service.database.read, 0))?.next_nonce;
    const before = await nonce();
    const uri = `https://example.com/${"a".repeat(2_000)}/{id}`;
    const large = await api.done("/v1/collections", {
      type: "ERC1155",
      name: "Large",
      symbol: "L",
      base_uri: uri,
      collection_uri: uri,
    });
    expect(large).to.include({ status: "failed", error_code: "out_of_gas", transaction_hash: null });
    expect(large.errors?.[0]?.message).to.match(
      /^The request needs about \d+ gas, and one transaction can have \d+\.$/,
    );
    expect(await nonce()).to.equal(before);
    await api.completed("/v1/nfts", { collection_address: collection, to_address: to });
  });
});
