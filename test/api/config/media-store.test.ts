import { expect } from "chai";

import { parseMediaStoreText, parseSettings } from "../../../api/config/settings.ts";

const KEYS = { AWS_ACCESS_KEY_ID: "key", AWS_SECRET_ACCESS_KEY: "secret" };

function bucketOf(text: string, env: Record<string, string> = {}) {
  const setting = parseMediaStoreText({ ...KEYS, ...env }, text);
  return setting.kind === "s3" ? setting.bucket : null;
}

describe("MEDIA_STORE", () => {
  it("is files on SQLite and the database on PostgreSQL", () => {
    expect(parseSettings({}).mediaStore).to.deep.equal({ kind: "files" });
    const postgres = parseSettings({ DATABASE_URL: "postgres://moneta@localhost/moneta" });
    expect(postgres.mediaStore).to.deep.equal({ kind: "database" });
  });

  it("reaches AWS by the bucket's host name, and other servers by a path", () => {
    expect(bucketOf("s3://my-bucket/some/where/", { AWS_REGION: "eu-central-1" })).to.deep.equal({
      bucket: "my-bucket",
      prefix: "some/where/",
      endpoint: "https://s3.eu-central-1.amazonaws.com",
      region: "eu-central-1",
      pathStyle: false,
      credentials: { accessKeyId: "key", secretAccessKey: "secret", sessionToken: null },
    });
    expect(bucketOf("s3://my.bucket")).to.include({ prefix: "", region: "us-east-1", pathStyle: true });
    const own = { endpoint: "http://localhost:9000", pathStyle: true };
    expect(bucketOf("s3://my-bucket", { AWS_ENDPOINT_URL_S3: "http://localhost:9000/" })).to.include(own);
    expect(bucketOf("s3://my-bucket?endpoint=https://r2.example&region=auto&style=virtual")).to.include({
      endpoint: "https://r2.example",
      region: "auto",
      pathStyle: false,
    });
  });

  for (const [text, words, env] of [
    ["folder", "must be files, database or s3://<bucket>/<prefix>", KEYS],
    ["s3://B", "a bucket's name has 3 to 63 of", KEYS],
    ["s3://bucket", "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY", {}],
    ["s3://bucket?zone=1", "has the unknown option zone", KEYS],
    ["s3://bucket?endpoint=ftp://x", "needs an endpoint such as https://host:9000", KEYS],
    ["s3://bucket?style=old", "must be path or virtual", KEYS],
  ] as const)
    it(`refuses ${text}: ${words}`, () => {
      expect(() => parseSettings({ ...env, MEDIA_STORE: text }))
        .to.throw(`MEDIA_STORE: `)
        .with.property("message")
        .that.contains(words);
    });
});
