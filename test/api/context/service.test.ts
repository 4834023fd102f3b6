import { createServer } from "node:net";

import { expect } from "chai";

import { openDatabase } from "../../../api/store/db/database.ts";
import { allLanes } from "../../../api/store/sending/lanes.ts";
import { type Listening, listenOnLoopback } from "../../../scripts/scene/loopback.ts";
import { useService } from "../../support/use-service.ts";

describe("startService", () => {
  // It starts as for the first time, and the tests stop it.
  const moneta = useService({ node: "empty", per: "test", start: false });

  it("has closed everything when any call of stop returns", async () => {
    await moneta.start();
    expect(await moneta.database.isOpen()).to.equal(true);
    const first = moneta.service.stop();
    await moneta.service.stop();
    expect(await moneta.database.isOpen()).to.equal(false);
    await first;
  });

  describe("given a port that is in use", () => {
    let other: Listening;
    beforeEach(async () => {
      other = await listenOnLoopback(createServer());
    });
    afterEach(() => other.stop());

    it("fails, stops the workers that run, and closes the database", async () => {
      const error: unknown = await moneta.start({ PORT: other.port.toString() }).catch((thrown: unknown) => thrown);
      expect(error).to.include({ code: "EADDRINUSE" });
      expect(await moneta.database.isOpen()).to.equal(false);
      const database = await openDatabase(moneta.databaseUrl);
      const holders = (await allLanes(database.read)).map(({ lease_holder: holder }) => holder);
      await database.close();
      expect(holders.every((holder) => holder === null)).to.equal(true);
    });
  });
});
