import { globSync } from "node:fs";
import { access, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";

import { expect } from "chai";

import packageJson from "../../package.json" with { type: "json" };
import { documentsWithTables, withTables } from "../../scripts/docs/tables.ts";
import { ROOT } from "../support/process.ts";

describe("the documentation", () => {
  const pages = [
    "README.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "SECURITY.md",
    "client/README.md",
    "examples/create-moneta-app/README.md",
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

describe("the npm scripts", () => {
  const scripts = Object.keys(packageJson.scripts).filter((name) => name !== "postinstall");

  it("are explained in CONTRIBUTING.md, in their order", async () => {
    const text = await readFile(join(ROOT, "CONTRIBUTING.md"), "utf8");
    const rows = [...text.matchAll(/^\| `npm (?:run )?([\w:]+)` +\| /gm)].map(([, name]) => name);
    expect(rows.filter((name) => name !== "ci")).to.deep.equal(scripts);
  });

  it("exist, when a document, a comment or a message names them", async () => {
    const files = globSync(["*.md", "{client,docs,ops,examples,api,console,scripts,test}/**/*.{md,ts,mjs,yaml}"], {
      cwd: ROOT,
      exclude: ["**/node_modules/**", "CHANGELOG.md", "test/fixtures/**"],
    });
    for (const file of files) {
      const text = await readFile(join(ROOT, file), "utf8");
      for (const [, name] of text.matchAll(/\bnpm run (?:--silent )?([a-z]+(?::[a-z]+)*)/g)) {
        expect(scripts, file).to.include(name);
      }
    }
  });
});

describe("the version", () => {
  /** How files name the packages and the image of this version. */
  const NAMES =
    /(?:moneta-client-|create-moneta-app-|registry\.example\.com\/moneta:|image\.version=")(\d+\.\d+\.\d+(?:-[\w.]+)?\b)/g;

  it("is that of package.json in package-lock.json and at the head of the changelog", async () => {
    const lockFile = JSON.parse(await readFile(join(ROOT, "package-lock.json"), "utf8")) as {
      version: string;
      packages: { "": { version: string } };
    };
    expect([lockFile.version, lockFile.packages[""].version]).to.deep.equal([packageJson.version, packageJson.version]);
    const [, newest] = /^## \[(.+?)\]/m.exec(await readFile(join(ROOT, "CHANGELOG.md"), "utf8"))!;
    expect(newest).to.be.oneOf([packageJson.version, "Unreleased"]);
  });

  it("is that of package.json in every file that names a package or the image", async () => {
    const files = globSync(["*.md", "Dockerfile", "{client,docs,ops,examples/*}/*.{md,yaml}"], { cwd: ROOT });
    const found: string[] = [];
    for (const file of files) {
      const text = await readFile(join(ROOT, file), "utf8");
      for (const [name, version] of text.matchAll(NAMES)) {
        found.push(file);
        expect(version, `${file}: ${name}`).to.equal(packageJson.version);
      }
    }
    expect(found).to.include.members(["Dockerfile", "client/README.md", "docs/first-hour.md", "ops/kubernetes.yaml"]);
  });
});

describe("the tables that the code generates", () => {
  for (const file of documentsWithTables()) {
    it(`are up to date in ${file} (after a change of the code, run npm run update -- docs)`, async () => {
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
