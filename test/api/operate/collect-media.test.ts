import { expect } from "chai";
import type { KyselyPlugin } from "kysely";
import type { CID } from "multiformats/cid";

import { collectMedia } from "../../../api/operate/media/collect.ts";
import type { BlockStore } from "../../../api/content/block-store.ts";
import { importContent, walkBlocks } from "../../../api/content/content.ts";
import { type Database, openDatabase } from "../../../api/store/db/database.ts";
import { addPin } from "../../../api/store/media/pins.ts";
import { collect } from "../../support/collect.ts";
import { withMethods } from "../../support/with-methods.ts";
import { type TestApi, startApi } from "../support/api.ts";
import { streamOf } from "../support/content.ts";
import { expectAccepted } from "../support/expect.ts";
import { addCollection, addMint } from "../support/api-rows.ts";
import { randomAddress } from "../support/rows.ts";
import { BLOCK_STORES } from "../support/test-blocks.ts";

/** What happens between the steps of a collection. */
interface Steps {
  /** The unreferenced blocks are known; none is quarantined yet. */
  searched?: () => Promise<void>;
  /** All of them are quarantined; the references are not checked again yet. */
  quarantined?: () => Promise<void>;
  /** The references are checked again; the rows of the content are not removed yet. */
  checkedOnce?: () => Promise<void>;
  /** The rows are removed as well; the removal is not confirmed yet. */
  checkedAgain?: () => Promise<void>;
}

/** A block store that runs a test's steps. Everything else is as in production. */
function interrupted(blocks: BlockStore, steps: Steps): BlockStore {
  return withMethods(blocks, {
    async *all() {
      await steps.searched?.();
      yield* blocks.all();
    },
    quarantine: () => {
      const quarantine = blocks.quarantine();
      return withMethods(quarantine, {
        // The blocks of a test fit into one call.
        add: async (cids, before) => {
          const moved = await quarantine.add(cids, before);
          await steps.quarantined?.();
          return moved;
        },
        all: async () => {
          await steps.checkedOnce?.();
          return quarantine.all();
        },
        confirm: async () => {
          await steps.checkedAgain?.();
          await quarantine.confirm();
        },
      });
    },
  });
}

