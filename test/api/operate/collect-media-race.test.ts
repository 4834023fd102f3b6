import { expect } from "chai";

import { importContent } from "../../../api/content/content.ts";
import { collectMedia } from "../../../api/operate/media/collect.ts";
import { type Database, openDatabase } from "../../../api/store/db/database.ts";
import { findMediaType, insertMedia } from "../../../api/store/media/media.ts";
import { addPin } from "../../../api/store/media/pins.ts";
import { describeOn } from "../../support/engine.ts";
import { overlap, valueOf } from "../../support/overlap.ts";
import { withMethods } from "../../support/with-methods.ts";
import { streamOf } from "../support/content.ts";
import { startApi, type TestApi } from "../support/api.ts";

describeOn("postgres", "collectMedia, while another process stores the same content again", () => {
  let api: TestApi;
  let other: Database;
  beforeEach(async () => {
    api = await startApi();
    other = await openDatabase(api.databaseUrl);
  });
  afterEach(async () => {
    await other.close();
    await api.close();
  });

  it("keeps its rows", async () => {
    const { cid } = await importContent(api.blocks, streamOf(Buffer.from("a cat")));
    const [name, media] = [cid.toString(), { cid: cid.toString(), type: "text/plain", size: 5 }];
    const host = (at: number) => async (trx: Parameters<typeof addPin>[0]) => {
      await addPin(trx, name, at);
      await insertMedia(trx, [media], at);
    };
    await api.database.write(host(1));
    await api.stored.age();
    // The collection is about to remove the rows when the other process is about to commit.
    const quarantine = api.blocks.quarantine();
    const begun = Promise.withResolvers<null>();
    const goOn = Promise.withResolvers<null>();
    const stopping = withMethods(quarantine, {
      all: async () => {
        begun.resolve(null);
        await goOn.promise;
        return quarantine.all();
      },
    });
    const blocks = withMethods(api.blocks, { quarantine: () => stopping });
    const collecting = collectMedia({ database: api.database, blocks }, Infinity);
    await begun.promise;
    const { waited, second } = await overlap(
      other,
      (trx) => host(Date.now())(trx),
      () => {
        goOn.resolve(null);
        return collecting;
      },
    );
    expect(waited).to.equal(true);
    expect(valueOf(second)).to.include({ removed: 0 });
    expect(await findMediaType(api.database.read, name)).to.equal("text/plain");
    const pin = await api.database.read.selectFrom("pins").select("hosted").executeTakeFirst();
    expect(pin?.hosted).to.equal(1);
  });
});
