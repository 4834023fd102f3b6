import { expect } from "chai";

import { Problem } from "../../../scripts/start/problem.ts";
import { runTourAlone, type TourOptions } from "../../../scripts/start/tour/main.ts";
import { startFakeRpc } from "../../support/fake-rpc.ts";
import { rejectionOf } from "../../support/rejection.ts";

const LOCAL = "0x7a69";
/** Nobody listens on this port, which only the operating system may use. */
const NOWHERE = "http://127.0.0.1:1";

describe("runTourAlone", () => {
  async function refusal(changes: Partial<TourOptions>): Promise<string> {
    const options = {
      baseUrl: NOWHERE,
      token: "moneta_token",
      rpcUrl: NOWHERE,
      verbose: false,
      signal: new AbortController().signal,
    };
    const error = await rejectionOf(runTourAlone({ ...options, ...changes }));
    expect(error).to.be.instanceOf(Problem);
    return error.message;
  }

  it("asks for a token", async () => {
    expect(await refusal({ token: "" })).to.match(/needs the token of an app: npm run tour -- <token>/);
  });

  it("says that no chain answers", async () => {
    expect(await refusal({})).to.contain(`No chain answers at ${NOWHERE}`);
  });

  it("says that the tour is for a local chain", async () => {
    const other = await startFakeRpc(() => "0x14a34");
    try {
      expect(await refusal({ rpcUrl: other.url })).to.contain(
        `is for a local chain (chain id 31337). ${other.url} is another one`,
      );
      expect(other.calls.map(({ method }) => method)).to.deep.equal(["eth_chainId"]);
    } finally {
      await other.stop();
    }
  });

  it("says that no service answers", async () => {
    const chain = await startFakeRpc(() => LOCAL);
    try {
      expect(await refusal({ rpcUrl: chain.url })).to.contain(`No service answers at ${NOWHERE}`);
    } finally {
      await chain.stop();
    }
  });
});
