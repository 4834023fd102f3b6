import { expect } from "chai";

import { issueToken, type Scope } from "../../../api/commands/api-tokens.ts";
import type { RequestFailureCode } from "../../../api/domain/error-codes.ts";
import { sealedPlace } from "../../../api/keys/sealer.ts";
import { useApi } from "../support/use-api.ts";
import { expectAccepted, expectRefusal } from "../support/expect.ts";
import { failRequest } from "../support/fail-request.ts";
import { addCollection, addMint, addMove, addWallet } from "../support/api-rows.ts";
import { randomAddress } from "../support/rows.ts";
import { storedRequest } from "../support/stored-request.ts";

describe("POST /v1/requests/:request_id/retry", () => {
  const api = useApi({ per: "block" });
  let wallet: string;
  let collection: string;
  before(async () => {
    wallet = await addWallet(api);
    collection = await addCollection(api);
  });

  const fail = (id: string, errorCode?: RequestFailureCode) => failRequest(api, id, errorCode);
  const mint = async (fields: object = {}) =>
    expectAccepted(await api.post("/v1/nfts", { collection_address: collection, to_address: wallet, ...fields }));
  const transfer = (fields: object) =>
    api.post("/v1/transfers", { from_address: wallet, to_address: randomAddress(), ...fields });
  const retry = (id: string, token = api.app.token) => api.call("POST", `/v1/requests/${id}/retry`, { token });
  const show = async (id: string) => (await api.get(`/v1/requests/${id}`)).body as Record<string, unknown>;

  it("sends a failed request again as a new one, and the records of both name each other", async () => {
    const id = await fail(await mint({ name: "Cat", reference: "order 7" }));
    const again = expectAccepted(await retry(id));
    expect(again).to.not.equal(id);
    const [old, made] = [await storedRequest(api, id), await storedRequest(api, again)];
    expect(made.command).to.deep.equal(old.command);
    expect(await show(again)).to.include({ status: "pending", reference: "order 7", retry_of: id, retried_by: null });
    expect(await show(id)).to.include({ status: "failed", retry_of: null, retried_by: again });
  });

  it("answers the same new request to every call, also to calls at the same time, and after it failed", async () => {
    const id = await fail(await mint());
    const answers = await Promise.all(Array.from({ length: 8 }, () => retry(id)));
    const ids = new Set(answers.map(expectAccepted));
    expect(ids.size).to.equal(1);
    const [again = ""] = ids;
    await fail(again);
    expect(expectAccepted(await retry(id))).to.equal(again);
    const { length } = await api.database.read.selectFrom("requests").where("retry_of", "=", id).selectAll().execute();
    expect(length).to.equal(1);
    // The new one can be sent again in turn.
    expect(expectAccepted(await retry(again))).to.not.equal(again);
  });

  it("answers the same new request when the rules refuse a second one, such as a second freeze", async () => {
    const contract = await addCollection(api);
    const id = await fail(expectAccepted(await api.post(`/v1/collections/${contract}/freeze`, {})));
    const answers = await Promise.all(Array.from({ length: 4 }, () => retry(id)));
    expect(new Set(answers.map(expectAccepted)).size).to.equal(1);
  });

  it("refuses a request that has not failed, or that a reorg has corrected", async () => {
    const id = await mint();
    expectRefusal(await retry(id), 409, "not_retryable");
    await fail(id);
    await api.database.write((trx) => trx.updateTable("requests").set({ corrected: 1 }).where("id", "=", id).execute());
    expectRefusal(await retry(id), 409, "not_retryable");
    expect(await show(id)).to.include({ retried_by: null });
  });

  it("does not know the requests of other apps", async () => {
    const id = await fail(await mint());
    expectRefusal(await retry(id, api.other.token), 404, "not_found");
    expectRefusal(await retry("0".repeat(64)), 404, "not_found");
    expect(await show(id)).to.include({ retried_by: null });
  });

  it("needs the scope of the call that created the request", async () => {
    const tokenWith = async (scopes: Scope[]) =>
      (await issueToken(api, { appId: api.app.id, name: "some", scopes, expiresAt: null })).token;
    await addMint(api, { contract: collection, to: wallet, tokenId: 800 });
    const moved = await fail(expectAccepted(await transfer({ contract_address: collection, token_id: 800 })));
    const minted = await fail(await mint());
    const [mints, transfers] = [await tokenWith(["mint"]), await tokenWith(["transfer"])];
    expectRefusal(await retry(moved, mints), 403, "forbidden");
    expectRefusal(await retry(minted, transfers), 403, "forbidden");
    expectAccepted(await retry(moved, transfers));
    expectAccepted(await retry(minted, mints));
  });

  it("decides by what holds now, and a refused call uses nothing up", async () => {
    await addMint(api, { contract: collection, to: wallet, tokenId: 801 });
    const id = await fail(expectAccepted(await transfer({ contract_address: collection, token_id: 801 })));
    const other = expectAccepted(await transfer({ contract_address: collection, token_id: 801 }));
    expectRefusal(await retry(id), 422, "token_busy");
    expect(await show(id)).to.include({ retried_by: null });
    await fail(other);
    expectAccepted(await retry(id));
    await addMint(api, { contract: collection, to: wallet, tokenId: 802 });
    const gone = await fail(expectAccepted(await transfer({ contract_address: collection, token_id: 802 })));
    await addMove(api, { contract: collection, tokenId: 802, from: wallet, to: randomAddress() });
    expectRefusal(await retry(gone), 422, "insufficient_balance");
  });

  it("reserves under the supply cap again", async () => {
    const contract = await addCollection(api, { cap: 1 });
    const id = await fail(await mint({ collection_address: contract }));
    const other = await mint({ collection_address: contract });
    expectRefusal(await retry(id), 422, "supply_exceeded");
    await fail(other);
    expectAccepted(await retry(id));
    const next = await api.post("/v1/nfts", { collection_address: contract, to_address: wallet });
    expectRefusal(next, 422, "supply_exceeded");
  });

  it("encrypts unlockable content for the new request", async () => {
    const id = await fail(await mint({ unlockable_content: "the code" }));
    const again = await storedRequest(api, expectAccepted(await retry(id)));
    const sealed = again.unlockable ?? "";
    const never = () => Promise.resolve(false);
    expect(await api.sealer.open(sealed, sealedPlace("unlockable", again.id), never)).to.equal("the code");
    expect(again.stored_bytes).to.equal((await storedRequest(api, id)).stored_bytes);
  });

  it("copies media again", async () => {
    const id = await mint({ copy_media: true, image: "https://cats.example/1.png" });
    await fail(id, "media_unavailable");
    const again = await storedRequest(api, expectAccepted(await retry(id)));
    expect(again).to.include({ ready_at: null, copies_media: 1 });
    const jobs = await api.database.read
      .selectFrom("media_jobs")
      .where("request_id", "=", again.id)
      .selectAll()
      .execute();
    expect(jobs).to.have.length(1);
  });

  it("sends collections, burns, changes of metadata and freezes again", async () => {
    const contract = await addCollection(api);
    await addMint(api, { contract, to: wallet, tokenId: 1 });
    const calls = [
      await api.post("/v1/collections", { type: "ERC721", name: "Cats", symbol: "CAT" }),
      await api.post("/v1/burns", { from_address: wallet, contract_address: contract, token_id: 1 }),
      await api.call("PATCH", `/v1/collections/${contract}`, { body: { description: "new" } }),
      await api.post(`/v1/collections/${contract}/freeze`, {}),
    ];
    for (const answer of calls) {
      const id = await fail(expectAccepted(answer));
      const [old, made] = [await storedRequest(api, id), await storedRequest(api, expectAccepted(await retry(id)))];
      for (const field of ["type", "nft_collection", "nft_token_id", "copies_media"] as const)
        expect(made[field], old.type).to.equal(old[field]);
      expect(made.command).to.deep.equal(old.command);
    }
  });

  it("follows the contract of others again, and asks the chain", async () => {
    const contract = api.foreign.addToken(wallet, { tokenId: "7" });
    const id = await fail(expectAccepted(await transfer({ contract_address: contract, token_id: 7 })));
    const again = await storedRequest(api, expectAccepted(await retry(id)));
    expect(again.command).to.include({ kind: "transfer", foreign: true, contract });
    expect(again.retry_of).to.equal(id);
  });
});
