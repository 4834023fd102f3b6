import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { text } from "node:stream/consumers";

import { expect } from "chai";

import { useApi } from "../support/use-api.ts";
import { startSession, type TestSession } from "../support/console.ts";

const WALLETS = "/v1/accounts";

describe("attacks with the headers of a console session", () => {
  const api = useApi();
  let session: TestSession;
  let operator: TestSession;
  beforeEach(async () => {
    session = await startSession(api);
    operator = await startSession(api, { appId: null });
  });

  /** A call with headers in this order, also with the same name twice, which `fetch` cannot send. */
  async function raw(method: string, path: string, headers: [string, string][], body = "") {
    const { host } = new URL(api.baseUrl);
    const length: [string, string][] = body === "" ? [] : [["Content-Length", body.length.toString()]];
    const call = request(api.baseUrl + path, { method, headers: [["Host", host], ...headers, ...length].flat() });
    call.end(body);
    const [answer] = (await once(call, "response")) as [IncomingMessage];
    return { status: answer.statusCode, headers: answer.headers, text: await text(answer) };
  }

  const own = ({ headers }: TestSession) => Object.entries(headers);
  const wallets = () => api.database.read.selectFrom("wallets").selectAll().execute();

  it("two X-Moneta-App headers reach no app", async () => {
    for (const apps of [
      [api.app.id, api.other.id],
      [api.other.id, api.other.id],
    ]) {
      const headers = apps.map((app): [string, string] => ["X-Moneta-App", app]);
      expect((await raw("GET", WALLETS, [...own(operator), ...headers])).status).to.equal(422);
      expect((await raw("GET", WALLETS, [...own(session), ...headers])).status).to.equal(403);
    }
  });

  it("a second Origin, X-Moneta-Console or Cookie helps no other site", async () => {
    const json: [string, string] = ["Content-Type", "application/json"];
    const { cookie, ...page } = session.headers;
    const { origin = "", ...header } = page;
    const tries: [string, string][][] = [
      [["Cookie", cookie ?? ""], ["Origin", "https://evil.example"], ["Origin", origin], ...Object.entries(header)],
      [["Cookie", cookie ?? ""], ["Origin", `https://evil.example, ${origin}`], ...Object.entries(header)],
      [
        ["Cookie", cookie ?? ""],
        ["Origin", origin],
        ["X-Moneta-Console", "0"],
        ["X-Moneta-Console", "1"],
      ],
      [["Cookie", cookie ?? ""], ["Referer", `${origin}/console/`], ...Object.entries(header)],
    ];
    for (const headers of tries) {
      expect((await raw("POST", WALLETS, [...headers, json], "{}")).status).to.equal(403);
    }
    const twice: [string, string][] = [["Cookie", cookie ?? ""], ["Cookie", cookie ?? ""], ...Object.entries(page)];
    expect((await raw("POST", WALLETS, [...twice, json], "{}")).status).to.equal(401);
    expect(await wallets()).to.deep.equal([]);
  });

  it("no header turns a GET into another method, and HEAD and OPTIONS change nothing", async () => {
    const override: [string, string][] = [
      ["X-HTTP-Method-Override", "DELETE"],
      ["X-HTTP-Method", "DELETE"],
      ["X-Method-Override", "DELETE"],
    ];
    for (const method of ["GET", "HEAD", "OPTIONS"]) {
      const answer = await raw(method, "/v1/console/session?_method=DELETE", [...own(session), ...override]);
      expect(answer.headers["access-control-allow-origin"]).to.equal(undefined);
      expect(answer.headers["access-control-allow-headers"]).to.equal(undefined);
      expect(answer.headers["set-cookie"]).to.equal(undefined);
    }
    expect((await session.call("GET", "/v1/console/session")).status).to.equal(200);
  });

  it("bodies that a form of another site can send are refused", async () => {
    for (const type of ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"]) {
      const answer = await raw("POST", WALLETS, [...own(session), ["Content-Type", type]], "{}");
      expect(answer.status).to.equal(415);
    }
    expect(await wallets()).to.deep.equal([]);
  });

  it("no cache keeps an answer, also not a refusal", async () => {
    for (const [path, headers] of [
      ["/v1/console/session", own(session)],
      ["/v1/tokens", own(session)],
      ["/v1/operator/apps", own(operator)],
      ["/v1/operator/apps", own(session)],
      ["/v1/tokens", []],
    ] as const) {
      expect((await raw("GET", path, [...headers])).headers["cache-control"]).to.equal("no-store");
    }
  });

  it("an app's session reaches the operator's calls in no spelling of the path", async () => {
    for (const path of ["/v1/operator/apps", "/V1/OPERATOR/APPS", "/v1/operator/apps/", "/v1/./operator/apps"]) {
      expect((await raw("GET", path, own(session))).status, path).to.be.oneOf([403, 404]);
    }
  });
});
