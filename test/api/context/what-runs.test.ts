import { expect } from "chai";

import { parseSettings } from "../../../api/config/settings.ts";
import { whatRuns } from "../../../api/context/run.ts";
import { freePort } from "../../../scripts/scene/loopback.ts";
import { NodeProcess } from "../../../scripts/scene/node.ts";
import { TestProcess } from "../../support/process.ts";
import { useFolder } from "../../support/use-folder.ts";

/** Standard output is a terminal. */
const ON_TERMINAL = ["--import", "data:text/javascript,process.stdout.isTTY = true"];

describe("npm run api: what it prints", () => {
  const folder = useFolder();

  it("names the URL, and the command for a link to the console", () => {
    const local = parseSettings({ PORT: "4000", DATA_DIR: "/my data" });
    expect(whatRuns(local, { port: 4000, metricsPort: 9464, chainId: 31_337n, local: true }).split("\n")).to.deep.equal(
      [
        "Moneta serves http://localhost:4000 on chain 31337.",
        "For a link to the console: PORT=4000 DATA_DIR='/my data' npm run cli -- console",
        "Metrics: http://localhost:9464/metrics",
        "Press Ctrl-C to stop.",
      ],
    );
    const settings = parseSettings({ PUBLIC_URL: "https://nft.example.com", RPC_URL: "https://secret.example.com" });
    expect(
      whatRuns(settings, { port: 3000, metricsPort: null, chainId: 11_155_111n, local: false }).split("\n"),
    ).to.deep.equal([
      "Moneta serves https://nft.example.com on chain 11155111.",
      "For a link to the console: npm run cli -- console",
      "Press Ctrl-C to stop.",
    ]);
    const relayer = parseSettings({ ROLES: "relayer,indexer" });
    expect(whatRuns(relayer, { port: null, metricsPort: null, chainId: 1n, local: false })).to.equal(
      "Moneta runs on chain 1, with the roles relayer, indexer.\nPress Ctrl-C to stop.",
    );
  });

  describe("given a local chain", () => {
    let node: NodeProcess;
    before(async () => {
      node = await NodeProcess.hardhat();
    });
    after(() => node.stop());

    async function outputOf(options: string[], ready: RegExp, name: string): Promise<string> {
      const port = await freePort();
      const env = { PORT: port.toString(), RPC_URL: node.url, DATA_DIR: `${folder.path}/${name}` };
      const program = new TestProcess([...options, "api/main.ts"], env);
      await program.printed(ready);
      expect(await program.end("SIGINT"), program.output).to.equal(0);
      return program.output.replaceAll(port.toString(), "4444");
    }

    it("is sentences on a terminal", async () => {
      const output = await outputOf(ON_TERMINAL, /^Press Ctrl-C to stop\.$/m, "terminal");
      expect(output).to.match(/^Moneta serves http:\/\/localhost:4444 on chain 31337\.$/m);
      expect(output).to.match(/^For a link to the console: PORT=4444 .* npm run cli -- console$/m);
      expect(output).to.match(/\nMoneta is stopping\.\nMoneta has stopped\.\n$/);
      expect(output).to.not.match(/^\{/m);
    });

    it("is lines of JSON elsewhere", async () => {
      const output = await outputOf([], /"msg":"serving"/, "elsewhere");
      const messages = output
        .trimEnd()
        .split("\n")
        .map((line) => (JSON.parse(line) as { msg: string }).msg);
      expect(messages.slice(-3)).to.deep.equal(["serving", "stopping", "stopped"]);
    });
  });
});
