import { globSync } from "node:fs";
import { access, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";

import { expect } from "chai";

import { documentsWithTables, withTables } from "../../scripts/docs/tables.ts";
import { ROOT } from "../support/process.ts";

describe("the documentation", () => {
  const pages = [
    "README.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "client/README.md",
    "examples/shop/README.md",
    ...globSync("docs/*.md", { cwd: ROOT }),
  ];

  for (const page of pages) {
    it(`${page} links only to files that exist`, async () => {
      const markdown = await readFile(join(ROOT, page), "utf8");
      const links = [...markdown.matchAll(/\]\((?!https?:)([^)#]+)\)/g)].map(([, path]) => path!);
      for (const path of links) expect(await exists(join(ROOT, dirname(page), path)), path).to.be.true;
    });

    it(`${page} names only sources that exist`, async () => {
      const markdown = await readFile(join(ROOT, page), "utf8");
      const sources = [...markdown.matchAll(/\b(?:api|scripts|test|contracts)\/[\w/.-]+\.(?:ts|sol|json)\b/g)];
      for (const [path] of sources) expect(await exists(join(ROOT, path)), path).to.be.true;
    });
  }
});

describe("the tables that the code generates", () => {
  for (const file of documentsWithTables()) {
    it(`are up to date in ${file} (after a change of the code, run npm run docs:update)`, async () => {
      const present = await readFile(join(ROOT, file), "utf8");
      expect(withTables(file, present)).to.equal(present);
    });
  }
});

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
