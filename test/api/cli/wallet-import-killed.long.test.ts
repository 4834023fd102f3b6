import { once } from "node:events";

import { expect } from "chai";
import { hexlify, randomBytes } from "ethers";

import { eventually } from "../../support/eventually.ts";
import { useService } from "../../support/use-service.ts";
import { importKeys, startImport } from "./support/import-keys.ts";

const ROWS = 1_501;

describe("command line: wallet import, killed", () => {
  const moneta = useService();

  it("keeps whole parts, each wallet with its key, and the same command adds the rest", async () => {
    const rows = Array.from({ length: ROWS }, (_, index) => `user-${index.toString()},${hexlify(randomBytes(32))}`);
    const { read } = moneta.service.database;
    const stored = async () => {
      const wallets = read.selectFrom("wallets").select("address").where("app_id", "=", moneta.app.appId);
      const found = await wallets.where("path", "=", "").execute();
      const keys = read.selectFrom("imported_keys").select("wallet").where("wallet", "in", wallets);
      return { wallets: found.length, keys: (await keys.execute()).length };
    };
    const child = startImport(moneta.env, rows.join("\n"), "--app", moneta.app.appId);
    await eventually(async () => ((await stored()).wallets > 0 ? true : undefined));
    child.kill("SIGKILL");
    await once(child, "close");
    const { wallets, keys } = await stored();
    expect(wallets).to.equal(keys).and.be.below(ROWS);
    expect(wallets % 500).to.equal(0);
    const { added, already_there: there, refused } = await importKeys(moneta.env, moneta.app.appId, rows);
    expect([added, there, refused]).to.deep.equal([ROWS - wallets, wallets, 0]);
    expect(await stored()).to.deep.equal({ wallets: ROWS, keys: ROWS });
  });
});
