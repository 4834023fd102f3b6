import { expect } from "chai";

import { type TestApi, startApi } from "../support/api.ts";
import { PAGE, postCode, sessionOf } from "../support/console.ts";
import { expectRefusal } from "../support/expect.ts";
import { refusalOf } from "./support/refusal.ts";
import { jsonOfCli, runCli } from "./support/run.ts";

interface Link {
  session_id: string;
  app_id: string | null;
  scopes: string[];
  url: string;
  expires_at: string;
}

interface Listed {
  session_id: string;
  app_name: string | null;
  state: string;
  used_at: string | null;
}

const SESSION = "/v1/console/session";

describe("command line: console", () => {
  let api: TestApi;
  beforeEach(async () => {
    api = await startApi();
  });
  afterEach(() => api.close());

  const env = (more: Record<string, string> = {}) => ({ DATABASE_URL: api.databaseUrl, ...more });
  const link = (...words: string[]) => jsonOfCli<Link>(env(), "console", ...words);
  const list = () => jsonOfCli<Listed[]>(env(), "console", "list");
  const codeOf = ({ url }: Link) => new URL(url).hash.replace("#code=", "");
  const enter = async (made: Link) => sessionOf(api, await postCode(api, codeOf(made)));

  it("prints a link that works once: the operator's, or an app's with some scopes", async () => {
    const all = await link();
    expect(all).to.include({ app_id: null });
    expect(all.url).to.match(/^http:\/\/localhost:3000\/console#code=[A-Za-z0-9_-]{43}$/);
    expect(Date.parse(all.expires_at) - Date.now()).to.be.within(540_000, 600_000);
    const some = await link("--app", "first", "--scopes", "read,mint");
    expect(some).to.deep.include({ app_id: api.app.id, scopes: ["read", "mint"] });
    const session = await enter(some);
    expect((await session.call("GET", SESSION)).body).to.deep.include({ kind: "app", scopes: ["read", "mint"] });
    expectRefusal(await postCode(api, codeOf(some)), 401, "unauthorized");
  });

  it("begins the link with PUBLIC_URL, and says for whom it is", async () => {
    const { output } = await runCli(env({ PUBLIC_URL: "https://nft.example/moneta" }), "console", "--app", "first");
    expect(output).to.match(/^https:\/\/nft\.example\/moneta\/console#code=/);
    expect(output).to.contain("the app first").and.to.contain("works once");
  });

  it("refuses an unknown app, an unknown scope and a wrong PUBLIC_URL", async () => {
    const refused = async (more: Record<string, string>, ...words: string[]) =>
      (await refusalOf(runCli(env(more), "console", ...words))).message;
    expect(await refused({}, "--app", "nobody")).to.contain("no app with the name or id nobody");
    expect(await refused({}, "--scopes", "read,everything")).to.contain("Valid scopes are read");
    expect(await refused({ PUBLIC_URL: "nft.example" })).to.contain("PUBLIC_URL: must be an http");
  });

  it("lists sessions and links without their secrets", async () => {
    expect((await runCli(env(), "console", "list")).output).to.contain("There are no sessions");
    const made = await link("--app", "first");
    const { cookie } = await enter(made);
    const unused = await link();
    const listed = await list();
    const states = listed.map(({ session_id, app_name, state }) => [session_id, app_name, state]);
    expect(states).to.have.deep.members([
      [unused.session_id, null, "link"],
      [made.session_id, "first", "active"],
    ]);
    const text = JSON.stringify(listed) + (await runCli(env(), "console", "list")).output;
    for (const secret of [codeOf(made), codeOf(unused), cookie.split("=")[1] ?? ""])
      expect(text).to.not.contain(secret);
  });

  it("revokes one session at once, or all with the unused links", async () => {
    const [one, two, unused] = [await link("--app", "first"), await link(), await link()];
    const [first, second] = [await enter(one), await enter(two)];
    expect(await jsonOfCli(env(), "console", "revoke", first.id)).to.deep.equal({ revoked: 1 });
    expect(await jsonOfCli(env(), "console", "revoke", first.id)).to.deep.equal({ revoked: 0 });
    expectRefusal(await first.call("GET", SESSION), 401, "unauthorized");
    expect((await second.call("GET", SESSION)).status).to.equal(200);
    expect((await runCli(env(), "console", "revoke", "--all")).output).to.contain("revoked: 2 sessions");
    expectRefusal(await second.call("GET", SESSION), 401, "unauthorized");
    expectRefusal(await postCode(api, codeOf(unused)), 401, "unauthorized");
    expect(new Set((await list()).map(({ state }) => state))).to.deep.equal(new Set(["revoked"]));
    const wrong = [["none"], [], ["none", "--all"]].map(async (words) => {
      const { message } = await refusalOf(runCli(env(), "console", "revoke", ...words));
      return message;
    });
    expect(await Promise.all(wrong)).to.deep.equal([
      "There is no session with the id none. `console list` shows the ids.",
      "Name one session, or --all.",
      "Name one session, or --all.",
    ]);
  });

  it("loses an app's sessions and links when the app is removed", async () => {
    await runCli(env(), "app", "create", "trying");
    const [used, unused] = [await link("--app", "trying"), await link("--app", "trying")];
    const session = await enter(used);
    await runCli(env(), "app", "remove", "trying");
    expectRefusal(await session.call("GET", SESSION), 401, "unauthorized");
    expectRefusal(await postCode(api, codeOf(unused), PAGE), 401, "unauthorized");
    expect(await list()).to.deep.equal([]);
  });

  it("lets old sessions be pruned", async () => {
    const [old, young] = [await link(), await link()];
    const past = Date.now() - 31 * 86_400_000;
    await api.database.write((trx) =>
      trx.updateTable("console_sessions").set({ expires_at: past }).where("id", "=", old.session_id).execute(),
    );
    await runCli(env(), "prune");
    expect((await list()).map(({ session_id }) => session_id)).to.deep.equal([young.session_id]);
  });
});
