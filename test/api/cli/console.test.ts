import { expect } from "chai";

import { postCode, sessionOf } from "../support/console.ts";
import { expectRefusal } from "../support/expect.ts";
import { rejectionOf } from "../../support/rejection.ts";
import { runCli } from "./support/run.ts";
import { useCli } from "./support/use-cli.ts";

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
  const cli = useCli();
  const link = (...words: string[]) => cli.json<Link>("console", ...words);
  const list = () => cli.json<Listed[]>("console", "list");
  const codeOf = ({ url }: Link) => new URL(url).hash.replace("#code=", "");
  const use = (made: Link) => postCode(cli.api, codeOf(made));
  const enter = async (made: Link) => sessionOf(cli.api, await use(made));

  it("prints a link that works once: the operator's, or an app's with some scopes", async () => {
    const all = await link();
    expect(all).to.include({ app_id: null });
    expect(all.url).to.match(/^http:\/\/localhost:3000\/console#code=[A-Za-z0-9_-]{43}$/);
    expect(Date.parse(all.expires_at) - Date.now()).to.be.within(540_000, 600_000);
    const some = await link("--app", "first", "--scopes", "read,mint");
    expect(some).to.deep.include({ app_id: cli.api.app.id, scopes: ["read", "mint"] });
    const session = await enter(some);
    expect((await session.call("GET", SESSION)).body).to.deep.include({ kind: "app", scopes: ["read", "mint"] });
    expectRefusal(await use(some), 401, "unauthorized");
  });

  it("begins the link with PUBLIC_URL, and says for whom it is", async () => {
    const env = { ...cli.env, PUBLIC_URL: "https://nft.example/moneta" };
    const { output } = await runCli(env, "console", "--app", "first");
    expect(output).to.match(/^https:\/\/nft\.example\/moneta\/console#code=/);
    expect(output).to.contain("the app first").and.to.contain("works once");
  });

  it("refuses an unknown app, an unknown scope and a wrong PUBLIC_URL", async () => {
    expect(await cli.refusal("console", "--app", "nobody")).to.contain("no app with the name or id nobody");
    expect(await cli.refusal("console", "--scopes", "read,everything")).to.contain("Valid scopes are read");
    const wrong = runCli({ ...cli.env, PUBLIC_URL: "nft.example" }, "console");
    expect((await rejectionOf(wrong)).message).to.contain("PUBLIC_URL: must be an http");
  });

  it("lists sessions and links without their secrets", async () => {
    expect(await cli.run("console", "list")).to.contain("There are no sessions");
    const made = await link("--app", "first");
    const { cookie } = await enter(made);
    const unused = await link();
    const listed = await list();
    const states = listed.map(({ session_id, app_name, state }) => [session_id, app_name, state]);
    expect(states).to.have.deep.members([
      [unused.session_id, null, "link"],
      [made.session_id, "first", "active"],
    ]);
    const text = JSON.stringify(listed) + (await cli.run("console", "list"));
    for (const secret of [codeOf(made), codeOf(unused), cookie.split("=")[1] ?? ""])
      expect(text).to.not.contain(secret);
  });

  it("revokes one session at once, or all with the unused links", async () => {
    const [one, two, unused] = [await link("--app", "first"), await link(), await link()];
    const [first, second] = [await enter(one), await enter(two)];
    expect(await cli.json("console", "revoke", first.id)).to.deep.equal({ revoked: 1 });
    expect(await cli.json("console", "revoke", first.id)).to.deep.equal({ revoked: 0 });
    expectRefusal(await first.call("GET", SESSION), 401, "unauthorized");
    expect((await second.call("GET", SESSION)).status).to.equal(200);
    expect(await cli.run("console", "revoke", "--all")).to.contain("revoked: 2 sessions");
    expectRefusal(await second.call("GET", SESSION), 401, "unauthorized");
    expectRefusal(await use(unused), 401, "unauthorized");
    expect(new Set((await list()).map(({ state }) => state))).to.deep.equal(new Set(["revoked"]));
    const wrong = [["none"], [], ["none", "--all"]].map((words) => cli.refusal("console", "revoke", ...words));
    expect(await Promise.all(wrong)).to.deep.equal([
      "There is no session with the id none. `console list` shows the ids.",
      "Name one session, or --all.",
      "Name one session, or --all.",
    ]);
  });

  it("loses an app's sessions and links when the app is removed", async () => {
    await cli.run("app", "create", "trying");
    const [used, unused] = [await link("--app", "trying"), await link("--app", "trying")];
    const session = await enter(used);
    await cli.run("app", "remove", "trying");
    expectRefusal(await session.call("GET", SESSION), 401, "unauthorized");
    expectRefusal(await use(unused), 401, "unauthorized");
    expect(await list()).to.deep.equal([]);
  });

  it("lets old sessions be pruned", async () => {
    const [old, young] = [await link(), await link()];
    const past = Date.now() - 31 * 86_400_000;
    await cli.api.database.write((trx) =>
      trx.updateTable("console_sessions").set({ expires_at: past }).where("id", "=", old.session_id).execute(),
    );
    await cli.run("prune");
    expect((await list()).map(({ session_id }) => session_id)).to.deep.equal([young.session_id]);
  });
});
