import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { expect } from "chai";

import { type ContractAddresses, deploymentFile } from "../../../api/chain/contracts.ts";
import { deployLocally, LOCAL_CHAIN_ID, withLocalOwner } from "../../../api/chain/local-contracts.ts";
import { contractsOf, withDeployedFactories } from "../../../api/context/chain-identity.ts";
import { deployContracts } from "../../../api/operate/deploy/deploy-contracts.ts";
import type { Examination } from "../../../api/checks/examine.ts";
import type { Reconciliation } from "../../../api/operate/reconcile/reconcile.ts";
import { writeContracts } from "../../../api/store/db/meta.ts";
import { readGasMeasurement } from "../../../api/store/requests/gas-measurement.ts";
import { CompactERC721Collection__factory } from "../../../types/ethers-contracts/factories/CompactERC721Collection__factory.ts";
import { CollectionFactory__factory } from "../../../types/ethers-contracts/factories/CollectionFactory__factory.ts";
import { useFolder } from "../../support/use-folder.ts";
import { useService } from "../../support/use-service.ts";
import { jsonOfCli } from "../cli/support/run.ts";

const HOSTED_BASE = "http://localhost:0/metadata/";

describe("an installation of 0.2.0 that gets a factory for compact storage", () => {
  // The service starts with the contracts of 0.2.0, and is restarted with other deployment files.
  const moneta = useService({ node: "empty", start: false });
  const { api } = moneta;
  const old = () => ({ DEPLOYMENTS_DIR: join(moneta.folder, "old") });
  const current = () => ({ DEPLOYMENTS_DIR: join(moneta.folder, "current") });
  let addresses: ContractAddresses;
  let collection: string;
  let editions: string;
  let alice: string;
  let bob: string;

  before("start with the deployment file of 0.2.0", async () => {
    const deployed = await withLocalOwner(moneta.node.url, (owner) => deployLocally(owner, HOSTED_BASE, "standard"));
    const { relay, factories, delegate, deployedAt } = deployed;
    // The collections of 0.2.0 have no signed burns.
    addresses = { ...deployed, factories: [{ ...factories[0], signedBurns: false }] };
    const factory = CollectionFactory__factory.connect(factories[0].address, moneta.provider);
    const content = JSON.stringify({
      relay,
      erc721Implementation: await factory.erc721Implementation(),
      erc1155Implementation: await factory.erc1155Implementation(),
      factory: factories[0].address,
      delegate,
      deployedAt,
    });
    for (const { DEPLOYMENTS_DIR: folder } of [old(), current()]) {
      await mkdir(folder);
      await writeFile(deploymentFile(folder, LOCAL_CHAIN_ID), content);
    }
    await moneta.start(old());
    [alice, bob] = [await api.wallet(), await api.wallet()];
    collection = await api.collection({ type: "ERC721", name: "Old" });
    editions = await api.collection({ type: "ERC1155", name: "Old editions" });
    await api.mint(collection, alice);
  });

  async function addFactory(): Promise<void> {
    const plan = {
      network: "localhost",
      chainId: LOCAL_CHAIN_ID,
      owner: "",
      operators: [],
      hostedBase: HOSTED_BASE,
      storage: null,
      dryRun: false,
      folder: current().DEPLOYMENTS_DIR,
    };
    await withLocalOwner(moneta.node.url, (owner) => deployContracts(plan, owner, () => undefined));
  }

  const storageOf = async (address: string) => {
    const rows = moneta.service.database.read.selectFrom("collections").select("storage");
    return (await rows.where("address", "=", address).executeTakeFirstOrThrow()).storage;
  };
  /** Whether the wallet burnt its token through its delegate. */
  const delegated = async (request: string) => {
    const rows = moneta.service.database.read.selectFrom("requests").select("command").where("id", "=", request);
    const { command } = await rows.executeTakeFirstOrThrow();
    return (JSON.parse(command) as { foreign: boolean }).foreign;
  };
  const storages = async () =>
    (await contractsOf(moneta.service.database.read)).factories.map(({ storage }) => storage);

  /** Mints to both, moves a token, and compares with the contract. */
  async function useCollection(address: string): Promise<void> {
    const contract = CompactERC721Collection__factory.connect(address, moneta.provider);
    const ids = [];
    for (const to of [alice, bob, alice]) ids.push(Number((await api.mint(address, to)).nft_token_id));
    const [first = 0, second = 0, third = 0] = ids;
    await api.move(address, first, alice, bob);
    expect([await contract.ownerOf(first), await contract.ownerOf(third)]).to.deep.equal([bob, alice]);
    const burnt = { contract_address: address, from_address: bob, token_id: second };
    const { request_id: burn } = await api.completed("/v1/burns", burnt);
    expect(await delegated(burn)).to.equal(address === collection);
    expect(await contract.totalSupply()).to.equal((await contract.totalMinted()) - 1n);
    for (const wallet of [alice, bob]) {
      const { nfts } = await api.ok<{ nfts: { contract_address: string }[] }>("GET", `/v1/accounts/${wallet}`);
      const held = nfts.filter(({ contract_address: at }) => at === address).length;
      expect(BigInt(held)).to.equal(await contract.balanceOf(wallet));
    }
  }

  it("keeps the factory of the database, also when the file is gone", async () => {
    expect(await storages()).to.deep.equal(["standard"]);
    expect(await storageOf(collection)).to.equal("standard");
    await moneta.restart({ DEPLOYMENTS_DIR: join(moneta.folder, "nowhere") });
    expect(moneta.service.contracts).to.deep.equal(addresses);
  });

  it("settles what was signed for the old factory, after a restart with the new file", async () => {
    await moneta.restart(old());
    const checkpoint = await moneta.checkpoint();
    await addFactory();
    await moneta.provider.send("evm_setAutomine", [false]);
    const id = await api.accept("/v1/collections", { type: "ERC721", name: "Signed before", symbol: "SIG" });
    await api.processing(id);
    await moneta.restart(current());
    expect(await storages()).to.deep.equal(["compact", "standard"]);
    expect(await moneta.checkpoint()).to.be.at.least(checkpoint);
    await moneta.provider.send("evm_setAutomine", [true]);
    await moneta.provider.send("evm_mine", []);
    const settled = await api.settled(id);
    expect(settled.status).to.equal("completed");
    const [log] = await moneta.provider.getLogs({
      address: addresses.factories[0].address,
      fromBlock: settled.block_number ?? 0,
    });
    expect(log?.data.toLowerCase()).to.include((settled.nft_collection ?? "?").slice(2).toLowerCase());
    expect(await storageOf(settled.nft_collection ?? "")).to.equal("standard");
  });

  it("creates new collections with compact storage, and uses both kinds side by side", async () => {
    const compact = await api.collection({ type: "ERC721", name: "New" });
    expect(await storageOf(compact)).to.equal("compact");
    expect(await storageOf(await api.collection({ type: "ERC1155", name: "New editions" }))).to.equal("standard");
    for (const address of [collection, compact]) await useCollection(address);
    await api.create(editions, alice, 1, 2);
    await api.completed("/v1/burns", { contract_address: editions, from_address: alice, token_id: 1, amount: 2 });
    // Each kind is measured: two new slots, and one.
    const { measurement } = await readGasMeasurement(moneta.service.database.read);
    expect(measurement?.mintErc721).to.be.within(50_000, 51_500);
    expect(measurement?.compact.mintErc721).to.be.within(29_000, 30_000);
    expect(measurement?.compact.transferErc721).to.be.above(measurement?.transferErc721 ?? Infinity);
  });

  it("is whole for doctor and reconcile", async () => {
    const env = { ...moneta.env, ...current() };
    const { findings } = await jsonOfCli<Examination>(env, "doctor");
    expect(findings.filter(({ result }) => result === "problem")).to.deep.equal([]);
    const found = findings.filter(({ check, words }) => check === "contracts" && /^the factory/.test(words));
    expect(found.map(({ words }) => /\((\w+) storage\)/.exec(words)?.[1])).to.deep.equal(["compact", "standard"]);
    const { comparison } = await jsonOfCli<Reconciliation>(env, "reconcile");
    expect(comparison.told).to.deep.equal([]);
  });

  it("given an indexer that started before the factory was added: stores what the factory makes", async () => {
    // As the database was before another process started with the new file.
    await moneta.service.database.write((trx) => writeContracts(trx, addresses));
    await moneta.stop();
    const indexer = moneta.spawn({ ...old(), ROLES: "indexer" });
    await indexer.printed(/"msg":"serving"/);
    await moneta.start({ ...current(), ROLES: "api,relayer" });
    expect(await storages()).to.deep.equal(["compact", "standard"]);
    const address = await api.collection({ type: "ERC721", name: "Newer than the indexer" });
    expect(await storageOf(address)).to.equal("compact");
    await useCollection(address);
    await indexer.end("SIGTERM");
  });

  it("given a file that lacks a factory which the database knows: refuses to start, says what to do, and changes nothing", async () => {
    await moneta.stop();
    const refused = await moneta.start(old()).catch((error: unknown) => error);
    expect(String(refused)).to.match(
      /31337\.json lacks the factory 0x[0-9a-fA-F]{40}, which the database knows\. Put the newest deployment file there, or remove the file\. Nothing was changed\.$/,
    );
    await moneta.start(current());
    expect(await storages()).to.deep.equal(["compact", "standard"]);
  });
});

describe("withDeployedFactories", () => {
  const folder = useFolder();
  const address = (digit: string) => `0x${digit.repeat(40)}`;
  const factory = (digit: string) => ({ storage: "compact", signedBurns: true, address: address(digit) }) as const;
  const known: ContractAddresses = {
    ...{ relay: address("1"), delegate: address("3") },
    ...{ factories: [factory("2")], deployedAt: 7 },
  };

  it("takes the factories in the order of the file, and refuses that of another deployment, or something else", async () => {
    const read = async (content: object) => {
      await writeFile(deploymentFile(folder.path, 5n), JSON.stringify({ ...known, ...content }));
      return withDeployedFactories(known, folder.path, 5n).catch(String);
    };
    const factories = [factory("4"), factory("2")];
    const taken = await read({ factories, deployedAt: 100, delegate: address("5") });
    expect(taken).to.deep.equal({ ...known, factories });
    const another = /belongs to another deployment: its relay is 0x9{40}, and .* 0x1{40}\./;
    expect(await read({ relay: address("9") })).to.match(another);
    expect(await read({ factories: [] })).to.match(/is not a deployment file/);
    expect(await read({ factories: [{ storage: "other", address: address("2") }] })).to.match(
      /is not a deployment file/,
    );
  });
});
