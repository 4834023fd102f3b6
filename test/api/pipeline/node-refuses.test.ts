import { expect } from "chai";

import { PlainERC721__factory } from "../../../types/ethers-contracts/index.js";
import { ProxiedService } from "../../support/proxied-service.ts";

describe("a node that answers, and refuses every call for a limit of its own", function () {
  this.timeout(60_000);
  let proxied: ProxiedService;

  before(async () => {
    proxied = await ProxiedService.start();
  });
  after(() => proxied.end());

  it("is to callers as one that is away", async () => {
    const { api } = proxied;
    const wallet = await api.wallet();
    const outsider = await proxied.provider.getSigner(3);
    const contracts = [];
    for (let count = 0; count < 2; count++) {
      const plain = await new PlainERC721__factory(outsider).deploy();
      await (await plain.mint(wallet, 5)).wait();
      contracts.push(await plain.getAddress());
    }
    const [followed = "", unknown = ""] = contracts;
    await api.ok("GET", `/v1/accounts/${wallet}/${followed}`);
    proxied.intercept = () => ({ error: { code: -32_005, message: "too many requests" } });

    const transfer = { from_address: wallet, to_address: followed, contract_address: unknown, token_id: 5 };
    for (const answer of [
      await api.send("POST", "/v1/transfers", transfer),
      await api.send("GET", `/v1/accounts/${wallet}/${unknown}`),
    ]) {
      expect([answer.status, answer.body["error_code"]]).to.deep.equal([503, "unavailable"]);
    }
    expect((await api.send("GET", `/v1/accounts/${wallet}/${followed}`)).status).to.equal(200);
  });
});
