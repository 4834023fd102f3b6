import { expect } from "chai";
import type { JsonRpcSigner } from "ethers";

import type { Reconciliation } from "../../../api/operate/reconcile/reconcile.ts";
import type { Shape } from "../../../client/client.ts";
import { withDatabase } from "../../../scripts/scene/scene.ts";
import { MintableERC721__factory } from "../../../types/ethers-contracts/factories/mocks/MintableERC721__factory.ts";
import type { MintableERC721 } from "../../../types/ethers-contracts/mocks/MintableERC721.ts";
import { useService } from "../../support/use-service.ts";
import { countedTotals } from "../support/contents.ts";
import { adopted, grantMinter, relayOf, settledMint } from "../support/mint-adopted.ts";
import { NOT_SENDING } from "./support/old-backup.ts";
import { jsonOfCli, runAnswering, runCli } from "./support/run.ts";

/** The function that the service's own collections have, too: it takes no id, so nothing but the service keeps a mint from being sent twice. */
const MINT = "mint({to:address})";

/** The tests are steps of one restore, in order. */
describe("an old backup, with mints into adopted contracts after it", () => {
  const moneta = useService({ start: false });
  const { api } = moneta;
  let owner: JsonRpcSigner;
  let wallet: string;
  let [contract, late]: MintableERC721[] = [];
  let waiting: Record<"unsent" | "numbered" | "named", string>;

  /** Confirms the contract, with the function that the operator names. */
  const confirm = (address: string) =>
    runAnswering(moneta.env, address, "collection", "minting", address, "--mint", MINT);
  async function ready() {
    const made = await new MintableERC721__factory(owner).deploy(owner.address);
    await adopted(moneta, await made.getAddress());
    await grantMinter(made, await relayOf(moneta));
    await confirm(await made.getAddress());
    return made;
  }
  const addressOf = async (made: MintableERC721 | undefined) => (await made?.getAddress()) ?? "";
  const mintFields = async (made: MintableERC721 | undefined) => ({
    ...{ collection_address: await addressOf(made), to_address: wallet },
  });
  const stateOf = async (made: MintableERC721 | undefined) =>
    (await api.ok<Shape<"NftsPage">>("GET", `/v1/collections/${await addressOf(made)}`)).collection.adopted?.minting;
  const balance = async () => Number(await contract?.balanceOf(wallet));

  before(async () => {
    owner = await moneta.provider.getSigner(3);
    await moneta.start();
    wallet = await api.wallet();
    contract = await ready();
    expect((await settledMint(moneta, await mintFields(contract))).status).to.equal("completed");
    await moneta.restart(NOT_SENDING);
    const [unsent = "", numbered = "", named = ""] = await Promise.all(
      [1, 2, 3].map(async () => api.accept("/v1/nfts", await mintFields(contract))),
    );
    waiting = { unsent, numbered, named };
    await moneta.stop();
    const change = (id: string, values: { number: string }) =>
      withDatabase(moneta.databaseUrl, (database) =>
        database.write((trx) =>
          trx
            .updateTable("requests")
            .set({ ...values, lane: 0, ready_at: null })
            .where("id", "=", id)
            .execute(),
        ),
      );
    // The state after a relayer crashed between claiming and signing.
    await change(numbered, { number: "77" });
    const restore = await moneta.database.backUp();
    await moneta.start();
    for (const id of Object.values(waiting)) expect((await api.settled(id)).status).to.equal("completed");
    late = await ready();
    expect((await settledMint(moneta, await mintFields(late))).status).to.equal("completed");
    await moneta.stop();
    await restore();
  });

  it("fails the requests that may have been minted, and recognizes the one that has a number", async () => {
    expect(await balance()).to.equal(4);
    const { recovery, comparison } = await jsonOfCli<Reconciliation>(moneta.env, "reconcile");
    expect(recovery?.uncertain).to.have.members([waiting.unsent, waiting.named]);
    expect(recovery?.recognised).to.equal(1);
    expect(comparison.told).to.deep.equal([]);
  });

  it("mints nothing twice, and nothing more until the operator confirms the contract", async () => {
    await moneta.start();
    for (const id of [waiting.unsent, waiting.named])
      expect(await api.settled(id)).to.include({ status: "failed", error_code: "number_taken" });
    const { status, nft_token_id: token } = await api.settled(waiting.numbered);
    expect([status, typeof token]).to.deep.equal(["completed", "string"]);
    await moneta.caughtUp();
    expect(await balance()).to.equal(4);
    expect((await stateOf(contract))?.stopped).to.contain("backup");
    const refused = await api.send("POST", "/v1/nfts", await mintFields(contract));
    expect(refused.body).to.include({ error_code: "service_cannot_mint" });
    await confirm(await addressOf(contract));
    expect((await settledMint(moneta, await mintFields(contract))).status).to.equal("completed");
    expect(await balance()).to.equal(5);
  });

  it("reads on past mints into a contract that nobody has adopted any more, and adopts it again", async () => {
    const address = await addressOf(late);
    expect((await api.send("GET", `/v1/collections/${address}`)).status).to.equal(404);
    await adopted(moneta, address);
    expect(await stateOf(late)).to.equal(null);
    await confirm(address);
    expect((await settledMint(moneta, await mintFields(late))).status).to.equal("completed");
    expect(await late?.balanceOf(wallet)).to.equal(2n);
    expect(await withDatabase(moneta.databaseUrl, countedTotals)).to.deep.equal([]);
    expect((await jsonOfCli<Reconciliation>(moneta.env, "reconcile")).comparison.told).to.deep.equal([]);
    expect((await runCli(moneta.env, "doctor")).failed).to.equal(false);
  });
});
