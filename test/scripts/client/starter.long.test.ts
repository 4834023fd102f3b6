import { readFile, stat, symlink, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";

import { expect } from "chai";

import { packClient, packStarter } from "../../../scripts/client/pack.ts";
import { Program } from "../../../scripts/scene/program.ts";
import { type TemporaryFolder, temporaryFolder } from "../../support/folder.ts";
import { ROOT } from "../../support/process.ts";
import { useService } from "../../support/use-service.ts";
import { dependenciesOf, installOffline, machineEnvironment, npm, runProgram } from "./support.ts";

describe("create-moneta-app, from its package in an empty folder", () => {
  const fixture = useService();
  let folder: TemporaryFolder;
  let app: string;
  let server: Program;
  let url: string;

  before("make the app, install its packages and start it", async () => {
    folder = await temporaryFolder();
    app = join(folder.path, "My App");
    const client = await packClient(folder.path);
    await writeFile(join(folder.path, "package.json"), JSON.stringify({ private: true }));
    await npm(["install", "--offline", "--no-audit", "--no-fund", await packStarter(folder.path)], folder.path);
    const made = await create(app, "--client", client);
    expect(made.code, made.errors).to.equal(0);
    expect(made.output).to.contain(`cd ${app}`);
    // The app can be moved, and installed on another machine.
    expect(await readFile(join(app, "package.json"), "utf8")).to.contain(`"file:${basename(client)}"`);
    await installPackages();
    server = start();
    [url = ""] = await server.printed(/http:\/\/localhost:\d+/);
  });
  after(async () => {
    await server.end("SIGKILL");
    await folder.remove();
  });

  /** As `npm install` does, without a registry: Express comes from this project's packages, which are not all at the top. */
  async function installPackages(): Promise<void> {
    const file = join(app, "package.json");
    const manifest = await readFile(file, "utf8");
    const { dependencies } = JSON.parse(manifest) as { dependencies: Record<string, string> };
    expect(Object.keys(dependencies)).to.have.members(["@moneta/client", "express"]);
    await writeFile(file, manifest.replace(/,\s*"express": "[^"]+"/, ""));
    await installOffline(app, folder.path, await dependenciesOf(join(ROOT, "client")));
    await symlink(join(ROOT, "node_modules/express"), join(app, "node_modules/express"));
  }

  function create(...args: string[]) {
    const env = { ...machineEnvironment(), MONETA_TOKEN: fixture.app.token, MONETA_URL: fixture.baseUrl };
    return runProgram(join(folder.path, "node_modules/.bin/create-moneta-app"), args, { cwd: folder.path, env });
  }

  /** As `npm start` does, on the machine's own Node. */
  function start(env: Record<string, string> = {}): Program {
    return new Program(["--env-file=.env", "server.js"], {
      command: "node",
      cwd: app,
      // The environment comes before the file.
      env: { ...machineEnvironment(), PORT: "0", ...env },
    });
  }

  function mint(user: string, key: string): Promise<Response> {
    return fetch(`${url}/mint`, { method: "POST", body: new URLSearchParams({ user, key }), redirect: "manual" });
  }

  it("has a name that npm allows, and a private file with the token", async () => {
    expect(JSON.parse(await readFile(join(app, "package.json"), "utf8"))).to.include({ name: "my-app" });
    expect((await stat(join(app, ".env"))).mode & 0o777).to.equal(0o600);
    expect(await readFile(join(app, ".gitignore"), "utf8")).to.contain(".env");
  });

  it("mints once for a form that is sent twice, hears of it by the webhook, and shows the token", async () => {
    const user = "<b>Alice</b>";
    const first = await mint(user, "order-1");
    expect(first.status).to.equal(303);
    expect((await mint(user, "order-1")).status).to.equal(303);
    await server.printed(/^completed: request \S+, token 1$/m);
    const shown = await (await fetch(url + (first.headers.get("location") ?? ""))).text();
    expect(shown).to.contain("completed: Coin 1").and.not.contain("<b>");
    expect(shown.match(/<li>/g)).to.have.length(1);
  });

  it("refuses a webhook that is not genuine, and a form without a name", async () => {
    const forged = await fetch(`${url}/webhook`, { method: "POST", body: '{"id":"1","type":"completed"}' });
    expect(forged.status).to.equal(401);
    expect((await mint(" ", "order-2")).status).to.equal(422);
  });

  it("finds its collection again, and keeps the secret of its webhook", async () => {
    const secret = await readFile(join(app, ".webhook-secret"), "utf8");
    await server.end("SIGTERM");
    server = start();
    [url = ""] = await server.printed(/http:\/\/localhost:\d+/);
    expect(await readFile(join(app, ".webhook-secret"), "utf8")).to.equal(secret);
    expect((await mint("bob", "order-3")).status).to.equal(303);
    await server.printed(/^completed: request \S+, token 2$/m);
  });

  it("says what is wrong: no token, a folder in use, an unknown option", async () => {
    const without = start({ MONETA_TOKEN: "" });
    expect(await without.gone()).to.equal(1);
    expect(without.output).to.match(/^MONETA_TOKEN is missing\..*\n$/);
    for (const [args, message] of [
      [[app], "is not empty"],
      [[join(app, "server.js")], "is a file"],
      [["other", "--frob"], "Unknown option '--frob'"],
      [["other", "--url", "nft.example"], "--url must be an address"],
      [[], "Usage: create-moneta-app"],
    ] as const) {
      const { code, errors } = await create(...args);
      expect(code, errors).to.equal(1);
      expect(errors).to.contain(message).and.not.contain("    at ");
    }
  });
});
