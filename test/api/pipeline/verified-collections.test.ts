import { expect } from "chai";
import { dataSlice, getAddress } from "ethers";

import { eventually } from "../../support/eventually.ts";
import { useService } from "../../support/use-service.ts";
import { jsonOfCli } from "../cli/support/run.ts";
import { VerifierServer } from "../operate/verification/support/verifier-server.ts";

describe("verified collections on a real node", () => {
  const server = new VerifierServer();
  before(() => server.open());
  after(() => server.close());
  // It gets a verifier after its collections exist.
  const moneta = useService({ settings: { VERIFY_COLLECTIONS: "off" } });
  const { api } = moneta;

  const verifiedOf = async (address: string) => {
    const path = "/v1/collections?limit=30";
    const { collections } = await api.ok<{ collections: { address: string; verified: string | null }[] }>("GET", path);
    return collections.find((one) => one.address === address)?.verified;
  };

  it("makes those due again that have failed, with `contract verify`", async () => {
    const { database } = moneta.service;
    const address = await api.collection({ type: "ERC721" });
    await database.write(async (trx) => {
      await trx.updateTable("verifications").set({ state: "failed" }).where("address", "=", address).execute();
      await trx.updateTable("collections").set({ verified: "failed" }).where("address", "=", address).execute();
    });
    expect(await verifiedOf(address)).to.equal("failed");
    expect(await jsonOfCli(moneta.env, "contract", "verify")).to.deep.equal({ due: 1 });
    expect(await verifiedOf(address)).to.equal(null);
    const row = database.read.selectFrom("verifications").select(["state", "due_at"]).where("address", "=", address);
    expect(await row.executeTakeFirst()).to.deep.equal({ state: "waiting", due_at: 0 });
  });

  it("verifies collections that exist, once a verifier is set, and shows it in their records", async () => {
    const address = await api.collection({ type: "ERC721" });
    const editions = await api.collection({ type: "ERC1155" });
    expect([await verifiedOf(address), await verifiedOf(editions)]).to.deep.equal([null, null]);
    const implementation = getAddress(dataSlice(await moneta.provider.getCode(address), 10, 30));
    // The sources of ERC1155 collections are not there.
    server.sources.set(implementation, "match");
    await moneta.restart({ VERIFY_COLLECTIONS: "sourcify", SOURCIFY_URL: server.url });
    await eventually(async () => ((await verifiedOf(address)) === null ? undefined : true));
    expect(await verifiedOf(address)).to.equal("implementation");
    const rows = moneta.service.database.read.selectFrom("verifications").select(["state", "error"]);
    const refused = await eventually(() =>
      rows.where("address", "=", editions).where("tries", ">", 0).executeTakeFirst(),
    );
    expect(refused).to.include({ state: "waiting" });
    expect(refused.error).to.match(/^Sourcify does not have the sources of the implementation 0x/);
    expect(await verifiedOf(editions)).to.equal(null);
    expect(server.calls).to.include(`GET /v2/contract/31337/${implementation}`);
  });
});
