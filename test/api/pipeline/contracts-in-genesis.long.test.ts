import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";

import { expect } from "chai";
import { toQuantity } from "ethers";

import { type ContractAddresses, deploymentFile } from "../../../api/chain/contracts.ts";
import { deployLocally, LOCAL_CHAIN_ID, withLocalOwner } from "../../../api/chain/local-contracts.ts";
import { createApp } from "../../../api/operate/apps.ts";
import { readMeta } from "../../../api/store/db/meta.ts";
import { anvilBinary } from "../../../scripts/scene/anvil.ts";
import { NodeProcess } from "../../../scripts/scene/node.ts";
import { Cleanups } from "../../../scripts/scene/scene.ts";
import { ApiClient } from "../../support/api-client.ts";
import { createTestDatabase } from "../../support/database.ts";
import { temporaryFolder } from "../../support/folder.ts";
import { databaseSettings, startTestService } from "../../support/service.ts";
import { putTestKeys } from "../../support/test-keys.ts";

interface Account {
  nonce: string | number;
  balance: string;
  code: string;
  storage: Record<string, string>;
}

/** The accounts of a chain on which the service's contracts were deployed, as block 0 of another chain has them. */
async function accountsWithContracts(): Promise<{ alloc: Record<string, Account>; contracts: ContractAddresses }> {
  const first = await NodeProcess.anvil([]);
  try {
    const contracts = await withLocalOwner(first.url, (owner) => deployLocally(owner, "http://localhost:0/metadata/"));
    const dump = (await first.provider.send("anvil_dumpState", [])) as string;
    const state = JSON.parse(gunzipSync(Buffer.from(dump.slice(2), "hex")).toString()) as {
      accounts: Record<string, Account>;
    };
    const accounts = Object.entries(state.accounts).map(
      ([address, { nonce, ...account }]) => [address, { ...account, nonce: toQuantity(nonce) }] as const,
    );
    return { alloc: Object.fromEntries(accounts), contracts };
  } finally {
    await first.stop();
  }
}

describe("a private chain whose genesis block has the service's contracts", () => {
  const cleanups = new Cleanups();
  before(function () {
    if (anvilBinary() === null) this.skip();
  });
  after(() => cleanups.run());

  it("is used from block 0 on, with a deployment file that says so", async () => {
    const folder = await temporaryFolder();
    cleanups.add(() => folder.remove());
    const { alloc, contracts } = await accountsWithContracts();
    const genesis = join(folder.path, "genesis.json");
    const forks = { homesteadBlock: 0, shanghaiTime: 0, cancunTime: 0, pragueTime: 0 };
    const config = { chainId: Number(LOCAL_CHAIN_ID), ...forks };
    const header = { nonce: "0x0", timestamp: "0x0", gasLimit: "0x1c9c380", difficulty: "0x0" };
    await writeFile(genesis, JSON.stringify({ config, alloc, ...header }));
    const node = await NodeProcess.anvil(["--init", genesis]);
    cleanups.add(() => node.stop());
    expect(await node.head()).to.equal(0);
    const deployments = join(folder.path, "deployments");
    await mkdir(deployments);
    await writeFile(deploymentFile(deployments, LOCAL_CHAIN_ID), JSON.stringify({ ...contracts, deployedAt: 0 }));
    await putTestKeys(folder.path);
    const database = await createTestDatabase({ folder: folder.path });
    cleanups.add(() => database.remove());

    const env = { DEPLOYMENTS_DIR: deployments, ...databaseSettings(database) };
    const service = await startTestService({ rpcUrl: node.url, dataDir: folder.path, env });
    cleanups.add(() => service.stop());
    expect(service.contracts.relay).to.equal(contracts.relay);
    const { token } = await createApp(service, "test");
    const api = ApiClient.at(service.baseUrl, token);
    const collection = await api.collection({ type: "ERC721" });
    const wallet = await api.wallet();
    const mint = await api.completed("/v1/nfts", { collection_address: collection, to_address: wallet });
    expect(mint).to.include({ nft_collection: collection, nft_token_id: 1 });
    expect(Number(await readMeta(service.database.read, "checkpoint"))).to.equal(await node.head());
  });
});
