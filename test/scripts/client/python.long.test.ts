import { join } from "node:path";

import { expect } from "chai";

import { useService } from "../../support/use-service.ts";
import { type ProgramEnd, runProgram, snippetsOf } from "./support.ts";

describe("a client in plain Python", () => {
  const fixture = useService();

  before("find python3", async () => {
    const found = await runProgram("python3", ["--version"], { cwd: import.meta.dirname }).catch(() => null);
    if (found?.code !== 0)
      throw new Error("These tests need python3 (3.9 or newer) on PATH. Install it, then run them again.");
  });

  it("makes calls from the examples of the published document, and finds their answers as documented", async () => {
    const script = join(import.meta.dirname, "call-from-document.py");
    const ended = await runProgram("python3", [script], {
      cwd: import.meta.dirname,
      env: { ...process.env, MONETA_URL: fixture.baseUrl, MONETA_TOKEN: fixture.app.token },
    });
    const [wallet, creation, mint] = linesOf(ended).map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(wallet).to.have.property("address");
    expect(creation).to.include({ type: "collection", status: "completed" });
    expect(mint).to.include({ type: "mint", status: "completed", nft_token_id: 1 });
  });

  it("runs the example of docs/client.md", async () => {
    const [example] = await snippetsOf("docs/client.md", "python");
    const options = {
      cwd: import.meta.dirname,
      env: { ...process.env, MONETA_URL: fixture.baseUrl, MONETA_TOKEN: fixture.app.token },
    };
    const run = () => runProgram("python3", ["-c", example!], options);
    const first = linesOf(await run());
    expect(first)
      .to.have.length(1)
      .and.to.satisfy(([line]: string[]) => /^0x[0-9a-fA-F]{40}$/.test(line!));
    // The key is the same, so the wallet is too.
    expect(linesOf(await run())).to.deep.equal(first);
  });
});

function linesOf({ code, output, errors }: ProgramEnd): string[] {
  expect(code, output + errors).to.equal(0);
  return output.trim().split("\n");
}
