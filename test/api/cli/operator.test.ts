import { expect } from "chai";
import type { Command } from "commander";

import { createProgram, NOUNS } from "../../../api/cli/program.ts";
import { OperatorError } from "../../../api/operate/operator-error.ts";
import { recordTries } from "../../../api/store/outbox/deliveries.ts";
import { type TestApi, startApi } from "../support/api.ts";
import { expectInvalid, expectRefusal } from "../support/expect.ts";

interface Token {
  token_id: string;
  token: string;
  name: string;
  scopes: string[];
  expires_at: string | null;
  old_token_id: string;
  old_works_until: string | null;
}

interface Delivery {
  delivery_id: string;
  event_id: string;
  event_type: string;
  status: string;
  error: string | null;
}

describe("command line: tokens, webhooks and requests", () => {
  let api: TestApi;
  beforeEach(async () => {
    api = await startApi();
  });
  afterEach(() => api.close());

  async function programOf(words: string[], write: (text: string) => void): Promise<Command> {
    const program = await createProgram({ env: { DATABASE_URL: api.databaseUrl }, write }, words);
    quiet(program, write);
    return program;
  }
  async function run(...words: string[]): Promise<string> {
    let output = "";
    const program = await programOf(words, (text) => {
      output += text;
    });
    await program.parseAsync(words, { from: "user" });
    return output;
  }
  const json = async <T>(...words: string[]) => JSON.parse(await run(...words, "--json")) as T;
  const refusal = (...words: string[]) =>
    run(...words).then(
      () => "",
      (error: unknown) => (error instanceof OperatorError ? error.message : String(error)),
    );
  const status = async (token: string) => (await api.get("/v1/accounts", { token })).status;

  describe("token rotate", () => {
    const create = (...words: string[]) => json<Token>("token", "create", "first", ...words);

    it("replaces a token at once and keeps its name, scopes and expiry", async () => {
      const old = await create("--name", "ci", "--scopes", "read,mint", "--expires", "2h");
      const made = await json<Token>("token", "rotate", old.token_id);
      expect(made).to.deep.include({ name: "ci", scopes: ["read", "mint"], expires_at: old.expires_at });
      expect(made).to.include({ old_token_id: old.token_id, old_works_until: null });
      expect([await status(old.token), await status(made.token)]).to.deep.equal([401, 200]);
    });

    it("keeps the old token valid for the grace period, but not beyond its expiry", async () => {
      const old = await create();
      const made = await json<Token>("token", "rotate", old.token_id, "--grace", "2h");
      expect(Date.parse(made.old_works_until ?? "") - Date.now()).to.be.within(7_100_000, 7_200_000);
      expect([await status(old.token), await status(made.token)]).to.deep.equal([200, 200]);
      const short = await create("--expires", "1h");
      const again = await json<Token>("token", "rotate", short.token_id, "--grace", "9d");
      expect(again.old_works_until).to.equal(short.expires_at);
    });

    it("rejects an unknown token, a revoked token and an invalid grace period", async () => {
      const old = await create();
      await run("token", "revoke", old.token_id);
      expect(await refusal("token", "rotate", old.token_id)).to.contain("is revoked or expired");
      expect(await refusal("token", "rotate", "none")).to.contain("no token with the id none");
      expect(await refusal("token", "rotate", old.token_id, "--grace", "soon")).to.contain("duration");
    });
  });

  describe("webhook", () => {
    beforeEach(async () => {
      await api.call("PUT", "/v1/webhook", { body: { url: "https://hooks.example/nft", events: ["error"] } });
    });

    it("show prints the URL and events without the secrets", async () => {
      const shown = await json<object>("webhook", "show", "first");
      expect(shown).to.deep.include({
        app_id: api.app.id,
        url: "https://hooks.example/nft",
        events: ["error"],
        disabled_at: null,
      });
      expect(Object.keys(shown)).to.not.include("secrets");
      expect(await run("webhook", "show", "first")).to.contain("disabled: no");
      expect(await refusal("webhook", "show", "second")).to.equal("The app second has no webhook.");
    });

    it("deliveries lists deliveries, and redeliver queues one again", async () => {
      const { body } = await api.post("/v1/webhook/test", {});
      const [queued] = await json<Delivery[]>("webhook", "deliveries", "first");
      expect(queued).to.include({ event_type: "test", status: "pending" });
      const id = queued?.delivery_id ?? "";
      expect(body).to.include({ id });
      const result = { responseStatus: 500, responseBody: null, error: "the receiver answered 500", nextAt: null };
      await api.database.write((trx) => recordTries(trx, [{ id, fence: 0, result }], Date.now()));
      expect(await json("webhook", "deliveries", "first", "--status", "pending")).to.deep.equal([]);
      expect(await run("webhook", "deliveries", "first", "--status", "failed")).to.contain("answered 500");

      const again = await json<Delivery>("webhook", "redeliver", id);
      expect(again).to.include({ event_id: queued?.event_id, status: "pending" });
      expect(again.delivery_id).to.not.equal(id);
      expect(await json<Delivery[]>("webhook", "deliveries", "first", "--limit", "1")).to.have.length(1);
      expect(await json("webhook", "deliveries", "second")).to.deep.equal([]);
      expect(await refusal("webhook", "redeliver", "none")).to.contain("no delivery with the id none");
    });

    it("disable stops deliveries until the app registers the webhook again", async () => {
      const { body } = await api.post("/v1/webhook/test", {});
      const disabled = await json<{ disabled_at: string | null }>("webhook", "disable", "first");
      expect(disabled.disabled_at).to.be.a("string");
      expect((await api.get("/v1/webhook")).body).to.include({ disabled_at: disabled.disabled_at });
      const [given] = await json<Delivery[]>("webhook", "deliveries", "first");
      expect(given).to.include({ status: "failed", error: "an operator disabled the webhook" });
      expectInvalid(await api.post("/v1/webhook/test", {}), { webhook: "disabled" });
      expect(await refusal("webhook", "redeliver", (body as { id: string }).id)).to.contain("is disabled");
      await api.call("PUT", "/v1/webhook", { body: { url: "https://hooks.example/nft" } });
      expect((await api.post("/v1/webhook/test", {})).status).to.equal(200);
      expect(await refusal("webhook", "disable", "nobody")).to.contain("no app");
    });
  });

  it("app remove also removes the webhook and its deliveries", async () => {
    const { token } = await json<{ token: string }>("app", "create", "trying");
    await api.call("PUT", "/v1/webhook", { token, body: { url: "https://hooks.example/nft" } });
    expect((await api.post("/v1/webhook/test", {}, { token })).status).to.equal(200);
    await run("app", "remove", "trying");
    expectRefusal(await api.get("/v1/webhook", { token }), 401, "unauthorized");
  });

  it("request list filters by app, status, type and reference", async () => {
    const collection = { type: "ERC721", name: "A", symbol: "AAA" };
    const mine = await api.post("/v1/collections", { ...collection, reference: "order-7" });
    const theirs = await api.post("/v1/collections", collection, { token: api.other.token });
    const list = async (...words: string[]) =>
      (await json<{ request_id: string }[]>("request", "list", ...words)).map((row) => row.request_id);
    expect(await list()).to.deep.equal([theirs.body.request_id, mine.body.request_id]);
    expect(await list("--app", "first", "--status", "pending", "--type", "collection")).to.deep.equal([
      mine.body.request_id,
    ]);
    expect(await list("--reference", "order-7")).to.deep.equal([mine.body.request_id]);
    expect(await list("--type", "mint")).to.deep.equal([]);
    expect(await list("--status", "completed")).to.deep.equal([]);
    expect(await list("--limit", "1")).to.have.length(1);
    expect(await refusal("request", "list", "--status", "lost")).to.contain("Allowed choices");
    expect(await refusal("request", "list", "--limit", "0")).to.contain("1 to 10000");
  });

  const everyCommand = () =>
    programOf(
      NOUNS.map(({ name }) => name),
      () => undefined,
    );

  it("lists a command that is not loaded as it lists one that is", async () => {
    const unloaded = await programOf([], () => undefined);
    expect(unloaded.helpInformation()).to.equal((await everyCommand()).helpInformation());
  });

  it("documents every command: usage, description and JSON output", async () => {
    const leaves = leavesOf(await everyCommand());
    expect(leaves.length).to.be.at.least(16);
    for (const path of leaves) {
      let help = "";
      const program = await programOf(path, (text) => {
        help += text;
      });
      await program.parseAsync([...path, "--help"], { from: "user" }).catch(() => undefined);
      expect(help, path.join(" "))
        .to.contain(`Usage: npm run cli -- ${path.join(" ")}`)
        .and.contain("--json")
        .and.contain("JSON output: ");
      expect(help.split("\n")[2], path.join(" ")).to.match(/^[A-Z].*[.;]?$/);
    }
  });

  it("shows an example of every command that commander accepts", async () => {
    for (const path of leavesOf(await everyCommand())) {
      let help = "";
      const helping = await programOf(path, (text) => {
        help += text;
      });
      await helping.parseAsync([...path, "--help"], { from: "user" }).catch(() => undefined);
      const examples = [...help.matchAll(/^ {2}npm run cli -- (.+)$/gm)].map(([, example]) => example ?? "");
      expect(examples, path.join(" ")).to.not.be.empty;
      for (const example of examples) {
        expect(example.split(" ").slice(0, path.length)).to.deep.equal(path);
        const program = await programOf(path, () => undefined);
        let called = false;
        commandAt(program, path).action(() => {
          called = true;
        });
        // The shell removes a redirection.
        await program.parseAsync(example.replace(/ < .*/, "").split(" "), { from: "user" });
        expect(called, example).to.equal(true);
      }
    }
  });

  it("revokes a token in the running service at once", async () => {
    const listed = await json<Token[]>("token", "list", "first");
    expect(await status(api.app.token)).to.equal(200);
    await run("token", "revoke", listed[0]?.token_id ?? "");
    expectRefusal(await api.get("/v1/accounts"), 401, "unauthorized");
  });
});

/** Makes commander throw instead of ending the process, and print to `write`. */
function quiet(command: Command, write: (text: string) => void): void {
  command.exitOverride().configureOutput({ writeErr: () => undefined, writeOut: write });
  for (const child of command.commands) quiet(child, write);
}

function leavesOf(command: Command, path: string[] = []): string[][] {
  if (command.commands.length === 0) return [path];
  return command.commands.flatMap((child) => leavesOf(child, [...path, child.name()]));
}

function commandAt(program: Command, path: string[]): Command {
  return path.reduce<Command>((command, name) => {
    const child = command.commands.find((one) => one.name() === name);
    if (child === undefined) throw new Error(`there is no command ${path.join(" ")}`);
    return child;
  }, program);
}
