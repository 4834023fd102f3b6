import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { deploymentFile } from "../../api/chain/contracts.ts";
import { LOCAL_CHAIN_ID } from "../../api/chain/local-contracts.ts";
import { writeSeedFile } from "../../api/keys/seed-file.ts";
import { deployContracts } from "../../api/operate/deploy/deploy-contracts.ts";
import { NodeProcess, STATE_FILE } from "../../scripts/scene/node.ts";
import { type RpcProxy, startRpcProxy } from "../../scripts/scene/rpc-proxy.ts";
import { Scene } from "../../scripts/scene/scene.ts";
import { Outside } from "../../scripts/upgrade/outside.ts";
import { CollectionFactory__factory } from "../../types/ethers-contracts/factories/CollectionFactory__factory.ts";
import { ApiClient } from "./api-client.ts";
import { FakeKubo } from "./kubo.ts";
import { HARMLESS } from "./removed-settings.ts";
import { rawSql } from "./raw-sql.ts";
import type { Released } from "./released.ts";
import { startTestService } from "./service.ts";

/**
 * Milliseconds after the end of the old version at which the new one starts: every wait is over, and nothing is old enough
 * to be pruned. So the test does the same in every year.
 */
const LATER = 3_600_000;

interface Parts {
  node: NodeProcess;
  outside: Outside;
  /** Of the database. */
  url: string;
  /** Settings of the service, and of commands beside it. */
  env: Record<string, string>;
  /** Calls the service as the app `shop`. */
  shop: ApiClient;
  /** The last block that the old version has stored. */
  oldCheckpoint: number;
}

/** The present version, started on what an old version has left: its database, its chain and its apps. */
export class Upgraded {
  readonly parts: Parts;
  readonly #scene: Scene;

  private constructor(parts: Parts, scene: Scene) {
    this.parts = parts;
    this.#scene = scene;
  }

  static start(released: Released): Promise<Upgraded> {
    return Scene.open("test", async (scene) => new Upgraded(await start(released, scene), scene));
  }

  stop(): Promise<void> {
    return this.#scene.close();
  }

  /** @param rows a table and a condition. */
  async count(rows: string): Promise<number> {
    return Number((await rawSql(this.parts.url, `select count(*) as n from ${rows}`))[0]?.["n"]);
  }
}

/** Runs `deploy` as an operator does before the new version starts: it adds the factory that is missing. @returns DEPLOYMENTS_DIR */
async function addFactory({ provider }: NodeProcess, databaseUrl: string, folder: string): Promise<string> {
  const [row] = await rawSql(databaseUrl, "select value from meta where key = 'contracts'");
  // The database of a local chain has what is in the file of another chain, without the implementations.
  const known = JSON.parse(String(row?.["value"])) as { factory: string } | { factories: { address: string }[] };
  const implementationsOf = async (address: string) => {
    const factory = CollectionFactory__factory.connect(address, provider);
    return {
      erc721Implementation: await factory.erc721Implementation(),
      erc1155Implementation: await factory.erc1155Implementation(),
    };
  };
  const complete =
    "factories" in known
      ? {
          factories: await Promise.all(
            known.factories.map(async (one) => ({ ...one, ...(await implementationsOf(one.address)) })),
          ),
        }
      : await implementationsOf(known.factory); // of 0.2.0
  const deployments = join(folder, "deployments");
  await mkdir(deployments);
  await writeFile(deploymentFile(deployments, LOCAL_CHAIN_ID), JSON.stringify({ ...known, ...complete }));
  const owner = await provider.getSigner(0);
  await provider.send("evm_setAutomine", [true]);
  const plan = {
    ...{ network: "localhost", chainId: LOCAL_CHAIN_ID, owner: owner.address, operators: [], hostedBase: "" },
    ...{ storage: null, dryRun: false, folder: deployments },
  };
  await deployContracts(plan, owner, () => undefined);
  await provider.send("evm_setAutomine", [false]);
  return deployments;
}

/** A node that does not give all receipts of a block at once: the old versions did not ask for them. */
async function withoutBlockReceipts(url: string): Promise<RpcProxy> {
  const proxy = await startRpcProxy(url);
  proxy.intercept = ({ method }) =>
    method === "eth_getBlockReceipts" ? { error: { code: -32_601, message: "method not found" } } : undefined;
  return proxy;
}

async function start(released: Released, scene: Scene): Promise<Parts> {
  const { manifest } = released;
  const { folder } = scene;
  await writeFile(join(folder, STATE_FILE), await released.unpacked("chain.json.br"));
  const node = await scene.add(NodeProcess.start("anvil", folder, {}, manifest.chainBegan));
  const outside = await scene.add(Outside.listen());
  const kubo = new FakeKubo();
  await kubo.start();
  await scene.add(kubo);
  const database = await released.database(folder, outside.origin);
  await scene.add({ stop: () => database.remove() });
  const [stored] = await rawSql(database.url, "select value from meta where key = 'checkpoint'");
  await released.placeReconcile(folder);
  await writeSeedFile(join(folder, "seed.jwe"), manifest.seedPhrase, manifest.settings["SEED_PASSPHRASE"] ?? "");
  const { url: rpcUrl } = await scene.add(withoutBlockReceipts(node.url));
  const deployments = await addFactory(node, database.url, folder);
  const places = {
    DATABASE_URL: database.url,
    DATA_DIR: folder,
    DEPLOYMENTS_DIR: deployments,
    RPC_URL: rpcUrl,
    IPFS_PIN_RPC: kubo.rpc,
  };
  const env = { ...manifest.settings, ...places };
  const setRight = shiftClock(manifest.madeAt + LATER);
  await scene.add({
    stop: () => {
      setRight();
      return Promise.resolve();
    },
  });
  // Settings of the old version that the present one has no more.
  const set = { ...HARMLESS, ...env };
  const service = await scene.add(startTestService({ rpcUrl, dataDir: folder, env: set }));
  const shop = ApiClient.at(service.baseUrl, manifest.apps["shop"]?.token ?? "");
  return { node, outside, url: database.url, env, shop, oldCheckpoint: Number(stored?.["value"]) };
}

/** Sets this process's clock to a time, from which it goes on. @returns a function that sets it right again. */
function shiftClock(to: number): () => void {
  const RealDate = Date;
  const offset = to - RealDate.now();
  const now = () => RealDate.now() + offset;
  globalThis.Date = new Proxy(RealDate, {
    construct: (target, args: unknown[], self) =>
      Reflect.construct(target, args.length === 0 ? [now()] : args, self) as Date,
    get: (target, key, self) => (key === "now" ? now : (Reflect.get(target, key, self) as unknown)),
  });
  return () => {
    globalThis.Date = RealDate;
  };
}
