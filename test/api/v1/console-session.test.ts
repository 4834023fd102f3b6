import { expect } from "chai";

import { codeOfLink, PAGE, postCode, sessionOf, startSession } from "../support/console.ts";
import { CHAIN_ID, EXPLORER_URL, PUBLIC_URL, type TestApi, startApi } from "../support/api.ts";
import { expectRefusal } from "../support/expect.ts";

const SESSION = "/v1/console/session";

describe("signing in to the console", () => {
  let api: TestApi;
  beforeEach(async () => {
    api = await startApi();
  });
  afterEach(() => api.close());

  const change = (id: string, values: { expires_at?: number; revoked_at?: number }) =>
    api.database.write((trx) => trx.updateTable("console_sessions").set(values).where("id", "=", id).execute());
  const rows = () => api.database.read.selectFrom("console_sessions").selectAll().execute();

  it("turns the code of a link into a session, which GET shows", async () => {
    const answer = await postCode(api, await codeOfLink(api, { scopes: ["read", "mint"] }));
    expect(answer.status).to.equal(200);
    const { session_id, created_at, expires_at, ...rest } = answer.body as unknown as Record<string, string>;
    expect(rest).to.deep.equal({
      kind: "app",
      app: { app_id: api.app.id, name: "first" },
      scopes: ["read", "mint"],
      chain_id: CHAIN_ID,
      explorer_url: EXPLORER_URL,
      public_url: PUBLIC_URL,
    });
    expect(Date.parse(expires_at ?? "") - Date.parse(created_at ?? "")).to.equal(7 * 86_400_000);
    const session = sessionOf(api, answer);
    expect(session.id).to.equal(session_id);
    expect((await session.call("GET", SESSION)).body).to.deep.equal(answer.body);
  });

  it("signs the operator in for all apps", async () => {
    const session = await startSession(api, { appId: null });
    expect((await session.call("GET", SESSION)).body).to.deep.include({ kind: "operator", app: null });
  });

  for (const [publicUrl, name, secure] of [
    ["https://nft.example", "__Host-moneta_console", true],
    ["https://nft.example/moneta", "__Host-moneta_console", true],
    ["http://localhost:3000", "moneta_console", false],
  ] as const) {
    it(`sets a cookie that scripts and other sites cannot use, with ${publicUrl}`, async () => {
      await api.close();
      api = await startApi({ publicUrl });
      const origin = new URL(publicUrl).origin;
      const answer = await postCode(api, await codeOfLink(api), { ...PAGE, origin });
      const [cookie = "", ...others] = answer.headers.getSetCookie();
      expect(others).to.deep.equal([]);
      const [pair = "", ...attributes] = cookie.split("; ");
      expect(pair).to.match(new RegExp(`^${name}=[A-Za-z0-9_-]{43}$`));
      const flags = attributes.filter((one) => !one.startsWith("Expires="));
      expect(flags).to.have.members(["Path=/", "HttpOnly", "SameSite=Strict", ...(secure ? ["Secure"] : [])]);
      expect(attributes).to.have.length(flags.length + 1);
    });
  }

  it("accepts a code once, also when two calls race", async () => {
    const code = await codeOfLink(api);
    const answers = await Promise.all([1, 2, 3, 4].map(() => postCode(api, code)));
    expect(answers.map(({ status }) => status).sort()).to.deep.equal([200, 401, 401, 401]);
    const late = await postCode(api, code);
    expectRefusal(late, 401, "unauthorized");
    expect(late.text).to.contain("was used before").and.to.contain("its session must be revoked");
    expect(late.headers.getSetCookie()).to.deep.equal([]);
  });

  it("refuses a link after ten minutes, and one that was revoked", async () => {
    const code = await codeOfLink(api);
    const [row] = await rows();
    expect((row?.expires_at ?? 0) - (row?.created_at ?? 0)).to.equal(600_000);
    await change(row?.id ?? "", { expires_at: Date.now() - 1 });
    const late = await postCode(api, code);
    expectRefusal(late, 401, "unauthorized");
    expect(late.text).to.contain("older than 10 minutes");
    await change(row?.id ?? "", { expires_at: Date.now() + 60_000, revoked_at: Date.now() });
    expect((await postCode(api, code)).text).to.contain("was revoked");
  });

  it("accepts neither the secret of a session nor a hash as a code", async () => {
    const { cookie } = await startSession(api);
    const [row] = await rows();
    for (const code of [cookie.split("=")[1] ?? "", row?.code_hash ?? "", row?.hash ?? "", "x".repeat(43), "x"]) {
      expectRefusal(await postCode(api, code), 401, "unauthorized");
    }
  });

  it("stores and logs neither the code nor the secret", async () => {
    const code = await codeOfLink(api);
    const { cookie } = sessionOf(api, await postCode(api, code));
    const secret = cookie.split("=")[1] ?? "";
    const stored = JSON.stringify(await rows());
    for (const word of [code, secret]) {
      expect(word).to.match(/^[A-Za-z0-9_-]{43}$/);
      expect(stored).to.not.contain(word);
      expect(api.log.join("")).to.not.contain(word);
    }
  });

  it("makes a new secret at each sign-in, and ends the session that the browser had before", async () => {
    const planted = await startSession(api, { appId: api.other.id });
    const answer = await postCode(api, await codeOfLink(api), planted.headers);
    const session = sessionOf(api, answer);
    expect(session.cookie).to.not.equal(planted.cookie);
    expect((await session.call("GET", SESSION)).text).to.contain(api.app.id);
    expectRefusal(await planted.call("GET", SESSION), 401, "unauthorized");
  });

  it("keeps the session of a browser that signs in with a wrong code", async () => {
    const session = await startSession(api);
    expectRefusal(await postCode(api, "x".repeat(43), session.headers), 401, "unauthorized");
    expect((await session.call("GET", SESSION)).status).to.equal(200);
  });

  it("is refused from another site: without the header, with a foreign Origin, without an Origin", async () => {
    const code = await codeOfLink(api);
    const { origin, ...header } = PAGE;
    for (const headers of [
      { origin },
      header,
      { ...PAGE, origin: "https://evil.example" },
      { ...PAGE, origin: "null" },
    ]) {
      expectRefusal(await postCode(api, code, headers), 403, "forbidden");
    }
    expect((await postCode(api, code)).status).to.equal(200);
  });

  it("signs out: the session ends and the cookie is removed", async () => {
    const session = await startSession(api);
    const answer = await session.call("DELETE", SESSION);
    expect(answer.status).to.equal(200);
    expect(answer.headers.getSetCookie()[0]).to.match(/^__Host-moneta_console=; .*Expires=Thu, 01 Jan 1970/);
    expectRefusal(await session.call("GET", SESSION), 401, "unauthorized");
  });

  for (const [what, body, headers, status] of [
    ["without a code", {}, PAGE, 422],
    ["from another site", { code: "x" }, { ...PAGE, origin: "https://evil.example" }, 403],
    ["with a large body", { code: "x".repeat(5_000) }, PAGE, 413],
  ] as const) {
    it(`counts calls ${what} as calls of a stranger`, async () => {
      await api.close();
      api = await startApi({ limits: { ratePerMinute: 2 } });
      const call = () => api.post(SESSION, body, { token: null, headers });
      expect([await call(), await call(), await call()].map((answer) => answer.status)).to.deep.equal([
        status,
        status,
        429,
      ]);
    });
  }

  it("counts wrong codes as calls of a stranger", async () => {
    await api.close();
    api = await startApi({ limits: { ratePerMinute: 3 } });
    const wrong = () => postCode(api, "x".repeat(43));
    expect([await wrong(), await wrong(), await wrong(), await wrong()].map(({ status }) => status)).to.deep.equal([
      401, 401, 401, 429,
    ]);
    const right = await postCode(api, await codeOfLink(api));
    expect(right.status, "others behind the same address can sign in").to.equal(200);
    expect(right.headers.get("ratelimit")).to.match(/^"app";r=2;/);
  });
});
