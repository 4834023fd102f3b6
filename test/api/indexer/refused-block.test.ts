import { expect } from "chai";
import { Wallet } from "ethers";

import { poison } from "../../../scripts/scene/poison.ts";
import { eventually } from "../../support/eventually.ts";
import { logLines } from "../../support/log-lines.ts";
import { useService } from "../../support/use-service.ts";

describe("a database that refuses what a block holds", () => {
  const log = logLines();
  const moneta = useService({ logger: log.logger });

  it("stops the indexer until it takes the block, and loses nothing of it", async () => {
    const { api, service } = moneta;
    const collection = await api.collection({ type: "ERC721" });
    const to = Wallet.createRandom().address;
    const refused = { table: "transfers", event: "insert", when: `new.to_address = '${to}'` } as const;
    const cure = await poison(service.database, refused);
    const id = await api.accept("/v1/nfts", { collection_address: collection, to_address: to });
    await eventually(() =>
      Promise.resolve(log.lines.some(({ msg }) => msg.startsWith("the indexer cannot follow")) ? true : undefined),
    );
    await cure();
    expect(await api.settled(id)).to.include({ status: "completed", nft_token_id: 1 });
    expect(await api.ok("GET", `/v1/collections/${collection}/1`)).to.include({ owner: to });
  });
});
