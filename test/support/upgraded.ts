import { writeFile } from "node:fs/promises";
import { join } from "node:path";

import { writeSeedFile } from "../../api/keys/seed-file.ts";
import { NodeProcess, STATE_FILE } from "../../scripts/nodes/node-process.ts";
import { Outside } from "../../scripts/upgrade/outside.ts";
import { ApiClient } from "./api-client.ts";
import { Cleanups } from "./cleanups.ts";
import { temporaryFolder } from "./folder.ts";
import { FakeKubo } from "./kubo.ts";
import { rawSql } from "./raw-sql.ts";
import type { Released } from "./released.ts";
import { startTestService } from "./service.ts";
import { shiftClock } from "./shifted-clock.ts";

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
}

/** The present version, started on what an old version has left: its database, its chain and its apps. */
export class Upgraded {
  readonly parts: Parts;
  readonly #cleanups: Cleanups;

  private constructor(parts: Parts, cleanups: Cleanups) {
    this.parts = parts;
    this.#cleanups = cleanups;
  }

  static async start(released: Released): Promise<Upgraded> {
    const cleanups = new Cleanups();
    try {
      return new Upgraded(await start(released, cleanups), cleanups);
    } catch (error) {
      await cleanups.run();
      throw error;
    }
  }

  async stop(): Promise<void> {
    await this.#cleanups.run();
  }

  /** @param rows a table and a condition. */
  async count(rows: string): Promise<number> {
    return Number((await rawSql(this.parts.url, `select count(*) as n from ${rows}`))[0]?.["n"]);
  }
}

async function start(released: Released, cleanups: Cleanups): Promise<Parts> {
  const { manifest } = released;
  const temporary = await temporaryFolder();
  cleanups.add(() => temporary.remove());
  const folder = temporary.path;
  await writeFile(join(folder, STATE_FILE), await released.unpacked("chain.json.br"));
  const node = await NodeProcess.start("anvil", folder, {}, manifest.chainBegan);
  cleanups.add(() => node.stop());
  const outside = await Outside.listen();
  cleanups.add(() => outside.close());
  const kubo = new FakeKubo();
  await kubo.start();
  cleanups.add(() => kubo.stop());
  const database = await released.database(folder, outside.origin);
  cleanups.add(() => database.remove());
  await released.placeReconcile(folder);
  await writeSeedFile(join(folder, "seed.jwe"), manifest.seedPhrase, manifest.settings["SEED_PASSPHRASE"] ?? "");
  const places = { DATABASE_URL: database.url, DATA_DIR: folder, RPC_URL: node.url, IPFS_PIN_RPC: kubo.rpc };
  const env = { ...manifest.settings, ...places };
  const setRight = shiftClock(manifest.madeAt + LATER);
  cleanups.add(() => {
    setRight();
    return Promise.resolve();
  });
  const service = await startTestService({ rpcUrl: node.url, dataDir: folder, env });
  cleanups.add(() => service.stop());
  const shop = ApiClient.at(service.baseUrl, manifest.apps["shop"]?.token ?? "");
  return { node, outside, url: database.url, env, shop };
}
