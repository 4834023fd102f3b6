import { expect } from "chai";

import { answerOf, type Shape } from "../../../client/client.ts";
import { ProgrammableReceiver__factory } from "../../../types/ethers-contracts/factories/mocks/ProgrammableReceiver__factory.ts";
import { RejectingReceiver__factory } from "../../../types/ethers-contracts/factories/mocks/RejectingReceiver__factory.ts";
import { randomAddress } from "../support/rows.ts";
import { Mode } from "../../support/receiver-mode.ts";
import { useService } from "../../support/use-service.ts";

type Checked = Shape<"CheckedReceiver">;

describe("checks of receivers on a node", () => {
  const moneta = useService();
  const { api } = moneta;
  const collections = { ERC721: "", ERC1155: "" };

  before(async () => {
    collections.ERC721 = await api.collection({ type: "ERC721" });
    collections.ERC1155 = await api.collection({ type: "ERC1155" });
  });

  const check = async (contract: string, addresses: string[]): Promise<Checked[]> => {
    const body = { contract_address: contract, addresses };
    return (await answerOf(api.client.POST("/v1/receivers/check", { body }))).receivers;
  };

  /** Gives a new address some code. */
  async function withCode(code: string): Promise<string> {
    const address = randomAddress();
    await moneta.provider.send("hardhat_setCode", [address, code]);
    return address;
  }

  async function programmed(mode: number): Promise<string> {
    const receiver = await new ProgrammableReceiver__factory(await moneta.provider.getSigner(3)).deploy();
    await (await receiver.program(mode)).wait();
    return receiver.getAddress();
  }

  const outcomes = (receivers: Checked[]) => receivers.map(({ kind, accepts }) => `${kind} ${String(accepts)}`);

  for (const type of ["ERC721", "ERC1155"] as const) {
    it(`says what each receiver is, and whether it accepts ${type}`, async () => {
      const hook = type === "ERC721" ? "onERC721Received" : "onERC1155Received";
      const other = await moneta.createApp(`another app, ${type}`);
      const without = await new RejectingReceiver__factory(await moneta.provider.getSigner(3)).deploy();
      const rejecting = await without.getAddress();
      const accepting = await programmed(Mode.accept);
      const delegatedTo = (delegate: string) => withCode(`0xef0100${delegate.slice(2).toLowerCase()}`);
      const cases: [address: string, outcome: string, message: RegExp | null][] = [
        [await api.wallet(), "wallet true", null],
        [await other.wallet(), "account true", null],
        [randomAddress(), "account true", null],
        [accepting, "contract true", null],
        [await delegatedTo(accepting), "delegated_account true", null],
        [await delegatedTo(moneta.service.contracts.delegate), "delegated_account true", null],
        [await withCode("0x00"), "contract false", /: the code answers nothing\.$/],
        [
          await delegatedTo(randomAddress()),
          "delegated_account false",
          /delegate 0x\w{40} \(EIP-7702\).*answers nothing\.$/,
        ],
        [
          await delegatedTo(rejecting),
          "delegated_account false",
          /delegate 0x\w{40} \(EIP-7702\).*without a reason\.$/,
        ],
        [rejecting, "contract false", /or it reverts without a reason\.$/],
        [await programmed(Mode.lie), "contract false", /does not answer what the standard demands\.$/],
        [await programmed(Mode.reason), "contract false", new RegExp(`\`${hook}\` refuses the token: .*0x63c38351`)],
        [await programmed(Mode.burn), "contract false", /uses more than 1000000 gas|without a reason/],
        [await programmed(Mode.revertMegabyte), "contract false", /uses more than 1000000 gas|without a reason/],
        [await programmed(Mode.returnMegabyte), "contract false", /uses more than 1000000 gas|without a reason/],
        [collections[type], "contract false", /or it reverts without a reason\.$/],
      ];
      const found = await check(
        collections[type],
        cases.map(([address]) => address),
      );
      expect(outcomes(found)).to.deep.equal(cases.map(([, outcome]) => outcome));
      for (const [index, [address, outcome, message]] of cases.entries()) {
        expect(found[index]?.address).to.equal(address);
        if (message === null) expect(found[index]?.message, outcome).to.equal(null);
        else expect(found[index]?.message, outcome).to.match(message);
      }
    });
  }

  it("agrees with what a mint does", async () => {
    const receivers = [
      await programmed(Mode.accept),
      await programmed(Mode.reason),
      await programmed(Mode.lie),
      await withCode("0x00"),
      randomAddress(),
    ];
    const found = await check(collections.ERC721, receivers);
    const minted = await Promise.all(
      receivers.map((to) => api.done("/v1/nfts", { collection_address: collections.ERC721, to_address: to })),
    );
    expect(found.map(({ accepts }) => accepts)).to.deep.equal(minted.map(({ status }) => status === "completed"));
    expect(found.map(({ accepts }) => accepts)).to.deep.equal([true, false, false, false, true]);
  });

  describe("given a node that cannot tell", () => {
    const broken = { error: { code: -32_000, message: "out of gas" } };

    it("says unknown where it gives no code or rubbish, and still knows the app's wallets", async () => {
      const [wallet, account] = [await api.wallet(), randomAddress()];
      for (const answer of [broken, { result: "rubbish" }, { result: null }]) {
        moneta.intercept = ({ method }) => (method === "eth_getCode" ? answer : undefined);
        const found = await check(collections.ERC721, [account, wallet]);
        expect(outcomes(found)).to.deep.equal(["unknown null", "wallet true"]);
        expect(found[0]?.message).to.match(/^The service's node could not tell/);
      }
    });

    it("does not take its errors for a refusal by the receiver, nor for its consent", async () => {
      const accepting = await programmed(Mode.accept);
      for (const answer of [broken, { result: "rubbish" }]) {
        moneta.intercept = ({ method }) => (method === "eth_call" ? answer : undefined);
        expect(outcomes(await check(collections.ERC721, [accepting]))).to.deep.equal(["contract null"]);
      }
    });
  });
});
