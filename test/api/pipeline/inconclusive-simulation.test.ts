import { expect } from "chai";

import { readMeta } from "../../../api/store/db/meta.ts";
import type { ProgrammableReceiver } from "../../../types/ethers-contracts/mocks/ProgrammableReceiver.ts";
import { ProgrammableReceiver__factory } from "../../../types/ethers-contracts/factories/mocks/ProgrammableReceiver__factory.ts";
import { eventually } from "../../support/eventually.ts";
import { Mode } from "../../support/receiver-mode.ts";
import { useService } from "../../support/use-service.ts";

describe("an inconclusive simulation", () => {
  const moneta = useService();
  const { api } = moneta;
  let receiver: ProgrammableReceiver;
  let collection: string;

  before(async () => {
    receiver = await new ProgrammableReceiver__factory(await moneta.provider.getSigner(3)).deploy();
    collection = await api.collection({ type: "ERC721" });
  });

  const program = async (mode: number) => (await receiver.program(mode)).wait();
  const mint = async () =>
    api.done("/v1/nfts", { collection_address: collection, to_address: await receiver.getAddress() });

  it("does not stop a request when the node cannot finish it", async () => {
    await program(Mode.accept);
    // The service treats an answer that takes too long like one that is not valid.
    moneta.intercept = ({ method }) => (method === "eth_estimateGas" ? { result: "?" } : undefined);
    expect((await mint()).status).to.equal("completed");
  });

  it("is ignored when its block is older than the checkpoint, the gas estimate included", async () => {
    await program(Mode.useTwoMillionGas);
    const behind: unknown = await moneta.provider.send("eth_getBlockByNumber", ["latest", false]);
    await program(Mode.accept);
    const head = await moneta.provider.getBlockNumber();
    await eventually(async () =>
      Number(await readMeta(moneta.service.database.read, "checkpoint")) >= head ? true : undefined,
    );
    moneta.intercept = ({ method, params }) =>
      method === "eth_getBlockByNumber" && params[0] === "latest" ? { result: behind } : undefined;
    expect((await mint()).status).to.equal("completed");
  });
});
