import { expect } from "chai";
import { parseEther, Wallet } from "ethers";

import { deployLocally, configureLocally, withLocalOwner } from "../../../api/chain/local-contracts.ts";
import { NodeProcess } from "../../../scripts/scene/node.ts";

const HOSTED_BASE = "http://localhost:0/metadata/";

describe("services that start together on one local node", () => {
  it("deploy and prepare with the same account, whose transactions Anvil may give the same nonce", async () => {
    await using opened = new AsyncDisposableStack();
    const node = opened.adopt(await NodeProcess.anvil([]), (anvil) => anvil.stop());
    const lanes = [Wallet.createRandom().address, Wallet.createRandom().address];
    const starts = Array.from({ length: 12 }, () =>
      withLocalOwner(node.url, async (owner) => {
        const contracts = await deployLocally(owner, HOSTED_BASE);
        await configureLocally(owner, contracts, { lanes, hostedBase: HOSTED_BASE });
        return contracts.relay;
      }),
    );
    const relays = await Promise.all(starts);
    expect(new Set(relays).size).to.equal(relays.length);
    for (const lane of lanes) expect(await node.provider.getBalance(lane)).to.be.at.least(parseEther("100"));
  });
});
