import { writeFile } from "node:fs/promises";
import { join } from "node:path";

import { expect } from "chai";

import { TestProcess } from "../../support/process.ts";
import { useFolder } from "../../support/use-folder.ts";

describe("licences of the packages", () => {
  const folder = useFolder();

  async function check(packages: Record<string, object>): Promise<string[]> {
    const file = join(folder.path, "package-lock.json");
    await writeFile(file, JSON.stringify({ packages: { "": { license: "none" }, ...packages } }));
    const linter = new TestProcess(["scripts/lint/licenses.ts", file], {});
    const code = await linter.gone();
    const named = linter.output.match(/^\S+(?= has the licence)/gm) ?? [];
    expect(code).to.equal(named.length === 0 ? 0 : 1);
    return named;
  }

  it("refuses conditions, a missing licence, and an unknown one; a choice is enough", async () => {
    const refused = await check({
      "node_modules/free": { license: "MIT" },
      "node_modules/choice": { license: "(GPL-3.0-only OR MIT)" },
      "node_modules/both": { license: "(MIT AND GPL-3.0-only)" },
      "node_modules/copyleft": { license: "AGPL-3.0-only" },
      "node_modules/of-files": { license: "MPL-2.0" },
      "node_modules/a/node_modules/tool": { license: "MPL-2.0", dev: true },
      "node_modules/none": {},
    });
    expect(refused).to.have.members(["both", "copyleft", "of-files", "none"]);
  });
});
