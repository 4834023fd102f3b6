import { setImmediate } from "node:timers/promises";

import { expect } from "chai";

import { issueToken } from "../../../api/commands/api-tokens.ts";
import { hashOf } from "../../../api/commands/credential.ts";
import { LookUps } from "../../../api/commands/look-ups.ts";
import { revokeApiToken } from "../../../api/store/apps/api-tokens.ts";
import type { TransferPlaces } from "../../../api/store/listings/transfer-source.ts";
import { addCollection, addWallet } from "../support/api-rows.ts";
import { randomAddress } from "../support/rows.ts";
import { statementCounter } from "../support/statement-counter.ts";
import { useApi } from "../support/use-api.ts";

describe("look-ups of calls that arrive together", () => {
  const api = useApi({ per: "block" });
  const { plugin, taken: statements } = statementCounter();
  let lookUps: LookUps;
  beforeEach(() => {
    lookUps = new LookUps(api.database.read.withPlugin(plugin));
    statements();
  });

  it("find the wallets of their app only, in one statement", async () => {
    const [mine, theirs] = [await addWallet(api), await addWallet(api, api.other.token)];
    const [{ id: me }, { id: other }] = [api.app, api.other];
    const found = await Promise.all([
      lookUps.wallet(me, theirs),
      lookUps.wallet(me, mine),
      lookUps.wallet(other, mine),
      lookUps.wallet(other, theirs),
      lookUps.wallet(me, randomAddress()),
      lookUps.wallet(me, mine),
    ]);
    expect(found.map((wallet) => wallet?.address)).to.deep.equal([undefined, mine, undefined, theirs, undefined, mine]);
    expect(statements()).to.equal(1);
  });

  it("find the collections of their app only, in one statement", async () => {
    const mine = await addCollection(api);
    const [{ id: me }, { id: other }] = [api.app, api.other];
    const found = await Promise.all([
      lookUps.collection(other, mine),
      lookUps.collection(me, mine),
      lookUps.collection(me, randomAddress()),
    ]);
    expect(found.map((collection) => collection?.address)).to.deep.equal([undefined, mine, undefined]);
    expect(statements()).to.equal(1);
  });

  it("ask once in a turn of the event loop whether a token is still valid, and again in the next one", async () => {
    const { token, id } = await issueToken(api, { appId: api.app.id, name: "test", scopes: null, expiresAt: null });
    const credential = { kind: "token", hash: hashOf(token) } as const;
    const first = lookUps.isValid(credential);
    const later = Promise.resolve().then(() => lookUps.isValid(credential));
    expect(await Promise.all([first, later])).to.deep.equal([true, true]);
    expect(statements()).to.equal(1);
    await setImmediate();
    await api.database.write((trx) => revokeApiToken(trx, id, 1_000));
    expect(await lookUps.isValid(credential)).to.equal(false);
    expect(statements()).to.equal(1);
  });

  it("find the sources of transfers in their order, in one statement", async () => {
    const [wallet, contract] = [await addWallet(api), await addCollection(api)];
    const [{ id: me }, { id: other }] = [api.app, api.other];
    const source = (places: TransferPlaces) => lookUps.transferSources([places]).then(([found]) => found);
    const found = await Promise.all([
      source({ appId: me, wallet, contract: randomAddress() }),
      source({ appId: other, wallet, contract }),
      source({ appId: me, wallet, contract }),
      source({ appId: me, wallet: randomAddress(), contract }),
    ]);
    expect(found).to.deep.equal([
      { ownsWallet: true, collectionType: null, soulbound: false, signedBurns: false },
      { ownsWallet: false, collectionType: "ERC721", soulbound: false, signedBurns: true },
      { ownsWallet: true, collectionType: "ERC721", soulbound: false, signedBurns: true },
      { ownsWallet: false, collectionType: "ERC721", soulbound: false, signedBurns: true },
    ]);
    expect(statements()).to.equal(1);
  });

  it("find tokens by their hash, in one statement", async () => {
    const [mine, theirs] = [hashOf(api.app.token), hashOf(api.other.token)];
    const found = await Promise.all([theirs, "unknown", mine, theirs].map((hash) => lookUps.token(hash)));
    expect(found.map((token) => token?.app_id)).to.deep.equal([api.other.id, undefined, api.app.id, api.other.id]);
    expect(statements()).to.equal(1);
  });

  it("see a revocation that was committed before, each time", async () => {
    const { token, id } = await issueToken(api, { appId: api.app.id, name: "test", scopes: null, expiresAt: null });
    const hash = hashOf(token);
    expect((await lookUps.token(hash))?.revoked_at).to.equal(null);
    const revoked = api.database.write((trx) => revokeApiToken(trx, id, 1_000));
    const during = lookUps.token(hash);
    await revoked;
    expect((await lookUps.token(hash))?.revoked_at).to.equal(1_000);
    await during;
  });
});
