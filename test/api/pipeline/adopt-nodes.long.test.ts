import { expect } from "chai";
import type { JsonRpcSigner } from "ethers";

import { FaultyNode } from "../../../scripts/scene/faulty-node.ts";
import { WizardERC721__factory } from "../../../types/ethers-contracts/factories/mocks/WizardERC721__factory.ts";
import { eventually } from "../../support/eventually.ts";
import { useService } from "../../support/use-service.ts";
import { adoptAllowed, foreignRow, holdersOf, readBack } from "../support/adopt.ts";

describe("the past of an adopted contract, read from several nodes", () => {
  // The service has two nodes, and then three, of which one lies.
  const moneta = useService({ start: false });
  const nodes: FaultyNode[] = [];
  let owner: JsonRpcSigner;

  before(async () => {
    owner = await moneta.provider.getSigner(3);
    while (nodes.length < 2) nodes.push(await FaultyNode.start(moneta.node.url));
    await moneta.start({ RPC_URL: "", RPC_URLS: nodes.map(({ url }) => url).join(",") });
  });
  after(async () => {
    await moneta.stop();
    for (const node of nodes) await node.stop();
  });

  /** The node hides a transaction's logs of the contract. @returns how often it did. */
  function hides(liar: FaultyNode, address: string, hash: string): { times: number } {
    const hidden = { times: 0 };
    liar.fault = {
      kind: "lies",
      tell: ({ method, params }, result) => {
        const [query] = params as [{ address?: string | string[] }?];
        const isPast = [query?.address].flat().some((one) => one?.toLowerCase() === address.toLowerCase());
        if (method !== "eth_getLogs" || !isPast) return undefined;
        hidden.times += 1;
        const logs = result as { transactionHash: string }[];
        return { result: logs.filter(({ transactionHash }) => transactionHash !== hash) };
      },
    };
    return hidden;
  }

  for (const [index, which] of ["first", "second"].entries()) {
    it(`is not stored while the ${which} one hides a transfer, and whole once it does not`, async () => {
      const contract = await new WizardERC721__factory(owner).deploy(owner.address, 3);
      const [address, stranger] = [await contract.getAddress(), await moneta.provider.getSigner(4)];
      const { hash } = await contract.transferFrom(owner.address, stranger.address, 1);
      const [liar] = nodes.slice(index);
      if (liar === undefined) throw new Error("there is no such node");
      const hidden = hides(liar, address, hash);
      await adoptAllowed(moneta, address);
      await eventually(() => (hidden.times > 2 ? true : undefined));
      const error = await eventually(
        () =>
          moneta.service.workers.map(({ worker }) => worker.lastError).find((one) => one?.includes("do not agree")) ??
          undefined,
      );
      expect(error).to.match(/the nodes do not agree about block \d+/);
      expect((await foreignRow(moneta, address)).state).to.equal("reading");
      expect(await holdersOf(moneta, address)).to.not.include(`1 ${owner.address} 1`);
      liar.fault = null;
      await readBack(moneta, address);
      expect(await holdersOf(moneta, address)).to.deep.equal(
        [`0 ${owner.address} 1`, `1 ${stranger.address} 1`, `2 ${owner.address} 1`].sort(),
      );
    });
  }

  it("is what most of three nodes have, whichever of them lies", async () => {
    nodes.push(await FaultyNode.start(moneta.node.url));
    await moneta.stop();
    await moneta.start({ RPC_URL: "", RPC_URLS: nodes.map(({ url }) => url).join(",") });
    for (const liar of nodes.slice(0, 2)) {
      const contract = await new WizardERC721__factory(owner).deploy(owner.address, 3);
      const [address, stranger] = [await contract.getAddress(), await moneta.provider.getSigner(4)];
      const { hash } = await contract.transferFrom(owner.address, stranger.address, 1);
      const hidden = hides(liar, address, hash);
      await adoptAllowed(moneta, address);
      await readBack(moneta, address);
      expect(hidden.times).to.be.greaterThan(0);
      expect(await holdersOf(moneta, address)).to.include(`1 ${stranger.address} 1`);
      liar.fault = null;
    }
  });
});
