import { readdir, utimes } from "node:fs/promises";

import { expect } from "chai";
import type { CID } from "multiformats/cid";

import { collectMedia } from "../../../api/operator/collect-media.ts";
import { BlockFiles } from "../../../api/ipfs/block-files.ts";
import { importContent, walkBlocks } from "../../../api/ipfs/content.ts";
import { Quarantine } from "../../../api/ipfs/quarantine.ts";
import { openDatabase } from "../../../api/store/db/database.ts";
import { addPin } from "../../../api/store/media/pins.ts";
import { collect } from "../../support/collect.ts";
import { type TestApi, startApi } from "../support/api.ts";
import { expectAccepted } from "../support/expect.ts";
import { addCollection, addMint, randomAddress } from "../support/rows.ts";

/** What happens in the middle of a collection, at its steps. */
interface Steps {
  /** It was decided what seems to be needed by nobody; nothing is set aside yet. */
  decided?: () => Promise<void>;
  /** All of it is set aside; it was not looked again yet. */
  quarantine?: () => Promise<void>;
  /** It was looked again; it is not decided yet, and nothing is removed. */
  lookedAgain?: () => Promise<void>;
}

/** Block files that let others act between the steps: the only thing that is not as the command line has it. */
class Interrupted extends BlockFiles {
  readonly #folder: string;
  readonly #steps: Steps;

  constructor(folder: string, steps: Steps) {
    super(folder);
    this.#folder = folder;
    this.#steps = steps;
  }

