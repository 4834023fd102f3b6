import { setImmediate as turn } from "node:timers/promises";

import { expect } from "chai";
import type { CID } from "multiformats/cid";

import type { BlockStore } from "../../../api/content/block-store.ts";
import { findFile, importContent } from "../../../api/content/content.ts";
import { moveMedia, removeOldMedia } from "../../../api/operate/media/move.ts";
import { readMediaPlace } from "../../../api/store/media/media-store.ts";
import { collect } from "../../support/collect.ts";
import { openTestDatabase, type TestDatabase } from "../../support/database.ts";
import { TEST_ENGINE } from "../../support/engine.ts";
import { useFolder } from "../../support/use-folder.ts";
import { withMethods } from "../../support/with-methods.ts";
import { streamOf } from "../support/content.ts";
import { BLOCK_STORES, openTestBlocks, type TestBlocks } from "../support/test-blocks.ts";

const SIZE = 5_500_000;

/** Blocks in files and in a bucket are the same on both engines. */
function isOfEngine(...kinds: string[]): boolean {
  return TEST_ENGINE === "sqlite" || kinds.includes("database");
}

for (const from of BLOCK_STORES)
  for (const to of BLOCK_STORES.filter((kind) => kind !== from && isOfEngine(from, kind)))
    describe(`moveMedia from ${from} to ${to}`, () => {
      const folder = useFolder();
      let database: TestDatabase;
      let source: TestBlocks;
      let target: TestBlocks;
      let cid: CID;
      beforeEach(async () => {
        database = await openTestDatabase();
        source = await openTestBlocks(from, { dataDir: folder.path, database });
        target = await openTestBlocks(to, { dataDir: folder.path, database });
        cid = await add(source.blocks, "cat");
      });
      afterEach(async () => {
        await source.close();
        await target.close();
        await database.remove();
      });

      const add = async (blocks: BlockStore, word: string): Promise<CID> => {
        const parts = Array.from({ length: 11 }, (_, part) => Buffer.alloc(SIZE / 11, `${word}${part.toString()}`));
        return (await importContent(blocks, streamOf(...parts))).cid;
      };
      const move = (changes: { source?: BlockStore } = {}) =>
        moveMedia({ database, source: source.blocks, target: target.blocks, progress: () => undefined, ...changes });
      /** The source in a process that dies in the given pass. @param listed called after each complete pass. */
      const dying = (pass: number, listed: () => Promise<void> = () => Promise.resolve()) => {
        let passes = 0;
        return withMethods(source.blocks, {
          async *all() {
            passes += 1;
            for await (const block of source.blocks.all()) {
              if (passes === pass) throw new Error("killed");
              yield block;
            }
            await listed();
          },
        });
      };
      const sizeIn = async (blocks: BlockStore, root: CID) => {
        const file = await findFile(blocks, root, "");
        return file === null ? null : (await collect(file.read())).reduce((sum, { length }) => sum + length, 0);
      };

      it("copies every block, leaves the source as it is, and switches the service", async () => {
        expect(await move()).to.deep.include({ copied: 7, present: 0 });
        expect(await sizeIn(target.blocks, cid)).to.equal(SIZE);
        expect(await sizeIn(source.blocks, cid)).to.equal(SIZE);
        expect(await readMediaPlace(database.read)).to.deep.equal({ store: target.blocks.name, movingFrom: null });
        expect(await move().catch(String)).to.contain("set MEDIA_STORE to where they are");
      });

      it("continues after a crash before or after the switch, and copies what was stored meanwhile", async () => {
        expect(await move({ source: dying(1) }).catch(String)).to.equal("Error: killed");
        expect(await readMediaPlace(database.read)).to.deep.equal({ store: null, movingFrom: null });
        let late: CID | null = null;
        const storedMeanwhile = async () => {
          late ??= await add(source.blocks, "dog");
        };
        const error = await move({ source: dying(2, storedMeanwhile) }).catch(String);
        expect(error).to.equal("Error: killed");
        expect(await readMediaPlace(database.read)).to.deep.equal({
          store: target.blocks.name,
          movingFrom: source.blocks.name,
        });
        expect(await move()).to.deep.include({ copied: 7, present: 7 });
        for (const root of [cid, late!]) expect(await sizeIn(target.blocks, root)).to.equal(SIZE);
        expect(await readMediaPlace(database.read)).to.deep.equal({ store: target.blocks.name, movingFrom: null });
      });

      it("leaves a copy that can be removed, once the service uses the new place", async () => {
        const remove = () => removeOldMedia(database, source.blocks);
        expect(await remove().catch(String)).to.contain(`Hosted media are in ${source.blocks.name}`);
        expect(await move({ source: dying(2) }).catch(String)).to.equal("Error: killed");
        expect(await remove().catch(String)).to.contain("is unfinished");
        await move();
        await source.age();
        expect(await remove()).to.include({ removed: 7, kept: 0 });
        expect(await source.copies()).to.equal(0);
        expect(await collect(source.blocks.all())).to.deep.equal([]);
        expect(await remove()).to.include({ removed: 0, kept: 0 });
        expect(await sizeIn(target.blocks, cid)).to.equal(SIZE);
      });

      it("stops at a damaged block and switches nothing, also while the next page is being read", async () => {
        const all = await collect(source.blocks.all());
        const damaged = all.at(-1)!.cid;
        await source.corrupt(damaged, "other bytes");
        const refused = Promise.withResolvers<null>();
        const slowlyListed = withMethods(source.blocks, {
          async *all() {
            yield* source.blocks.all();
            await refused.promise;
            // Node reports a rejection that nobody has handled by now.
            await turn();
          },
          get: (block: CID) =>
            source.blocks.get(block).catch((error: unknown) => {
              refused.resolve(null);
              throw error;
            }),
        });
        for (const each of [source.blocks, slowlyListed]) {
          const refusal = await move({ source: each }).catch(String);
          expect(refusal).to.contain(`The move stopped: block ${damaged.toString()} is corrupt`);
          expect(await readMediaPlace(database.read)).to.deep.equal({ store: null, movingFrom: null });
        }
      });
    });
