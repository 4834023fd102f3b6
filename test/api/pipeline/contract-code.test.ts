import { expect } from "chai";
import { keccak256 } from "ethers";

import type { ContractAddresses } from "../../../api/chain/contracts.ts";
import { deployLocally, withLocalOwner } from "../../../api/chain/local-contracts.ts";
import { StartupError } from "../../../api/context/startup-error.ts";
import { PlainERC721__factory } from "../../../types/ethers-contracts/factories/mocks/PlainERC721__factory.ts";
import { rawSql } from "../../support/raw-sql.ts";
import { rejectionOf } from "../../support/rejection.ts";
import { useService } from "../../support/use-service.ts";

describe("the contracts at the start", () => {
  // The service starts with other contracts in the database, and a proxy that lies about code.
  const moneta = useService({ start: false, proxy: true });
  let known: ContractAddresses;

  before(async () => {
    await moneta.start();
    known = moneta.service.contracts;
    await moneta.stop();
  });
  afterEach(async () => {
    await moneta.stop();
    await store(known);
  });

  /** As somebody who can write to the database. */
  const store = (contracts: ContractAddresses) =>
    rawSql(moneta.databaseUrl, `update meta set value = '${JSON.stringify(contracts)}' where key = 'contracts'`);
  const refusal = async (settings = {}) => {
    const error = await rejectionOf(moneta.start(settings));
    expect(error).to.be.instanceOf(StartupError);
    return error.message;
  };
  const foreignContract = () =>
    withLocalOwner(moneta.node.url, async (owner) => {
      const contract = await new PlainERC721__factory(owner).deploy();
      await contract.waitForDeployment();
      return contract.getAddress();
    });
  const hashAt = async (address: string) => keccak256(await moneta.provider.getCode(address));

  it("are refused when the address of one was changed, unless its code is allowed", async () => {
    const other = await foreignContract();
    for (const changed of ["relay", "delegate"] as const) {
      await store({ ...known, [changed]: other });
      const message = await refusal();
      expect(message).to.contain(`the ${changed} ${other} has other code (its hash is ${await hashAt(other)})`);
      expect(message).to.contain("ALLOWED_CONTRACT_CODE");
    }
    const [newest] = known.factories;
    await store({ ...known, factories: [newest, { ...newest, address: other }] });
    // Without the deployment file, which lacks this factory.
    expect(await refusal({ DEPLOYMENTS_DIR: "nowhere" })).to.contain(`the factory ${other} has other code`);
    await store({ ...known, delegate: other });
    await moneta.start({ ALLOWED_CONTRACT_CODE: await hashAt(other) });
    expect(moneta.service.contracts.delegate).to.equal(other);
  });

  it("are refused when the delegate is genuine, but obeys another relay", async () => {
    const theirs = await withLocalOwner(moneta.node.url, (owner) => deployLocally(owner, "http://else.example/"));
    await store({ ...known, delegate: theirs.delegate });
    expect(await refusal()).to.contain(`the delegate ${theirs.delegate} belongs to the relay ${theirs.relay}`);
  });

  it("are used when only the first of two nodes shows other code, and refused when it is the only one", async () => {
    moneta.intercept = ({ method }) => (method === "eth_getCode" ? { result: "0x6001" } : undefined);
    expect(await refusal()).to.contain("has other code");
    await moneta.start({ RPC_URL: "", RPC_URLS: `${moneta.env["RPC_URL"] ?? ""},${moneta.node.url}` });
    expect(moneta.service.contracts).to.deep.equal(known);
  });
});
