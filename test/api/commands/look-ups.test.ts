import { expect } from "chai";

import { hashOf } from "../../../api/commands/credential.ts";
import { LookUps } from "../../../api/commands/look-ups.ts";
import type { TransferPlaces } from "../../../api/store/listings/transfer-source.ts";
import { addCollection, addWallet } from "../support/api-rows.ts";
import { randomAddress } from "../support/rows.ts";
import { statementCounter } from "../support/statement-counter.ts";
import { useApi } from "../support/use-api.ts";

describe("look-ups of calls that arrive together", () => {
  const api = useApi({ per: "block" });

  it("find what belongs to the app of their call only, each in one statement", async () => {
    const { plugin, taken: statements } = statementCounter();
    const lookUps = new LookUps(api.database.read.withPlugin(plugin));
    const [mine, theirs] = [await addWallet(api), await addWallet(api, api.other.token)];
    const contract = await addCollection(api);
    const [{ id: me }, { id: other }] = [api.app, api.other];
    statements();
    const wallets = await Promise.all([
      lookUps.wallet(me, theirs),
      lookUps.wallet(me, mine),
      lookUps.wallet(other, mine),
      lookUps.wallet(other, theirs),
      lookUps.wallet(me, randomAddress()),
      lookUps.wallet(me, mine),
    ]);
    const ofWallets = [undefined, mine, undefined, theirs, undefined, mine];
    expect(wallets.map((wallet) => wallet?.address)).to.deep.equal(ofWallets);
    expect(statements()).to.equal(1);
    const collections = await Promise.all([
      lookUps.collection(other, contract),
      lookUps.collection(me, contract),
      lookUps.collection(me, randomAddress()),
    ]);
    expect(collections.map((collection) => collection?.address)).to.deep.equal([undefined, contract, undefined]);
    expect(statements()).to.equal(1);
    const source = (places: TransferPlaces) => lookUps.transferSources([places]).then(([found]) => found);
    const sources = await Promise.all([
      source({ appId: me, wallet: mine, contract: randomAddress() }),
      source({ appId: other, wallet: mine, contract }),
      source({ appId: me, wallet: mine, contract }),
      source({ appId: me, wallet: randomAddress(), contract }),
    ]);
    expect(sources).to.deep.equal([
      { ownsWallet: true, collectionType: null, soulbound: false, signedBurns: false },
      { ownsWallet: false, collectionType: "ERC721", soulbound: false, signedBurns: true },
      { ownsWallet: true, collectionType: "ERC721", soulbound: false, signedBurns: true },
      { ownsWallet: false, collectionType: "ERC721", soulbound: false, signedBurns: true },
    ]);
    expect(statements()).to.equal(1);
    const [ours, others] = [hashOf(api.app.token), hashOf(api.other.token)];
    const tokens = await Promise.all([others, "unknown", ours, others].map((hash) => lookUps.token(hash)));
    expect(tokens.map((token) => token?.app_id)).to.deep.equal([other, undefined, me, other]);
    expect(statements()).to.equal(1);
  });
});
