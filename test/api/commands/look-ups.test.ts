import { expect } from "chai";

import { hashOf } from "../../../api/commands/credential.ts";
import { createLookUps } from "../../../api/commands/look-ups.ts";
import type { TransferPlaces } from "../../../api/store/listings/transfer-source.ts";
import { addCollection, addWallet } from "../support/api-rows.ts";
import { randomAddress } from "../support/rows.ts";
import { statementCounter } from "../support/statement-counter.ts";
import { useApi } from "../support/use-api.ts";

describe("look-ups of calls that arrive together", () => {
  const api = useApi({ per: "block" });

  it("find what belongs to the app of their call only, each in one statement", async () => {
    const { plugin, taken: statements } = statementCounter();
    const lookUps = createLookUps(api.database.read.withPlugin(plugin));
    const [mine, theirs] = [await addWallet(api), await addWallet(api, api.other.token)];
    const contract = await addCollection(api);
    const [{ id: me }, { id: other }] = [api.app, api.other];
    statements();
    const wallets = await Promise.all([
      lookUps.wallets([
        { appId: me, address: theirs },
        { appId: me, address: mine },
      ]),
      lookUps.wallets([{ appId: other, address: mine }]),
      lookUps.wallets([]),
      lookUps.wallets([{ appId: other, address: theirs }]),
      lookUps.wallets([{ appId: me, address: randomAddress() }]),
      lookUps.wallets([{ appId: me, address: mine }]),
    ]);
    const ofWallets = [undefined, mine, undefined, theirs, undefined, mine];
    expect(wallets.flat().map((wallet) => wallet?.address)).to.deep.equal(ofWallets);
    expect(statements()).to.equal(1);
    const collections = await Promise.all([
      lookUps.collections([{ appId: other, address: contract }]),
      lookUps.collections([{ appId: me, address: contract }]),
      lookUps.collections([{ appId: me, address: randomAddress() }]),
    ]);
    expect(collections.flat().map((collection) => collection?.address)).to.deep.equal([undefined, contract, undefined]);
    expect(statements()).to.equal(1);
    const source = (places: TransferPlaces) => lookUps.transferSources([places]).then(([found]) => found);
    const sources = await Promise.all([
      source({ appId: me, wallet: mine, contract: randomAddress() }),
      source({ appId: other, wallet: mine, contract }),
      source({ appId: me, wallet: mine, contract }),
      source({ appId: me, wallet: randomAddress(), contract }),
    ]);
    expect(sources).to.deep.equal([
      { ownsWallet: true, watchOnly: false, collectionType: null, soulbound: false, signedBurns: false },
      { ownsWallet: false, watchOnly: false, collectionType: "ERC721", soulbound: false, signedBurns: true },
      { ownsWallet: true, watchOnly: false, collectionType: "ERC721", soulbound: false, signedBurns: true },
      { ownsWallet: false, watchOnly: false, collectionType: "ERC721", soulbound: false, signedBurns: true },
    ]);
    expect(statements()).to.equal(1);
    const [ours, others] = [hashOf(api.app.token), hashOf(api.other.token)];
    const tokens = await Promise.all([others, "unknown", ours, others].map((hash) => lookUps.tokens([hash])));
    expect(tokens.flat().map((token) => token?.app_id)).to.deep.equal([other, undefined, me, other]);
    expect(statements()).to.equal(1);
  });

  it("share a statement until they look for 500 things", async () => {
    const { plugin, taken: statements } = statementCounter();
    const lookUps = createLookUps(api.database.read.withPlugin(plugin));
    const batch = Array.from({ length: 250 }, () => ({ appId: api.app.id, address: randomAddress() }));
    statements();
    const found = await Promise.all([batch, batch, batch.slice(0, 1)].map((calls) => lookUps.wallets(calls)));
    expect(found.map(({ length }) => length)).to.deep.equal([250, 250, 1]);
    expect(statements()).to.equal(2);
  });
});
