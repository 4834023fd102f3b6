import { request } from "node:http";
import { gzipSync } from "node:zlib";

import { expect } from "chai";

import { MAX_JSON_DEPTH, MAX_JSON_VALUES } from "../../../api/config/limits.ts";
import { ERRORS } from "../../../api/domain/error-codes.ts";
import { issueToken } from "../../../api/commands/api-tokens.ts";
import { type Answer, startApi } from "../support/api.ts";
import { useApi } from "../support/use-api.ts";
import { expectInvalid, expectRefusal } from "../support/expect.ts";

const ALICE = "0x00000000000000000000000000000000000A11cE";

describe("errors", () => {
  const api = useApi({ per: "block" });

  it("answers 404 in the error shape, inside and outside /v1", async () => {
    for (const path of [
      "/nothing",
      "/v1",
      "/v1/nothing",
      "/metadata",
      "/v1/accounts/a/b/c/d",
      "/v1/accounts/user/%ff",
    ]) {
      const answer = await api.get(path);
      expectRefusal(answer, 404, "not_found");
      expect(messageOf(answer), path).to.match(/^This path does not exist\. .* `\/docs` lists all of them\.$/);
    }
  });

  it("answers 404 with another message where the path exists, and what it names does not", async () => {
    for (const path of [
      "/v1/requests/none",
      "/v1/accounts/user/%00",
      `/v1/accounts/${ALICE}`,
      `/metadata/1/${ALICE}/1`,
    ]) {
      const answer = await api.get(path);
      expectRefusal(answer, 404, "not_found");
      expect(messageOf(answer), path).to.equal(ERRORS.not_found.message);
    }
  });

  it("answers 405 with the supported methods in Allow", async () => {
    for (const [method, path, allow] of [
      ["DELETE", "/v1/accounts", "POST, GET, HEAD"],
      ["PATCH", "/v1/webhook", "PUT, GET, DELETE, HEAD"],
      ["POST", "/v1/requests/x", "GET, HEAD"],
      ["OPTIONS", "/v1/nfts", "POST"],
      ["POST", "/healthz", "GET, HEAD"],
      ["POST", "/", "GET, HEAD"],
      ["POST", "/docs", "GET, HEAD"],
      ["POST", "/openapi.json", "GET, HEAD"],
      ["DELETE", "/openapi.json", "GET, HEAD"],
      ["PUT", "/v1/console/session", "POST, GET, DELETE, HEAD"],
      ["PUT", "/ipfs/x", "GET, HEAD, OPTIONS"],
      ["PUT", "/metadata/1/0x/1", "GET, HEAD, OPTIONS"],
    ] as const) {
      const answer = await api.call(method, path);
      expectRefusal(answer, 405, "method_not_allowed");
      expect(answer.headers.get("allow")).to.equal(allow);
      expect(messageOf(answer)).to.equal(`This path does not support ${method}. It supports ${allow}.`);
    }
  });

  for (const [title, raw] of [
    ["broken JSON", '{"user_identifier": '],
    ["text that is no JSON", "hello"],
    ["JSON nested too deeply to be read", `{"a":${"[".repeat(200_000)}12345678901234567890${"]".repeat(200_000)}}`],
    ["bytes that are not UTF-8", new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])],
  ] as const) {
    it(`answers 400 to ${title}`, async () => {
      expectRefusal(await api.call("POST", "/v1/accounts", { raw }), 400, "malformed_json");
    });
  }

  for (const [raw, message] of [
    ["{", "line 1, column 2: expected a field name in double quotes, or `}`, found the end of the text."],
    ['{\n  "user_identifier": alice-has-a-secret\n}', "line 2, column 22: expected a value, found `alice-has-`."],
    [new Uint8Array([0x22, 0xc3, 0xa9, 0xe9, 0x22]), "is not valid UTF-8: byte 4 is 0xe9."],
  ] as const) {
    it(`says where JSON is malformed: ${message}`, async () => {
      const answer = await api.call("POST", "/v1/accounts", { raw });
      expectRefusal(answer, 400, "malformed_json");
      expect(messageOf(answer)).to.contain(message);
      expect(answer.text).to.not.contain("secret");
    });
  }

  it("answers 422 to JSON that is not an object", async () => {
    for (const raw of ["[]", "null", '"text"', "12345678901234567890"]) {
      const answer = await api.call("POST", "/v1/nfts", { raw });
      expectRefusal(answer, 422, "validation_failed");
    }
  });

  it("answers 413 to a body over the limit, also when it is compressed", async () => {
    const large = JSON.stringify({ user_identifier: "x".repeat(1_048_577) });
    expectRefusal(await api.call("POST", "/v1/accounts", { raw: large }), 413, "payload_too_large");
    const zipped = new Uint8Array(gzipSync(large));
    const headers = { "content-encoding": "gzip" };
    expectRefusal(await api.call("POST", "/v1/accounts", { raw: zipped, headers }), 413, "payload_too_large");
  });

  it("answers 413 to a body with too many values, and 400 to one that is nested too deeply", async () => {
    const call = (path: string, raw: string) => api.call("POST", path, { raw });
    const many = `{"items":[1234567890123456${",{}".repeat(MAX_JSON_VALUES)}]}`;
    for (const path of ["/v1/accounts", "/v1/nfts/batch"]) {
      const refused = await call(path, many);
      expectRefusal(refused, 413, "payload_too_large");
      expect(refused.text).to.contain("200,000 JSON values");
      const deep = `{"a":${"[".repeat(MAX_JSON_DEPTH)}${"]".repeat(MAX_JSON_DEPTH)}}`;
      expectRefusal(await call(path, deep), 400, "malformed_json");
      // Commas and brackets inside strings are not counted.
      const text = JSON.stringify({ items: ['\\",[{'.repeat(MAX_JSON_VALUES / 2)] });
      expect((await call(path, text)).status).to.be.oneOf([200, 422]);
    }
  });

  it("answers 415 to a batch that is compressed", async () => {
    const zipped = { raw: new Uint8Array(gzipSync('{"items":[{}]}')), headers: { "content-encoding": "gzip" } };
    const refused = await api.call("POST", "/v1/nfts/batch", zipped);
    expectRefusal(refused, 415, "unsupported_media_type");
    expect(refused.text).to.contain("compressed");
  });

  it("answers 415 to another type, charset or encoding", async () => {
    for (const headers of [
      { "content-type": "text/plain" },
      { "content-type": "application/x-www-form-urlencoded" },
      { "content-type": "application/json; charset=utf-16" },
      { "content-type": "application/json", "content-encoding": "rot13" },
    ]) {
      const answer = await api.call("POST", "/v1/accounts", { raw: "{}", headers });
      expectRefusal(answer, 415, "unsupported_media_type");
    }
    const utf8 = { "content-type": "application/json; charset=UTF-8" };
    expect((await api.call("POST", "/v1/accounts", { raw: "{}", headers: utf8 })).status).to.equal(200);
  });

  it("treats a POST without a body as an empty object", async () => {
    expect((await api.call("POST", "/v1/accounts")).status).to.equal(200);
    expectInvalid(await api.call("POST", "/v1/collections"), {
      type: "required",
      name: "required",
      symbol: "required",
    });
  });

  it("names unknown fields in bodies and queries, also __proto__ and constructor", async () => {
    const raw = '{"user_identifer": "a", "__proto__": {"x": 1}, "constructor": null}';
    expectInvalid(await api.call("POST", "/v1/accounts", { raw }), {
      user_identifer: "unknown_field",
      constructor: "unknown_field",
      ["__proto__"]: "unknown_field",
    });
    expectInvalid(await api.get("/v1/accounts?limt=3"), { limt: "unknown_field" });
  });

  it("names the scope that a token lacks", async () => {
    const reader = await issueToken(api, { appId: api.app.id, name: "reader", scopes: ["read"], expiresAt: null });
    const answer = await api.post("/v1/accounts", {}, { token: reader.token });
    expectRefusal(answer, 403, "forbidden");
    expect(messageOf(answer)).to.contain("`accounts`");
  });

  it("limits how much of the caller's input it repeats", async () => {
    const body = Object.fromEntries(Array.from({ length: 500 }, (_, n) => [`${n.toString()}${"x".repeat(500)}`, 1]));
    const answer = await api.post("/v1/accounts", body);
    expect((answer.body as { errors: { field: string }[] }).errors).to.have.length(100);
    expect(answer.text.length).to.be.below(40_000);
  });

  it("hides an internal error, and logs it with the call's id", async () => {
    const broken = await startApi();
    await broken.database.write((trx) => trx.schema.dropTable("wallet_history").execute());
    await broken.database.write((trx) => trx.schema.alterTable("wallets").renameTo("gone").execute());
    const answer = await broken.get("/v1/accounts", { headers: { "x-request-id": "trace-7" } });
    expect(answer.body).to.deep.equal({
      error_code: "internal_error",
      message: ERRORS.internal_error.message,
      errors: null,
    });
    expect(answer.status).to.equal(500);
    expect(answer.headers.get("x-request-id")).to.equal("trace-7");
    const line = broken.log.find((text) => text.includes("trace-7")) ?? "";
    expect(line)
      .to.match(/no such table|relation \S+ does not exist/)
      .and.to.contain('"level":50');
    await broken.close();
  });

  it("gives every answer an id, and replaces a caller's id that is not plain", async () => {
    const forged = await api.get("/healthz", { headers: { "x-request-id": "a b" } });
    expect(forged.headers.get("x-request-id")).to.match(/^[0-9a-f-]{36}$/);
  });

  it("gives every answer the same security headers, reveals no server software, and forbids caching", async () => {
    const expected = {
      "content-security-policy": "default-src 'none';frame-ancestors 'none'",
      "cross-origin-opener-policy": "same-origin",
      "cross-origin-resource-policy": "same-origin",
      "origin-agent-cluster": "?1",
      "referrer-policy": "no-referrer",
      // The proxy that terminates TLS decides on HSTS.
      "strict-transport-security": null,
      "x-content-type-options": "nosniff",
      "x-dns-prefetch-control": "off",
      "x-download-options": "noopen",
      "x-frame-options": "SAMEORIGIN",
      "x-permitted-cross-domain-policies": "none",
      "x-powered-by": null,
      "x-xss-protection": "0",
    };
    for (const path of ["/healthz", "/v1/accounts", "/v1/nothing", "/nothing"]) {
      const { headers } = await api.get(path);
      const sent = Object.keys(expected).map((name) => [name, headers.get(name)]);
      expect(Object.fromEntries(sent), path).to.deep.equal(expected);
    }
    expect((await api.get("/v1/accounts")).headers.get("cache-control")).to.equal("no-store");
  });

  it("ignores the case of a path and one slash at its end", async () => {
    for (const path of ["/V1/Accounts", "/v1/accounts/", "/v1/ACCOUNTS?limit=1"]) {
      expect((await api.get(path)).status, path).to.equal(200);
    }
  });

  it("answers HEAD like GET, without the body", async () => {
    const { port } = new URL(api.baseUrl);
    const status = await new Promise<number | undefined>((resolve) => {
      const options = { port, method: "HEAD", path: "/v1/accounts", headers: { authorization: api.app.token } };
      request(options, (response) => {
        response.resume();
        resolve(response.statusCode);
      }).end();
    });
    expect(status).to.equal(200);
  });

  describe("health", () => {
    it("answers /healthz while the process runs", async () => {
      expect((await api.get("/healthz", { token: null })).body).to.deep.equal({ status: "ok" });
    });

    it("names the failing checks on /readyz, with 503 and Retry-After", async () => {
      expect((await api.get("/readyz", { token: null })).body).to.deep.equal({
        status: "ready",
        checks: { database: "ok" },
      });
      const details = { database: "ok", chain: "10.1.2.3:8545 serves another chain" };
      api.readiness = { ready: false, checks: { database: "ok", chain: "wrong_chain" }, details };
      const answer = await api.get("/readyz", { token: null });
      expectRefusal(answer, 503, "unavailable", { chain: "wrong_chain" });
      expect(JSON.stringify(answer.body)).not.to.contain("10.1.2.3");
      expect(answer.headers.get("retry-after")).to.equal("5");
    });
  });
});

function messageOf({ body }: Answer): string {
  return (body as { message: string }).message;
}
