import { expect } from "chai";

import { estimateGas } from "../../../api/domain/gas-estimate.ts";
import { readGasMeasurement } from "../../../api/store/requests/gas-measurement.ts";
import { readLane } from "../../../api/store/sending/lanes.ts";
import type { Shape } from "../../../client/client.ts";
import { eventually } from "../../support/eventually.ts";
import type { RequestBody } from "../../support/api-client.ts";
import { useService } from "../../support/use-service.ts";

describe("costs on a real node", () => {
  // Only with a quota is the gas of a day counted. A test hides receipts, and no block is proven without them.
  const settings = { APP_GAS_PER_DAY: "100000000", VERIFY_RECEIPTS: "false" };
  const moneta = useService({ proxy: true, settings });
  const { api } = moneta;

  const usage = () => api.ok<Shape<"Usage">>("GET", "/v1/usage");
  /** What the transactions of the requests really cost. */
  async function receiptsOf(requests: RequestBody[]): Promise<{ gas: bigint; fee: bigint }> {
    const hashes = [...new Set(requests.map(({ transaction_hash: hash }) => hash ?? ""))];
    const receipts = await Promise.all(hashes.map((hash) => moneta.provider.getTransactionReceipt(hash)));
    const sum = (of: (receipt: { gasUsed: bigint; fee: bigint }) => bigint) =>
      receipts.reduce((total, receipt) => total + (receipt === null ? 0n : of(receipt)), 0n);
    return { gas: sum(({ gasUsed }) => gasUsed), fee: sum(({ fee }) => fee) };
  }
  const sharesOf = (requests: RequestBody[]) => ({
    gas: requests.reduce((sum, { gas_used: gas }) => sum + BigInt(gas ?? 0), 0n),
    fee: requests.reduce((sum, { fee_wei: fee }) => sum + BigInt(fee ?? "0"), 0n),
  });

  it("gives each request its share, also a failed one, and the shares are the receipts to the wei", async () => {
    const created = await api.completed("/v1/collections", { type: "ERC721", name: "Test", symbol: "TST" });
    const collection = created.nft_collection ?? "";
    const to = await api.wallet();
    const ids = await Promise.all(
      Array.from({ length: 6 }, () => api.accept("/v1/nfts", { collection_address: collection, to_address: to })),
    );
    const requests = [created, ...(await Promise.all(ids.map((id) => api.settled(id))))];
    for (const { gas_used: gas, fee_wei: fee } of requests) {
      expect(gas).to.be.greaterThan(0);
      expect(BigInt(fee ?? "0") > 0n).to.equal(true);
    }
    expect(sharesOf(requests)).to.deep.equal(await receiptsOf(requests));
    const { total, days } = await usage();
    expect(total).to.include({ requests_accepted: 7, requests_completed: 7, requests_failed: 0, wallets_created: 1 });
    const { gas, fee } = sharesOf(requests);
    expect([BigInt(total.gas_used), BigInt(total.fee_wei)]).to.deep.equal([gas, fee]);
    expect(days).to.have.length(30);
    // The budget of the day has the same gas. Until then, each mint reserved what was measured.
    const { read } = moneta.service.database;
    expect(await read.selectFrom("gas_usage").select("used").execute()).to.deep.equal([{ used: Number(gas) }]);
    const { measurement } = await readGasMeasurement(read);
    if (measurement === null) throw new Error("the service has measured the costs");
    const measured = estimateGas({ kind: "mint-erc721", collection, to, metadata: null }, measurement);
    const estimates = await read.selectFrom("requests").select("gas_estimate").where("type", "=", "mint").execute();
    expect(estimates.map(({ gas_estimate: estimate }) => estimate)).to.deep.equal(ids.map(() => measured));
  });

  it("counts the bytes of the files that were copied, for each request", async () => {
    const collection_address = await api.collection({ type: "ERC721" });
    const before = (await usage()).total.media_bytes;
    const fields = { collection_address, to_address: await api.wallet(), copy_media: true };
    for (const image of ["data:,GIF89a", "data:,GIF89a", "data:,GIF89a-horse"]) {
      await api.completed("/v1/nfts", { ...fields, name: "Cat", image });
    }
    expect((await usage()).total.media_bytes - before).to.equal("GIF89aGIF89aGIF89a-horse".length);
  });

  it("stores the block without waiting for a receipt, and adds the cost once the node shows it", async () => {
    const before = (await usage()).total;
    let hidden = 0;
    moneta.intercept = ({ method }) => {
      if (method !== "eth_getTransactionReceipt") return undefined;
      hidden += 1;
      return { result: null };
    };
    const request = await api.completed("/v1/collections", { type: "ERC721", name: "Test", symbol: "TST" });
    expect(request).to.include({ gas_used: null, fee_wei: null });
    expect(hidden).to.be.greaterThan(0);
    moneta.intercept = null;
    const shown = await eventually(async () => {
      const now = await api.settled(request.request_id);
      return now.gas_used === null ? undefined : now;
    });
    const real = await receiptsOf([shown]);
    expect(sharesOf([shown])).to.deep.equal(real);
    expect(BigInt((await usage()).total.fee_wei) - BigInt(before.fee_wei)).to.equal(real.fee);
  });

  it("sends a burst that the lane cannot pay for at once in smaller transactions", async () => {
    const [to_address, collection_address] = [await api.wallet(), await api.collection({ type: "ERC721" })];
    const lane = await readLane(moneta.service.database.read, 0);
    const before = await moneta.provider.getBalance(lane?.address ?? "");
    // Far above the tip: then what a transaction costs is half of what it may cost.
    await moneta.provider.send("hardhat_setNextBlockBaseFeePerGas", [`0x${(50n * 10n ** 9n).toString(16)}`]);
    await moneta.provider.send("evm_mine", []);
    const { baseFeePerGas } = (await moneta.provider.getBlock("latest")) ?? {};
    const tip = BigInt((await moneta.provider.send("eth_maxPriorityFeePerGas", [])) as string);
    const { promise: accepted, resolve: goOn } = Promise.withResolvers<undefined>();
    moneta.intercept = ({ method }) => (method === "eth_getBalance" ? accepted : undefined);
    const ids = await Promise.all(
      Array.from({ length: 100 }, () => api.accept("/v1/nfts", { collection_address, to_address })),
    );
    // All of them in one transaction need a limit of 1.9 million gas.
    await moneta.fund(lane?.address ?? "", 1_800_000n * (2n * (baseFeePerGas ?? 0n) + tip));
    moneta.intercept = null;
    goOn(undefined);
    const requests = await Promise.all(ids.map((id) => api.settled(id)));
    expect(requests.map((request) => request.status)).to.deep.equal(Array(100).fill("completed"));
    expect(new Set(requests.map(({ transaction_hash: hash }) => hash)).size).to.be.above(1);
    await moneta.fund(lane?.address ?? "", before);
  });
});
