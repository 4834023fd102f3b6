import { expect } from "chai";

import { ChainClient } from "../../../api/chain/client.ts";
import { ChainUnavailable } from "../../../api/chain/errors.ts";
import { createForeignContracts } from "../../../api/chain/foreign.ts";
import type { Burn } from "../../../api/domain/command.ts";
import { type FakeRpc, type RpcFailure, startFakeRpc } from "../../support/fake-rpc.ts";
import { randomAddress } from "../support/rows.ts";

const CONTROL = "0x0000000000000000000000000000000000000004";
const REFUSED: RpcFailure = { error: { code: -32602, message: "unknown field: authorizationList" } };
const PLAIN = "0x5208";
/** With the 25,000 gas of an authorization. */
const DELEGATING = "0xb3b0";

interface Call {
  to: string;
  data: string;
  authorizationList?: unknown;
}

describe("what a burn through a delegate needs", () => {
  let node: FakeRpc;
  beforeEach(async () => {
    node = await startFakeRpc(() => "0x");
  });
  afterEach(() => node.stop());
  const foreign = () => createForeignContracts(new ChainClient(node.url), 100_000);

  describe("canDelegate", () => {
    let estimates: number;
    beforeEach(() => {
      estimates = 0;
    });
    function answerEstimates(plain: unknown, delegating: unknown) {
      node.answer = ({ method, params }) => {
        if (method === "eth_chainId") return "0x1";
        estimates += 1;
        return (params[0] as Call).authorizationList === undefined ? plain : delegating;
      };
    }

    const cases: [string, unknown, unknown, boolean][] = [
      ["charges for the authorization", PLAIN, DELEGATING, true],
      ["refuses it", PLAIN, REFUSED, false],
      ["ignores it, so that nothing is known", PLAIN, PLAIN, true],
      ["estimates nothing at all, so that nothing is known", REFUSED, REFUSED, true],
    ];
    for (const [what, plain, delegating, expected] of cases) {
      it(`is ${String(expected)} where the node ${what}, and asks once for calls that arrive together`, async () => {
        answerEstimates(plain, delegating);
        const reader = foreign();
        expect(await Promise.all([reader.canDelegate(), reader.canDelegate()])).to.deep.equal([expected, expected]);
        const asked = estimates;
        expect(await reader.canDelegate()).to.equal(expected);
        expect([asked, estimates]).to.deep.equal([4, 4]);
      });
    }

    it("asks again after the node did not answer", async () => {
      const reader = foreign();
      node.raw = (_calls, response) => response.writeHead(500).end();
      expect(await reader.canDelegate().catch((error: unknown) => error)).to.be.instanceOf(ChainUnavailable);
      node.raw = null;
      answerEstimates(PLAIN, REFUSED);
      expect(await reader.canDelegate()).to.equal(false);
    });
  });

  describe("burnable", () => {
    const burn: Burn = {
      ...{ kind: "burn", contract: randomAddress(), contractType: "ERC721", foreign: true },
      ...{ from: randomAddress(), tokenId: "1", quantity: "1" },
    };
    const failed = (code: number, data?: string) => ({ error: { code, message: "?", data } });
    const cases: [string, unknown, boolean][] = [
      ["the call succeeds", "0x", true],
      ["the contract reverts with a reason", failed(3, "0x08c379a0"), true],
      ["the contract reverts without one, as those do that lack the function", failed(3, "0x"), false],
      ["the call needs more gas than the limit", failed(-32000), true],
      ["the node refuses the call", failed(-32005), true],
    ];
    for (const [when, answer, expected] of cases) {
      it(`is ${String(expected)} when ${when}`, async () => {
        node.answer = ({ params }) => {
          const { to, data } = params[0] as Call;
          return to === CONTROL ? data : answer;
        };
        expect(await foreign().burnable([burn], AbortSignal.timeout(60_000))).to.deep.equal([expected]);
      });
    }

    it("is true when there is no time to ask", async () => {
      expect(await foreign().burnable([burn], AbortSignal.abort())).to.deep.equal([true]);
      expect(node.calls).to.deep.equal([]);
    });
  });
});
