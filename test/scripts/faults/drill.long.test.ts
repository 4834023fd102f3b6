import { expect } from "chai";

import { drill } from "../../../scripts/faults/drill.ts";
import type { Engine } from "../../../scripts/faults/options.ts";
import { hasSystemPostgres } from "../../../scripts/postgres/programs.ts";

/** PostgreSQL's own programs are a part of the drill. */
const ENGINES: Engine[] = hasSystemPostgres() ? ["sqlite", "postgres"] : ["sqlite"];

describe("the drill: back up under load, lose the disk, restore, reconcile", function () {
  this.timeout(900_000);

  for (const engine of ENGINES) {
    it(`keeps every promise on ${engine}`, async () => {
      const lines: string[] = [];
      await drill(engine, (line) => lines.push(line));
      expect(
        lines.filter((line) => line.includes("holds: ")),
        lines.join("\n"),
      ).to.have.length(7);
    });
  }
});
