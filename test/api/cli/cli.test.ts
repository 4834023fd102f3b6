import { execFile } from "node:child_process";
import { promisify } from "node:util";

import { expect } from "chai";
import type { Command } from "commander";

import { createProgram } from "../../../api/cli/program.ts";
import { OperatorError } from "../../../api/operate/operator-error.ts";
import { type TestApi, startApi } from "../support/api.ts";
import { expectRefusal } from "../support/expect.ts";
import { follow } from "../support/follow.ts";

describe("command line", () => {
  let api: TestApi;
  before(async () => {
    api = await startApi();
  });
  after(() => api.close());

  async function run(...words: string[]): Promise<string> {
    let output = "";
    const write = (text: string) => {
      output += text;
    };
    const program = await createProgram({ env: { DATABASE_URL: api.databaseUrl }, write }, words);
    quiet(program);
    await program.parseAsync(words, { from: "user" });
    return output;
  }

  async function json(...words: string[]): Promise<unknown> {
    return JSON.parse(await run(...words, "--json"));
  }

  it("creates an app whose token works at once in the running service", async () => {
    const made = (await json("app", "create", "shop")) as Record<string, string>;
    expect(Object.keys(made)).to.deep.equal(["app_id", "name", "token"]);
    expect(made["name"]).to.equal("shop");
    const answer = await api.get("/v1/accounts", { token: made["token"] ?? "" });
    expect(answer.status).to.equal(200);
  });

  it("explains why a name is taken, unknown or invalid", async () => {
    await json("app", "create", "twice");
    await rejects(run("app", "create", "twice"), "already");
    await rejects(run("token", "list", "nobody"), "no app with the name or id nobody");
    await rejects(run("app", "create", "  "), "1 to 100 characters");
  });

  it("lists apps", async () => {
    const { app_id: id } = (await json("app", "create", "listed")) as { app_id: string };
    const apps = (await json("app", "list")) as { app_id: string; name: string }[];
    expect(apps.find((app) => app.app_id === id)?.name).to.equal("listed");
    expect(await run("app", "list")).to.contain("listed");
  });

  it("removes an empty app, and keeps one that has a wallet", async () => {
    const { token } = (await json("app", "create", "leaving")) as { token: string };
    await json("app", "remove", "leaving");
    expectRefusal(await api.get("/v1/accounts", { token }), 401, "unauthorized");
    const kept = (await json("app", "create", "kept")) as { token: string };
    await api.post("/v1/accounts", {}, { token: kept.token });
    await rejects(run("app", "remove", "kept"), "was not removed");
  });

  it("creates a token with scopes and an expiry, and revokes it at once", async () => {
    const made = (await json("token", "create", "first", "--name", "ci", "--scopes", "read", "--expires", "2h")) as {
      token_id: string;
      token: string;
      scopes: string[];
      expires_at: string;
    };
    expect(made.scopes).to.deep.equal(["read"]);
    expect(Date.parse(made.expires_at) - Date.now()).to.be.within(7_100_000, 7_200_000);
    expect((await api.get("/v1/accounts", { token: made.token })).status).to.equal(200);
    expectRefusal(await api.post("/v1/accounts", {}, { token: made.token }), 403, "forbidden");
    const listed = (await json("token", "list", "first")) as { token_id: string; revoked_at: string | null }[];
    expect(listed.find((token) => token.token_id === made.token_id)?.revoked_at).to.equal(null);
    expect(await run("token", "list", "first")).to.not.contain(made.token);

    await json("token", "revoke", made.token_id);
    expectRefusal(await api.get("/v1/accounts", { token: made.token }), 401, "unauthorized");
  });

  it("creates a token with a rate limit, which the list shows and a new token in its place keeps", async () => {
    const made = (await json("token", "create", "first", "--rate-limit", "2")) as { token_id: string; token: string };
    const policyOf = async (token: string) =>
      (await api.get("/v1/accounts", { token })).headers.get("ratelimit-policy") ?? "";
    expect(await policyOf(made.token)).to.match(/^"token";q=2;w=60, "app"/);
    type Listed = { token_id: string; rate_limit_per_minute: number | null }[];
    const rates = async () =>
      new Map(
        ((await json("token", "list", "first")) as Listed).map((one) => [one.token_id, one.rate_limit_per_minute]),
      );
    expect((await rates()).get(made.token_id)).to.equal(2);
    const next = (await json("token", "rotate", made.token_id)) as { token_id: string; token: string };
    expect((await rates()).get(next.token_id)).to.equal(2);
    expect(await policyOf(next.token)).to.match(/^"token";q=2;w=60, "app"/);
    for (const wrong of ["0", "1.5", "1000001", "many"]) {
      await rejects(run("token", "create", "first", "--rate-limit", wrong), "Give a number from 1 to 1000000");
    }
  });

  it("rejects unknown scopes, past dates and unknown tokens", async () => {
    await rejects(run("token", "create", "first", "--scopes", "read,fly"), "Valid scopes are");
    await rejects(run("token", "create", "first", "--expires", "2001-01-01"), "past");
    await rejects(run("token", "create", "first", "--expires", "soon"), "duration");
    await rejects(run("token", "revoke", "nothing"), "no token with the id nothing");
  });

  it("shows and lists requests without their unlockable content", async () => {
    const answer = await api.post("/v1/collections", { type: "ERC721", name: "Shown", symbol: "SHW" });
    const id = answer.body.request_id ?? "";
    const shown = (await json("request", "show", id)) as { request_id: string; command: { name: string } };
    expect(shown.command.name).to.equal("Shown");
    expect(shown).to.not.have.property("unlockable");
    expect(await run("request", "show", id)).to.contain(id);
    const listed = (await json("request", "list", "--status", "pending", "--app", "first")) as { request_id: string }[];
    expect(listed.map((request) => request.request_id)).to.include(id);
    expect(await json("request", "list", "--app", "second")).to.deep.equal([]);
    await rejects(run("request", "show", "none"), "no request with the id none");
  });

  it("lists the contracts that apps follow, and ends the following of one", async () => {
    const contract = await follow(api.database, { app: api.app.id, name: "Elsewhere" });
    expect(await json("contract", "list")).to.deep.equal(await json("contract", "list", "--app", "first"));
    const [listed] = (await json("contract", "list")) as object[];
    expect(listed).to.include({ app_id: api.app.id, address: contract, type: "ERC721", state: "followed" });
    expect(await run("contract", "list", "--app", "second")).to.contain("No app follows");
    await rejects(run("contract", "unfollow", "second", contract), "does not follow");
    await rejects(run("contract", "unfollow", "first", "cats"), "is not an address");
    expect(await json("contract", "unfollow", "first", contract.toLowerCase())).to.deep.equal({
      app_id: api.app.id,
      address: contract,
    });
    expect(await json("contract", "list")).to.deep.equal([]);
  });

  it("lists the settings with their defaults", async () => {
    expect(await run("settings")).to.match(/^PORT {2}\(default: 3000\)\n {4}Port of the API\./);
  });

  it("shows the list of commands without loading the service", async () => {
    const words = ["--import", "./test/support/print-modules.mjs", "api/cli/main.ts", "--help"];
    const { stdout, stderr } = await promisify(execFile)(process.execPath, words);
    expect(stdout).to.contain("Commands work while the service runs.");
    expect(stderr.match(/(?<=loads ).+/g)).to.have.members(["api/cli", "api/config", "api/shared", "commander"]);
  });

  it("runs as a program: result on standard output; error in one line with exit code 1", async () => {
    const main = (...words: string[]) =>
      promisify(execFile)(process.execPath, ["api/cli/main.ts", ...words], {
        env: { ...process.env, DATABASE_URL: api.databaseUrl },
      });
    expect((await main("--version")).stdout).to.match(/^\d+\.\d+\.\d+\n$/);
    const { stdout } = await main("app", "create", "spawned", "--json");
    expect(Object.keys(JSON.parse(stdout) as object)).to.deep.equal(["app_id", "name", "token"]);
    const failure = await main("app", "create", "spawned").then(
      () => null,
      (error: unknown) => error as { code: number; stderr: string },
    );
    expect(failure?.code).to.equal(1);
    expect(failure?.stderr).to.equal(
      "An app named spawned already exists. Choose another name, or list the apps with `app list`.\n",
    );
  });
});

async function rejects(work: Promise<unknown>, words: string): Promise<void> {
  const error = await work.then(
    () => null,
    (reason: unknown) => reason,
  );
  expect(error).to.be.instanceOf(Error);
  if (error instanceof OperatorError) expect(error.name).to.equal("OperatorError");
  expect((error as Error).message).to.contain(words);
}

/** Makes commander throw instead of ending the process, and print nothing. */
function quiet(command: Command): void {
  command.exitOverride().configureOutput({ writeErr: () => undefined });
  command.commands.forEach(quiet);
}
