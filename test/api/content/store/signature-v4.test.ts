import { expect } from "chai";

import { signedHeaders } from "../../../../api/content/store/s3-client.ts";

/** The examples of the documentation of S3: "Examples: Signature Calculations in AWS Signature Version 4". */
const CREDENTIALS = {
  accessKeyId: "AKIAIOSFODNN7EXAMPLE",
  secretAccessKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
  sessionToken: null,
};
const HOST = "https://examplebucket.s3.amazonaws.com";
const EXAMPLES = [
  {
    method: "GET",
    url: `${HOST}/test.txt`,
    headers: { range: "bytes=0-9" },
    body: null,
    signature: "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41",
  },
  {
    method: "PUT",
    url: `${HOST}/test$file.text`,
    headers: { date: "Fri, 24 May 2013 00:00:00 GMT", "x-amz-storage-class": "REDUCED_REDUNDANCY" },
    body: "Welcome to Amazon S3.",
    signature: "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd",
  },
  {
    method: "GET",
    url: `${HOST}/?lifecycle`,
    headers: {},
    body: null,
    signature: "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543",
  },
  {
    method: "GET",
    url: `${HOST}/?max-keys=2&prefix=J`,
    headers: {},
    body: null,
    signature: "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7",
  },
] as const;

describe("signature version 4", () => {
  for (const { method, url, headers, body, signature } of EXAMPLES) {
    it(`signs ${method} ${url} as the documentation of S3 does`, () => {
      const signed = signedHeaders(
        { method, url: new URL(url), headers, body: body === null ? null : Buffer.from(body) },
        { credentials: CREDENTIALS, region: "us-east-1", time: new Date("2013-05-24T00:00:00Z") },
      );
      expect(signed["authorization"]).to.match(new RegExp(`Signature=${signature}$`));
    });
  }

  it("sends and signs the token of temporary credentials", () => {
    const signed = signedHeaders(
      { method: "GET", url: new URL(`${HOST}/x`), headers: {}, body: null },
      { credentials: { ...CREDENTIALS, sessionToken: "session" }, region: "us-east-1", time: new Date(0) },
    );
    expect(signed).to.include({ "x-amz-security-token": "session", "x-amz-date": "19700101T000000Z" });
    expect(signed["authorization"]).to.contain("x-amz-security-token");
  });
});