  override quarantine(): Quarantine {
    const steps = this.#steps;
    return new (class extends Quarantine {
      override async decide(): Promise<void> {
        await steps.lookedAgain?.();
        return super.decide();
      }
    })(this.#folder, (cid) => fileOf(this.#folder, cid));
  }

  override async *all(): ReturnType<BlockFiles["all"]> {
    await this.#steps.decided?.();
    yield* super.all();
    await this.#steps.quarantine?.();
  }
}

function fileOf(folder: string, cid: CID): string {
  const name = cid.toV1().toString();
  return `${folder}/${name.slice(-3, -1)}/${name}`;
}

describe("collectMedia", () => {
  let api: TestApi;
  let collection: string;
  let cid: CID;
  beforeEach(async () => {
    api = await startApi();
    collection = await addCollection(api);
    await addMint(api, { contract: collection, to: randomAddress(), tokenId: 1 });
    await addMint(api, { contract: collection, to: randomAddress(), tokenId: 2 });
    // Two leaves and what holds them together; named by nothing.
    cid = await add(Buffer.alloc(2_000_000, "cat"));
    await age();
  });
  afterEach(() => api.close());

  const add = async (bytes: Uint8Array): Promise<CID> => {
    const source = async function* () {
      await Promise.resolve();
      yield bytes;
    };
    return (await importContent(api.blocks, source())).cid;
  };
  /** Makes the blocks old enough for any collection. */
  const age = async () => {
    for await (const { cid: block } of api.blocks.all()) await utimes(fileOf(api.blocksFolder, block), 1, 1);
  };
  const patch = async (token: number, image: string | null) => {
    const answer = await api.call("PATCH", `/v1/collections/${collection}/${token.toString()}`, { body: { image } });
    expect(answer.status, answer.text).to.equal(200);
  };
  const run = (steps: Steps) =>
    collectMedia({ database: api.database, blocks: new Interrupted(api.blocksFolder, steps) }, Infinity);
  const status = async () => {
    const answer = await fetch(`${api.baseUrl}/ipfs/${cid.toString()}`);
    return answer.ok ? (await answer.arrayBuffer()).byteLength : answer.status;
  };
  const expectWhole = async () => {
    expect(await status()).to.equal(2_000_000);
    expect(await collect(walkBlocks(api.blocks, cid, new Set()))).to.have.length(3);
  };

  it("removes what nothing names", async () => {
    expect(await run({})).to.include({ kept: 0, removed: 3 });
    expect(await status()).to.equal(404);
    expect(await collect(api.blocks.all())).to.deep.equal([]);
  });

  for (const step of ["decided", "quarantine"] as const) {
    it(`keeps what a change of metadata names between the steps (${step})`, async () => {
      expect(await run({ [step]: () => patch(1, `ipfs://${cid.toString()}`) })).to.include({ kept: 3, removed: 0 });
      await expectWhole();
    });

    it(`keeps what a mint names between the steps (${step})`, async () => {
      const body = { collection_address: collection, to_address: randomAddress(), image: `ipfs://${cid.toString()}` };
      const mint = async () => {
        expectAccepted(await api.post("/v1/nfts", body));
      };
      expect(await run({ [step]: mint })).to.include({ kept: 3, removed: 0 });
      await expectWhole();
    });
  }

  it("has removed already, for everybody, what is named after the last look", async () => {
    const seen: (number | string)[] = [];
    const lookedAgain = async () => {
      seen.push(await status());
      await patch(1, `ipfs://${cid.toString()}`);
      seen.push(await status());
    };
    expect(await run({ lookedAgain })).to.include({ removed: 3 });
    expect([...seen, await status()]).to.deep.equal([404, 404, 404]);
  });

  it("sees a name that moves from row to row while it reads", async () => {
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
    // At any time it is named. Yet each look reads the token before, and the collection after it has moved.
    const own = await openDatabase(api.databaseUrl);
    let looks = 0;
    const read = own.read.withPlugin({
      transformQuery: ({ node }) => node,
      transformResult: async ({ result }) => {
        if (result.rows.some((row) => "token_uri" in row)) {
          looks += 1;
          await toToken();
        }
        return result;
      },
    });
    const quarantine = async () => {
      await patchCollection(uri);
      await patch(1, null);
    };
    const blocks = new Interrupted(api.blocksFolder, { quarantine });
    try {
      await collectMedia({ database: { ...own, read }, blocks }, Infinity);
    } finally {
      await own.close();
    }
    expect(looks).to.equal(2);
    await expectWhole();
  });

  it("brings everything back when a run was interrupted", async () => {
    const never = run({
      quarantine: () => Promise.reject(new Error("killed")),
    });
    expect(await never.catch(String)).to.equal("Error: killed");
    await expectWhole();
    // Killed: without the chance to bring anything back itself.
    for await (const { cid: block } of api.blocks.all()) await api.blocks.quarantine().take(block, Infinity);
    expect(await status()).to.equal(404);
    await patch(1, `ipfs://${cid.toString()}`);
    expect(await run({})).to.include({ kept: 3, removed: 0 });
    await expectWhole();
  });

  it("ends when another begins, which has everything before itself", async () => {
    const other = async () => {
      // The second brings back what the first has set aside, and then content is named which everybody can see again.
      await run({ decided: () => patch(1, `ipfs://${cid.toString()}`) });
    };
    for (const step of ["quarantine", "lookedAgain"] as const) {
      const refusal = await run({ [step]: other }).catch(String);
      expect(refusal).to.contain("has ended this one");
      await expectWhole();
      await patch(1, null);
      await age();
    }
  });

  it("is finished by the next one when it was killed after it had decided", async () => {
    const aside = api.blocks.quarantine();
    for await (const { cid: block } of api.blocks.all()) await aside.take(block, Infinity);
    await aside.decide();
    // Killed here, with part of it removed. No part of what is gone must come back.
    const [first] = await aside.all();
    await aside.remove(first!);
    expect(await new BlockFiles(api.blocksFolder).giveBackAll()).to.equal(0);
    expect(await collect(api.blocks.all())).to.deep.equal([]);
    expect(await readdir(`${api.blocksFolder}/aside`)).to.deep.equal([]);
  });

  it("leaves what is being copied for a request, however short the time that is asked for", async () => {
    const body = { collection_address: collection, to_address: randomAddress(), image: "data:,x", copy_media: true };
    const id = expectAccepted(await api.post("/v1/nfts", body));
    const copied = await add(Buffer.from("half of it"));
    expect(await run({})).to.include({ kept: 1 });
    expect(await api.blocks.has(copied)).to.equal(true);
    await api.database.write((trx) => trx.deleteFrom("media_jobs").where("request_id", "=", id).execute());
    await age();
    expect(await run({})).to.include({ removed: 1 });
  });

  it("forgets what was to be pinned, unless the same content came again meanwhile", async () => {
    const pins = () => api.database.read.selectFrom("pins").select("cid").execute();
    const name = cid.toString();
    await api.database.write((trx) => addPin(trx, name, 1));
    await run({ lookedAgain: () => api.database.write((trx) => addPin(trx, name, Date.now())) });
    expect(await pins()).to.deep.equal([{ cid: name }]);
    cid = await add(Buffer.alloc(2_000_000, "cat"));
    await age();
    await api.database.write((trx) => trx.updateTable("pins").set({ created_at: 1 }).execute());
    await run({});
    expect(await pins()).to.deep.equal([]);
  });
});
