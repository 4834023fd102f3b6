import { existsSync } from "node:fs";
import { join } from "node:path";

import { expect } from "chai";

import { ROOT } from "../../support/process.ts";
import { projectFile } from "../support/project-file.ts";
import { imagePlan } from "./image-files.ts";

describe("image", () => {
  const plan = imagePlan();

  it("copies files that exist and that .dockerignore lets in, and leaves out direct dependencies", () => {
    const allowed = projectFile(".dockerignore").match(/(?<=^!).+$/gm)!;
    for (const path of plan.copied) {
      expect(existsSync(join(ROOT, path)), path).to.equal(true);
      expect(
        allowed.some((entry) => path === entry || path.startsWith(`${entry}/`)),
        path,
      ).to.equal(true);
    }
    const { dependencies } = JSON.parse(projectFile("package.json")) as {
      dependencies: Record<string, string>;
    };
    expect(plan.leftOut).to.not.deep.equal([]);
    expect(Object.keys(dependencies)).to.include.members(plan.leftOut);
  });
});