for (const store of BLOCK_STORES)
  describe(`collectMedia: ${store}`, () => {
    let api: TestApi;
    let collection: string;
    let cid: CID;
    beforeEach(async () => {
      api = await startApi({ store });
      collection = await addCollection(api);
      await addMint(api, { contract: collection, to: randomAddress(), tokenId: 1 });
      await addMint(api, { contract: collection, to: randomAddress(), tokenId: 2 });
      // Two leaves and their root. Nothing refers to them.
      cid = await add(Buffer.alloc(2_000_000, "cat"));
      await age();
    });
    afterEach(() => api.close());

    const add = async (bytes: Uint8Array) => (await importContent(api.blocks, streamOf(bytes))).cid;
    const age = () => api.stored.age();
    const blockCids = async () => (await collect(api.blocks.all())).map((block) => block.cid);
    const patch = async (token: number, image: string | null) => {
      const answer = await api.call("PATCH", `/v1/collections/${collection}/${token.toString()}`, { body: { image } });
      expect(answer.status, answer.text).to.equal(200);
    };
    const run = (steps: Steps) =>
      collectMedia({ database: api.database, blocks: interrupted(api.blocks, steps) }, Infinity);
    const status = async () => {
      const answer = await fetch(`${api.baseUrl}/ipfs/${cid.toString()}`);
      return answer.ok ? (await answer.arrayBuffer()).byteLength : answer.status;
    };
    const expectWhole = async () => {
      expect(await status()).to.equal(2_000_000);
      expect(await collect(walkBlocks(api.blocks, cid, new Set()))).to.have.length(3);
    };

    it("removes blocks that nothing refers to", async () => {
      expect(await run({})).to.include({ kept: 0, removed: 3 });
      expect(await status()).to.equal(404);
      expect(await collect(api.blocks.all())).to.deep.equal([]);
    });

    for (const step of ["searched", "quarantined"] as const) {
      it(`keeps blocks that a metadata change refers to after the step "${step}"`, async () => {
        expect(await run({ [step]: () => patch(1, `ipfs://${cid.toString()}`) })).to.include({ kept: 3, removed: 0 });
        await expectWhole();
      });

      it(`keeps blocks that a mint refers to after the step "${step}"`, async () => {
        const body = { collection_address: collection, to_address: randomAddress(), image: `ipfs://${cid.toString()}` };
        const mint = async () => {
          expectAccepted(await api.post("/v1/nfts", body));
        };
        expect(await run({ [step]: mint })).to.include({ kept: 3, removed: 0 });
        await expectWhole();
      });
    }

    it("removes blocks that are referred to only after the last check, and nobody can read them before that", async () => {
      const seen: (number | string)[] = [];
      const checkedAgain = async () => {
        seen.push(await status());
        await patch(1, `ipfs://${cid.toString()}`);
        seen.push(await status());
      };
      expect(await run({ checkedAgain })).to.include({ removed: 3 });
      expect([...seen, await status()]).to.deep.equal([404, 404, 404]);
    });

    it("keeps hosted content that a metadata change refers to after the last check", async () => {
      await api.database.write((trx) => addPin(trx, cid.toString(), 1));
      const checkedOnce = () => patch(1, `ipfs://${cid.toString()}`);
      expect(await run({ checkedOnce })).to.include({ kept: 3, removed: 0 });
      await expectWhole();
    });

    it("keeps blocks whose reference moves from row to row during the check", async () => {
      const uri = `ipfs://${cid.toString()}`;
      const patchCollection = async (image: string | null) => {
        const answer = await api.call("PATCH", `/v1/collections/${collection}`, { body: { image } });
        expect(answer.status, answer.text).to.equal(200);
      };
      const toToken = async () => {
        await patch(1, uri);
        await patchCollection(null);
      };
      await patchCollection(uri);
      // Some row refers to it at any time. But each check reads the token before the move and the collection after it.
      const own = await openDatabase(api.databaseUrl);
      let checks = 0;
      const moving: KyselyPlugin = {
        transformQuery: ({ node }) => node,
        transformResult: async ({ result }) => {
          if (result.rows.some((row) => "token_uri" in row)) {
            checks += 1;
            await toToken();
          }
          return result;
        },
      };
      const snapshot: Database["snapshot"] = (reads) => own.snapshot((db) => reads(db.withPlugin(moving)));
      const quarantined = async () => {
        await patchCollection(uri);
        await patch(1, null);
      };
      const blocks = interrupted(api.blocks, { quarantined });
      try {
        await collectMedia({ database: { ...own, snapshot }, blocks }, Infinity);
      } finally {
        await own.close();
      }
      expect(checks).to.equal(2);
      await expectWhole();
    });

    it("restores all blocks after an interrupted collection", async () => {
      const never = run({ quarantined: () => Promise.reject(new Error("killed")) });
      expect(await never.catch(String)).to.equal("Error: killed");
      await expectWhole();
      // A process that was killed has restored nothing itself.
      await api.blocks.quarantine().add(await blockCids(), Infinity);
      expect(await status()).to.equal(404);
      await patch(1, `ipfs://${cid.toString()}`);
      expect(await run({})).to.include({ kept: 3, removed: 0 });
      await expectWhole();
    });

    it("stops when another collection starts and takes over its quarantine", async () => {
      const other = async () => {
        // The second restores the quarantine of the first. Then a row refers to the restored content.
        await run({ searched: () => patch(1, `ipfs://${cid.toString()}`) });
      };
      for (const step of ["quarantined", "checkedAgain"] as const) {
        const refusal = await run({ [step]: other }).catch(String);
        expect(refusal).to.contain("took over");
        await expectWhole();
        await patch(1, null);
        await age();
      }
    });

    it("is finished by the next collection when it was killed after it confirmed the removal", async () => {
      const quarantine = api.blocks.quarantine();
      await quarantine.add(await blockCids(), Infinity);
      await quarantine.confirm();
      expect(await api.stored.other().restoreQuarantined()).to.equal(0);
      await run({});
      expect(await api.stored.copies()).to.equal(0);
    });

    it("keeps media that is being copied for a request, whatever the minimum age and the clock of the files", async () => {
      const body = { collection_address: collection, to_address: randomAddress(), image: "data:,x", copy_media: true };
      const id = expectAccepted(await api.post("/v1/nfts", body));
      const copied = await add(Buffer.from("half of it"));
      expect(await run({})).to.include({ kept: 1 });
      const acceptAt = (created_at: number) =>
        api.database.write((trx) => trx.updateTable("requests").set({ created_at }).where("id", "=", id).execute());
      // A file can have a time from just before the request.
      await acceptAt(Date.now() + 1_000);
      await run({});
      expect(await api.blocks.has(copied)).to.equal(true);
      await api.database.write((trx) => trx.deleteFrom("media_jobs").where("request_id", "=", id).execute());
      await age();
      expect(await run({})).to.include({ removed: 1 });
    });

    it("removes waiting pins of removed content, unless the content was stored again meanwhile", async () => {
      const pins = () => api.database.read.selectFrom("pins").select("cid").execute();
      const name = cid.toString();
      await api.database.write((trx) => addPin(trx, name, 1));
      await run({ checkedAgain: () => api.database.write((trx) => addPin(trx, name, Date.now())) });
      expect(await pins()).to.deep.equal([{ cid: name }]);
      cid = await add(Buffer.alloc(2_000_000, "cat"));
      await age();
      await api.database.write((trx) => trx.updateTable("pins").set({ created_at: 1 }).execute());
      await run({});
      expect(await pins()).to.deep.equal([]);
    });
  });
