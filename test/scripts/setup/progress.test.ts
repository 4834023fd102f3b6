import { writeFile } from "node:fs/promises";
import { join } from "node:path";

import { expect } from "chai";

import { useFolder } from "../../support/use-folder.ts";

const MEGABYTE = 2 ** 20;

/** The set-up is JavaScript, because it runs before anything is installed. */
interface Module {
  showProgress: (
    what: string,
    folder: string,
    sizes: { from: number; to: number },
  ) => { stop: () => void; complete: () => void };
}

describe("the progress of an installation", () => {
  const folder = useFolder();
  const { isTTY } = process.stderr;
  const write = process.stderr.write.bind(process.stderr);
  let written: string[];
  let showProgress: Module["showProgress"];

  before(async () => {
    const file = new URL("../../../scripts/setup/progress.mjs", import.meta.url).href;
    ({ showProgress } = (await import(file)) as Module);
  });
  beforeEach(() => {
    written = [];
    process.stderr.write = (text: string | Uint8Array) => written.push(String(text)) > 0;
  });
  afterEach(() => {
    Object.assign(process.stderr, { isTTY, write });
  });

  it("is a bar on a terminal, which waits below its end until the installation is complete", async () => {
    process.stderr.isTTY = true;
    await writeFile(join(folder.path, "package"), Buffer.alloc(2 * MEGABYTE));
    const half = showProgress("installing", folder.path, { from: 0, to: 4 });
    half.stop();
    const late = showProgress("installing", folder.path, { from: 0, to: 1 });
    late.stop();
    late.complete();
    expect(written.map((text) => text.replace(/\d+ s$/, "n s"))).to.deep.equal([
      `\r\x1b[2Kmoneta: installing [${"#".repeat(12)}${"-".repeat(12)}] 50 %, 2 of about 4 MB, n s`,
      "\r\x1b[2K",
      `\r\x1b[2Kmoneta: installing [${"#".repeat(23)}-] 99 %, 1 of about 1 MB, n s`,
      "\r\x1b[2K",
      `moneta: installing [${"#".repeat(24)}] 100 %, 2 MB\n`,
    ]);
  });

  it("draws nothing elsewhere", () => {
    process.stderr.isTTY = false;
    const progress = showProgress("installing", folder.path, { from: 0, to: 4 });
    progress.stop();
    progress.complete();
    expect(written).to.deep.equal([]);
  });
});
