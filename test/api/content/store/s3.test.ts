import { expect } from "chai";
import type { CID } from "multiformats/cid";

import { S3Objects } from "../../../../api/content/store/s3-objects.ts";
import type { Database } from "../../../../api/store/db/database.ts";
import { openTestDatabase, type TestDatabase } from "../../../support/database.ts";
import { useFolder } from "../../../support/use-folder.ts";
import { withMethods } from "../../../support/with-methods.ts";
import { S3_BUCKET, S3_KEYS, S3_REGION, S3Server } from "../../../support/s3-server.ts";
import { blockOf } from "../../support/content.ts";
import { openTestBlocks, type TestBlocks } from "../../support/test-blocks.ts";

describe("S3Objects", () => {
  let server: S3Server;
  let waits: number;
  beforeEach(async () => {
    server = new S3Server();
    await server.start();
    waits = 0;
  });
  afterEach(() => server.stop());

  const objects = (changes: Partial<ConstructorParameters<typeof S3Objects>[0]> = {}) => {
    const bucket = {
      bucket: S3_BUCKET,
      prefix: "a b/ü/",
      endpoint: server.endpoint,
      region: S3_REGION,
      pathStyle: true,
      credentials: S3_KEYS,
      ...changes,
    };
    const wait = () => {
      waits += 1;
      return Promise.resolve();
    };
    return new S3Objects(bucket, wait);
  };

  it("stores, reads and deletes signed objects", async () => {
    const store = objects();
    await store.put("x", Buffer.from("cat"));
    expect([...server.objects.keys()]).to.deep.equal([`/${S3_BUCKET}/a%20b/%C3%BC/x`]);
    expect(Buffer.from((await store.get("x")) ?? []).toString()).to.equal("cat");
    expect(await store.get("y")).to.equal(null);
    await store.delete(["x", "y"]);
    expect(server.objects.size).to.equal(0);
    expect(await store.problem()).to.equal(null);
    expect(server.objects.size).to.equal(0);
  });

  it("signs names with reserved characters", async () => {
    const store = objects({ prefix: "a!b'c(d)e*f+g&h=i~/" });
    await store.put("x", Buffer.from("cat"));
    expect(Buffer.from((await store.get("x")) ?? []).toString()).to.equal("cat");
  });

  it("sends and signs the token of temporary credentials", async () => {
    await objects().put("x", Buffer.from("cat"));
    expect(server.tokens).to.deep.equal([]);
    await objects({ credentials: { ...S3_KEYS, sessionToken: "session/+=" } }).put("x", Buffer.from("cat"));
    expect(server.tokens).to.deep.equal(["session/+="]);
  });

  for (const fault of [
    { status: 503, code: "SlowDown" },
    { status: 500, code: "InternalError" },
    { status: 400, code: "RequestTimeout" },
    { status: 429, code: "" },
    "cut",
  ] as const) {
    it(`retries after ${typeof fault === "string" ? "a lost connection" : `${fault.status.toString()} ${fault.code}`}`, async () => {
      const store = objects();
      await store.put("x", Buffer.from("cat"));
      server.faults = [fault, fault];
      expect(Buffer.from((await store.get("x")) ?? []).toString()).to.equal("cat");
      expect(waits).to.equal(2);
    });
  }

  it("gives up after some tries, and names the problem", async () => {
    server.fault = { status: 503, code: "SlowDown" };
    const store = objects();
    expect(await store.problem()).to.match(/^The S3 server http.* failed: it answered 503 SlowDown\.$/);
    expect(server.asked).to.have.length(5);
    await server.stop();
    expect(await store.problem()).to.contain("connection failed (ECONNREFUSED)");
    await server.start();
  });

  it("says in words what the operator must correct", async () => {
    const wrong = { ...S3_KEYS, secretAccessKey: "wrong" };
    for (const [changes, words] of [
      [
        { bucket: "other-bucket" },
        'The bucket "other-bucket" at .* does not exist. Create it, or correct MEDIA_STORE.',
      ],
      [{ credentials: wrong }, "refused the signature: correct AWS_SECRET_ACCESS_KEY"],
      [{ credentials: { ...S3_KEYS, accessKeyId: "nobody" } }, "does not know the access key"],
      [{ region: "us-east-1" }, `is in the region ${S3_REGION}, not us-east-1: set AWS_REGION=${S3_REGION}.`],
    ] as const)
      expect(await objects(changes).problem()).to.match(new RegExp(words));
    server.fault = { status: 400, code: "AuthorizationHeaderMalformed", region: "eu-north-1" };
    expect(await objects().problem()).to.contain("set AWS_REGION=eu-north-1.");
    server.fault = { status: 403, code: "AccessDenied" };
    expect(await objects().problem()).to.contain("refused access (AccessDenied): give the access key the rights");
  });
});

describe("blocks in a bucket", () => {
  const folder = useFolder();
  let database: TestDatabase;
  let store: TestBlocks;
  let server: S3Server;
  let cid: CID;
  /** Whether the process of the store has died. */
  let dead: boolean;
  let bytes: Uint8Array;
  beforeEach(async () => {
    database = await openTestDatabase();
    dead = false;
    const mortal = withMethods<Database>(database, {
      write: (operation) => (dead ? Promise.reject(new Error("killed")) : database.write(operation)),
    });
    store = await openTestBlocks("s3", { dataDir: folder.path, database: mortal });
    server = store.server!;
    ({ cid, bytes } = await blockOf("cat"));
  });
  afterEach(async () => {
    await store.close();
    await database.remove();
  });

  const failed = (work: Promise<unknown>) => work.then(() => "done", String);

  it("removes the object of an upload whose process died before it recorded the block", async () => {
    server.before = (method) => {
      // The process dies after the upload: it never writes into the database again.
      if (method === "PUT") dead = true;
      return Promise.resolve();
    };
    expect(await failed(store.blocks.put(cid, bytes))).to.contain("killed");
    dead = false;
    expect(await store.copies()).to.equal(1);
    expect(await store.blocks.has(cid)).to.equal(false);
    await store.blocks.removeUnfinished(Date.now() - 60_000);
    expect(await store.copies()).to.equal(1);
    await store.blocks.removeUnfinished(Date.now() + 1_000);
    expect(await store.copies()).to.equal(0);
  });

  it("does not record an upload that was given up meanwhile", async () => {
    server.before = async (method) => {
      server.before = () => Promise.resolve();
      if (method === "PUT") await store.other().removeUnfinished(Date.now() + 1_000);
    };
    expect(await failed(store.blocks.put(cid, bytes))).to.contain("gave it up");
    expect(await store.blocks.has(cid)).to.equal(false);
    await store.blocks.put(cid, bytes);
    expect(Buffer.from(await store.blocks.get(cid)).toString()).to.equal("cat");
  });

  it("reads a block that is stored again between the look into the index and the download", async () => {
    await store.blocks.put(cid, bytes);
    await store.age();
    server.before = async (method) => {
      if (method !== "GET") return;
      server.before = () => Promise.resolve();
      const quarantine = store.blocks.quarantine();
      await quarantine.add([cid], Date.now());
      await store.other().put(cid, bytes);
      await store.other().removeUnfinished(0);
    };
    expect(Buffer.from(await store.blocks.get(cid)).toString()).to.equal("cat");
  });

  it("stores an object again that was deleted in the bucket", async () => {
    await store.blocks.put(cid, bytes);
    server.objects.clear();
    expect(await failed(store.blocks.get(cid))).to.contain("is missing");
    await store.blocks.put(cid, bytes);
    expect(Buffer.from(await store.blocks.get(cid)).toString()).to.equal("cat");
  });
});
