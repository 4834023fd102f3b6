import { type AddressInfo, createServer, type Server } from "node:net";

import { expect } from "chai";

import { openDatabase } from "../../../api/store/db/database.ts";
import { allLanes } from "../../../api/store/sending/lanes.ts";
import { Cleanups } from "../../../scripts/scene/scene.ts";
import { createTestDatabase, type DatabasePlace } from "../../support/database.ts";
import { temporaryFolder } from "../../support/folder.ts";
import type { TestNode } from "../../support/node.ts";
import { startTestService } from "../../support/service.ts";
import { borrowNode } from "../../support/shared-node.ts";

describe("startService", () => {
  const cleanups = new Cleanups();
  let node: TestNode;
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let place: DatabasePlace;

  beforeEach(async () => {
    // The service starts as for the first time.
    node = await borrowNode("empty");
    cleanups.add(() => node.stop());
    folder = await temporaryFolder();
    cleanups.add(() => folder.remove());
    place = await createTestDatabase({ folder: folder.path });
    cleanups.add(() => place.remove());
  });
  // Also after a failed test: a service that keeps running keeps Mocha running.
  afterEach(() => cleanups.run());

  const start = async (env: Record<string, string> = {}) => {
    const settings = { DATABASE_URL: place.url, ...env };
    const service = await startTestService({ rpcUrl: node.url, dataDir: folder.path, env: settings });
    cleanups.add(() => service.stop());
    return service;
  };

  it("has closed everything when any call of stop returns", async () => {
    const service = await start();
    expect(await place.isOpen()).to.equal(true);
    const first = service.stop();
    await service.stop();
    expect(await place.isOpen()).to.equal(false);
    await first;
  });

  describe("given a port that is in use", () => {
    let other: Server;

    beforeEach(async () => {
      other = createServer();
      await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    });
    afterEach(() => new Promise((resolve) => other.close(resolve)));

    it("fails, stops the workers that run, and closes the database", async () => {
      const { port } = other.address() as AddressInfo;
      const error: unknown = await start({ PORT: port.toString() }).catch((thrown: unknown) => thrown);
      expect(error).to.include({ code: "EADDRINUSE" });
      expect(await place.isOpen()).to.equal(false);
      const database = await openDatabase(place.url);
      const holders = (await allLanes(database.read)).map(({ lease_holder: holder }) => holder);
      await database.close();
      expect(holders.every((holder) => holder === null)).to.equal(true);
    });
  });
});
