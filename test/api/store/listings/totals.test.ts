import { expect } from "chai";
import type { KyselyPlugin } from "kysely";

import { insertApp } from "../../../../api/store/apps/apps.ts";
import { insertWallets, listWallets } from "../../../../api/store/apps/wallets.ts";
import { useTestDatabase } from "../../../support/use-database.ts";

const APP = "app-1";

describe("the total of a list", () => {
  const database = useTestDatabase();
  beforeEach(async () => {
    await database.write((trx) => insertApp(trx, { id: APP, name: APP, created_at: 1 }));
  });

  it("counts no row that the page does not show, while rows arrive", async () => {
    let arrived = 0;
    const insert = () => {
      arrived += 1;
      const number = arrived.toString();
      const wallet = { appId: APP, userIdentifier: null, path: number, address: `0x${number.padStart(40, "0")}` };
      return database.write((trx) => insertWallets(trx, [wallet], arrived));
    };
    // One arrives after each statement.
    const arriving: KyselyPlugin = {
      transformQuery: ({ node }) => node,
      transformResult: async ({ result }) => {
        await insert();
        return result;
      },
    };
    await insert();
    const read = database.read.withPlugin(arriving);
    const page = await listWallets(read, APP, "newest", { limit: 10, offset: 0, after: null });
    expect(arrived, "statements").to.equal(3);
    expect(page.items.length).to.be.at.least(page.total);
  });
});
