import { expect } from "chai";

import type { Shape } from "../../../client/client.ts";
import { ERC721Collection__factory } from "../../../types/ethers-contracts/factories/ERC721Collection__factory.ts";
import { ApiClient } from "../../support/api-client.ts";
import { eventually } from "../../support/eventually.ts";
import { describeWithBackups } from "../../support/pg-bin.ts";
import { startTestService } from "../../support/service.ts";
import { useBackups } from "./support/backups.ts";
import { runCli } from "./support/run.ts";

describeWithBackups("events of tokens after a restore", () => {
  const backups = useBackups();
  const { moneta } = backups;

  /** What a reader of the feed sees, once there is so much: the block of each movement, and the blocks of gaps. */
  const told = (api: ApiClient, count: number) =>
    eventually(async () => {
      const path = "/v1/events?after=start&types=token.minted,token.sent,token.received,gap";
      const { events } = await api.ok<Shape<"EventsFeed">>("GET", path);
      if (events.length < count) return undefined;
      return events.map((event) => {
        if (event.type === "gap") return `gap ${event.from_block.toString()}-${event.to_block.toString()}`;
        return `${event.type} ${(event as Shape<"TokenEvent">).block_number.toString()}`;
      });
    });

  it("are not made again, and one gap names the blocks since the backup in which tokens of the app moved", async () => {
    const { wallet } = backups;
    const stranger = await moneta.provider.getSigner(3);
    const { collections } = await moneta.api.ok<Shape<"CollectionsPage">>("GET", "/v1/collections");
    const contract = ERC721Collection__factory.connect(collections[0]?.address ?? "", stranger);
    const move = async (from: string, to: string) => {
      const sent = await contract.connect(await moneta.impersonate(from)).transferFrom(from, to, 1);
      return (await sent.wait())?.blockNumber.toString() ?? "";
    };
    const [minted] = await told(moneta.api, 1);
    expect(minted).to.match(/^token\.minted \d+$/);
    // The backed up service tells of the first, and it does not matter whether it still tells of the others.
    const first = await move(wallet, stranger.address);
    expect(await told(moneta.api, 2)).to.deep.equal([minted, `token.sent ${first}`]);
    const second = await move(stranger.address, wallet);

    const place = await backups.place();
    await runCli(place.env, "restore", backups.first.folder);
    const env = { ...place.env, ROLES: "api,indexer" };
    const service = await startTestService({ rpcUrl: moneta.node.url, dataDir: place.dataDir, env });
    try {
      const api = ApiClient.at(service.baseUrl, moneta.app.token);
      await eventually(async () => {
        const token = await api.ok<Shape<"HistoryPage">>(
          "GET",
          `/v1/collections/${await contract.getAddress()}/1/history`,
        );
        return token.history.length === 3 ? true : undefined;
      });
      const third = await move(wallet, stranger.address);
      const fourth = await move(stranger.address, wallet);
      const expected = [minted, `gap ${first}-${second}`, `token.sent ${third}`, `token.received ${fourth}`];
      expect(await told(api, 4)).to.deep.equal(expected);
    } finally {
      await service.stop();
    }
  });
});
