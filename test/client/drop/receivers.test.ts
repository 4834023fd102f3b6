import { expect } from "chai";

import { checkReceivers } from "../../../client/drop/receivers.ts";

const ADDRESS = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
function known(wallets: Record<string, string> = {}, similar: Record<string, string> = {}) {
  return {
    wallets: new Map(Object.entries(wallets)),
    similar: new Map(Object.entries(similar)),
    unknown: new Set<string>(),
  };
}

describe("the receivers of a drop", () => {
  const token = (source: string, user: string | null) => ({ source, owner: user === null ? null : { user } });

  it("make no user of an address, unless the user has a wallet; also the one for all tokens", () => {
    const tokens = [token("line 2", `eth:${ADDRESS}`), token("line 3", null), token("line 4", "0x12")];
    const { problems } = checkReceivers(tokens, { user: "alice.eth" }, known());
    expect(problems.map(({ source, message }) => [source, message.slice(0, 40)])).to.deep.equal([
      ["line 2", "owner: No user has this name, and it loo"],
      ["line 4", "owner: Must be an address (0x and 40 hex"],
      ["--user", "No user has this name, and it looks like"],
    ]);
    const all = { [`eth:${ADDRESS}`]: ADDRESS, "alice.eth": ADDRESS, "0x12": ADDRESS };
    expect(checkReceivers(tokens, { user: "alice.eth" }, known(all)).problems).to.deep.equal([]);
  });
});
