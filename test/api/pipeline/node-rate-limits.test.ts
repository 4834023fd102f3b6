import { expect } from "chai";

import { PlainERC721__factory } from "../../../types/ethers-contracts/factories/mocks/PlainERC721__factory.ts";
import { useService } from "../../support/use-service.ts";

describe("a node that rejects every call with its rate limit", () => {
  const moneta = useService();
  const { api } = moneta;

  it("answers 503, like a stopped node", async () => {
    const wallet = await api.wallet();
    const outsider = await moneta.provider.getSigner(3);
    const contracts = [];
    for (let count = 0; count < 2; count++) {
      const plain = await new PlainERC721__factory(outsider).deploy();
      await (await plain.mint(wallet, 5)).wait();
      contracts.push(await plain.getAddress());
    }
    const [followed = "", unknown = ""] = contracts;
    await api.ok("GET", `/v1/accounts/${wallet}/${followed}`);
    moneta.intercept = () => ({ error: { code: -32_005, message: "too many requests" } });

    const transfer = { from_address: wallet, to_address: followed, contract_address: unknown, token_id: 5 };
    const answer = await api.send("POST", "/v1/transfers", transfer);
    expect([answer.status, answer.body["error_code"]]).to.deep.equal([503, "unavailable"]);
    expect((await api.send("GET", `/v1/accounts/${wallet}/${unknown}`)).status).to.equal(200);
    expect((await api.send("GET", `/v1/accounts/${wallet}/${followed}`)).status).to.equal(200);
  });
});
