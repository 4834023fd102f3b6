import { expect } from "chai";

import { eventually } from "../../support/eventually.ts";
import { mintImage } from "../../support/mint-image.ts";
import { S3_BUCKET, S3_KEYS, S3_REGION, S3Server } from "../../support/s3-server.ts";
import { useService } from "../../support/use-service.ts";
import { jsonOfCli } from "../cli/support/run.ts";

const PICTURE = "GIF89a, a picture of a cat";
const IMAGE = `data:,${encodeURIComponent(PICTURE)}`;

describe("a service whose media are in a bucket", () => {
  // Each test has a bucket of its own, and the database remembers which one it belongs to.
  const moneta = useService({ per: "test", start: false });
  const { api } = moneta;
  let server: S3Server;
  let bucket: Record<string, string>;
  const keys = { AWS_ACCESS_KEY_ID: S3_KEYS.accessKeyId, AWS_SECRET_ACCESS_KEY: S3_KEYS.secretAccessKey };
  const PLACE = `s3://${S3_BUCKET}/media/`;

  beforeEach(async () => {
    server = new S3Server();
    await server.start();
    bucket = { ...keys, MEDIA_STORE: PLACE, AWS_ENDPOINT_URL_S3: server.endpoint, AWS_REGION: S3_REGION };
  });
  afterEach(() => server.stop());

  /** Mints a token with the picture. @returns the path of the picture at this service. */
  const mint = async (collection: string) => `/ipfs/${await mintImage(api, collection, IMAGE)}`;
  const served = async (path: string) => (await fetch(`${moneta.baseUrl}${path}`)).text();
  const startWith = (settings: Record<string, string>) => moneta.start(settings).catch(String);

  it("serves a picture and frozen metadata from the bucket, also after a restart", async () => {
    await moneta.start(bucket);
    const collection = await api.collection({ type: "ERC721" });
    const path = await mint(collection);
    await api.completed(`/v1/collections/${collection}/freeze`, {});
    expect([...server.objects.keys()].every((key) => key.startsWith(`/${S3_BUCKET}/media/`))).to.equal(true);
    expect(server.objects.size).to.be.above(1);
    await moneta.restart(bucket);
    expect(await served(path)).to.equal(PICTURE);
    await moneta.stop();
    server.objects.clear();
    await moneta.start(bucket);
    expect(await served(path)).not.to.equal(PICTURE);
  });

  it("completes a mint when the bucket answers again", async () => {
    await moneta.start(bucket);
    const collection = await api.collection({ type: "ERC721" });
    server.fault = { status: 403, code: "AccessDenied" };
    const to = { collection_address: collection, to_address: await api.wallet() };
    const id = await api.accept("/v1/nfts", { ...to, image: IMAGE, copy_media: true });
    await eventually(() => (moneta.lastErrorOf("media")?.includes("AccessDenied") === true ? true : undefined));
    expect((await moneta.readyz()).text).not.to.include("AccessDenied");
    expect(await api.ok("GET", `/v1/requests/${id}`)).to.include({ status: "pending", error_code: null });
    server.fault = null;
    expect(await api.settled(id)).to.include({ status: "completed" });
  });

  it("does not start with a bucket that refuses it, and says what to correct", async () => {
    for (const [changes, words] of [
      [{ AWS_SECRET_ACCESS_KEY: "wrong" }, "correct AWS_SECRET_ACCESS_KEY"],
      [{ AWS_ACCESS_KEY_ID: "" }, "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"],
      [{ MEDIA_STORE: "s3://nothing-here" }, 'The bucket "nothing-here"'],
      [{ AWS_REGION: "us-east-1" }, `set AWS_REGION=${S3_REGION}`],
    ] as const)
      expect(await startWith({ ...bucket, ...changes }), words).to.contain(words);
  });

  it("does not start with another MEDIA_STORE than the one that has the media, until they are moved", async () => {
    await moneta.start(bucket);
    const path = await mint(await api.collection({ type: "ERC721" }));
    await moneta.stop();
    expect(await startWith({ MEDIA_STORE: "files" })).to.contain(
      `Hosted media are in ${PLACE}, but MEDIA_STORE says files`,
    );
    const settings = { ...moneta.env, ...bucket };
    expect(await jsonOfCli(settings, "media", "move", "--to", "files")).to.include({ from: PLACE, to: "files" });
    expect(await startWith(bucket)).to.contain(`Hosted media are in files, but MEDIA_STORE says ${PLACE}`);
    const inFiles = { ...settings, MEDIA_STORE: "files" };
    await moneta.start({ MEDIA_STORE: "files" });
    expect(await served(path)).to.equal(PICTURE);
    // Nobody removes what is in use.
    expect(await jsonOfCli(inFiles, "media", "remove-old", "--from", "files").catch(String)).to.contain(
      "not an old copy",
    );
    expect(await jsonOfCli(inFiles, "media", "remove-old", "--from", PLACE)).to.include({ from: PLACE });
    expect(await served(path)).to.equal(PICTURE);
  });
});
