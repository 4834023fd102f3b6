import { expect } from "chai";

import { eventually } from "../../support/eventually.ts";
import { rawSql } from "../../support/raw-sql.ts";
import { useService } from "../../support/use-service.ts";
import { openLater } from "../store/support/later-version.ts";

const NEWER = /The database was migrated by Moneta 99\.1\.0 or newer/;

for (const roles of ["api,relayer,indexer,webhooks,media", "webhooks"]) {
  describe(`the schema of a newer version, given a process with the roles ${roles}`, () => {
    // Processes, because they end by themselves.
    const moneta = useService({ start: false, settings: { LEASE_SECONDS: "12" } });

    it("is not created while the process runs, and ends the process if it appears nevertheless", async () => {
      // The first start binds the database to the chain.
      await moneta.start();
      await moneta.stop();
      const running = moneta.spawn({ ROLES: roles });
      await running.printed(/"msg":"serving"/);
      const refused = await openLater(moneta.databaseUrl).catch((error: unknown) => error);
      expect((refused as Error).message).to.include(`process ${String(running.child.pid)} on `);
      // As if the process had been paused until its time was over.
      await eventually(async () => {
        for (const table of ["processes", "other_processes"]) await rawSql(moneta.databaseUrl, `delete from ${table}`);
        return openLater(moneta.databaseUrl).then(
          () => true,
          () => undefined,
        );
      });
      expect(await running.gone()).to.equal(1);
      expect(running.output).to.match(NEWER);

      const second = moneta.spawn({ ROLES: roles });
      expect(await second.gone()).to.equal(1);
      expect(second.output).to.match(NEWER);
    });
  });
}
