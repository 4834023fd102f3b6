import { expect } from "chai";

import { eventually } from "../../support/eventually.ts";
import { useService } from "../../support/use-service.ts";

describe("a restart with a lower CONFIRMATIONS", () => {
  // The service starts again with another setting.
  const moneta = useService({ settings: { CONFIRMATIONS: "20" } });

  it("completes requests that are deep enough now, although the chain mines no new block", async () => {
    const { api } = moneta;
    const id = await api.accept("/v1/collections", { type: "ERC721", name: "Test", symbol: "TST" });
    await eventually(async () => {
      const seen = await api.ok<{ block_number: number | null }>("GET", `/v1/requests/${id}`);
      return seen.block_number ?? undefined;
    });
    await moneta.restart({ CONFIRMATIONS: "1" });
    expect((await api.settled(id)).status).to.equal("completed");
  });
});
