import { readdir } from "node:fs/promises";
import { stripTypeScriptTypes } from "node:module";
import { join } from "node:path";

import { expect } from "chai";

import { ApiClient } from "../../support/api-client.ts";
import { createAppIn } from "../../../scripts/scene/scene.ts";
import { useFolder } from "../../support/use-folder.ts";
import { ipfsPackagesAreInstalled } from "../../support/ipfs-packages.ts";
import { ROOT, TestProcess } from "../../support/process.ts";
import { projectFile } from "../support/project-file.ts";
import { useService } from "../../support/use-service.ts";
import { imagePlan, isInImage, layOut } from "./image-files.ts";

/** As in the image: Node alone runs the files, and finds only what is in its folder. */
const NODE_OPTIONS = ["--preserve-symlinks", "--preserve-symlinks-main"];
const VERSION = (JSON.parse(projectFile("package.json")) as { version: string }).version;

describe("image", () => {
  const plan = imagePlan();

  it("has only TypeScript that Node runs by leaving out the types", async () => {
    const files = await filesOf(["api", "contracts/generated/factories"]);
    expect(files.length).to.be.above(400);
    for (const file of files) {
      const code = stripTypeScriptTypes(projectFile(file));
      for (const [, path] of code.matchAll(/^\s*(?:import|export)\s(?:[^"]*\sfrom\s)?"(\.[^"]+)"/gm)) {
        expect(path, `${file} imports a file by a name that does not exist`).to.match(/\.(ts|json)$/);
      }
    }
  });

  describe("given its files and packages in a folder of their own", () => {
    // The service runs from a folder of its own. This is its node, with its data.
    const moneta = useService({ start: false });
    let service: TestProcess;
    let baseUrl: string;
    // First: it runs from the folder.
    after("stop the service", () => service.end("SIGKILL"));
    const folder = useFolder({ per: "block" });

    before("start the service", async () => {
      layOut(plan, folder.path);
      service = run("api/main.ts", [], {
        HOST: "127.0.0.1",
        METRICS_PORT: "0",
        ...(ipfsPackagesAreInstalled() && { IPFS_LISTEN: "/ip4/127.0.0.1/tcp/0", IPFS_BOOTSTRAP: "none" }),
      });
      const [line] = await service.printed(/^.*"msg":"serving".*$/m);
      baseUrl = `http://127.0.0.1:${(JSON.parse(line) as { port: number }).port.toString()}`;
    });

    function run(entry: string, args: string[], env: Record<string, string> = {}): TestProcess {
      return new TestProcess([...NODE_OPTIONS, join(folder.path, entry), ...args], { ...moneta.env, ...env });
    }

    async function healthOf(env: Record<string, string>): Promise<{ code: number | NodeJS.Signals; output: string }> {
      const check = new TestProcess([join(folder.path, "ops/image/health-check.mjs")], env);
      const code = await check.gone();
      return { code, output: check.output };
    }

    it("serves the API with the version of package.json, and its documentation", async () => {
      const home = await fetch(baseUrl, { headers: { Accept: "application/json" } });
      expect(((await home.json()) as { version: string }).version).to.equal(VERSION);
      for (const path of ["/docs", "/console/", "/docs/swagger-ui-bundle.js", "/openapi.json", "/readyz"]) {
        expect((await fetch(baseUrl + path)).status, path).to.equal(200);
      }
    });

    it("mints a token", async () => {
      const { token } = await createAppIn(moneta.databaseUrl, "image");
      const api = new ApiClient(() => ({ baseUrl, token }));
      const collection = await api.collection({ type: "ERC721" });
      const minted = await api.done("/v1/nfts", {
        collection_address: collection,
        to_address: await api.wallet(),
        name: "Cat",
      });
      expect(minted).to.include({ status: "completed", nft_token_id: 1 });
    });

    it("has the command line", async () => {
      const cli = run("api/cli/main.ts", ["app", "list"]);
      expect(await cli.gone(), cli.output).to.equal(0);
    });

    it("has a health check that asks the API, else /metrics, and fails when nobody answers", async () => {
      const [line] = await service.printed(/^.*"msg":"serving".*$/m);
      const { port, metricsPort } = JSON.parse(line) as { port: number; metricsPort: number };
      expect(await healthOf({ HOST: "0.0.0.0", PORT: port.toString() })).to.include({ code: 0 });
      const worker = { ROLES: "relayer, media", METRICS_PORT: metricsPort.toString() };
      expect(await healthOf(worker)).to.include({ code: 0 });
      const wrong = await healthOf({ ROLES: "relayer", METRICS_PORT: port.toString() });
      expect(wrong).to.include({ code: 1 });
      expect(wrong.output).to.contain("answered 404");
      const blind = await healthOf({ ROLES: "relayer" });
      expect(blind).to.include({ code: 1 });
      expect(blind.output).to.contain("set METRICS_PORT");
    });

    it("stops on SIGTERM", async () => {
      expect(await service.end("SIGTERM"), service.output).to.equal(0);
      expect(await healthOf({ PORT: new URL(baseUrl).port })).to.include({ code: 1 });
    });
  });
});

async function filesOf(folders: string[]): Promise<string[]> {
  const lists = await Promise.all(
    folders.map(async (folder) =>
      (await readdir(join(ROOT, folder), { recursive: true })).map((name) => join(folder, name)),
    ),
  );
  return lists.flat().filter((file) => file.endsWith(".ts") && isInImage(file));
}
