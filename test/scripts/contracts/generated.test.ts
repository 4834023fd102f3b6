import { cp, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { expect } from "chai";

import { RELEASED_CODE } from "../../../scripts/contracts/deployed-code.ts";
import {
  type Built,
  builtFiles,
  GENERATED,
  STANDARD_INPUT,
  updateGenerated,
} from "../../../scripts/contracts/generated.ts";
import { differences } from "../../../scripts/scene/committed-files.ts";
import { useFolder } from "../../support/use-folder.ts";

const FACTORY = "factories/Relay__factory.ts";

describe("the comparison of contracts/generated with the build", () => {
  const folder = useFolder();
  let committed: string;
  let built: Built;

  before(async () => {
    const text = (file: string) => readFile(join(GENERATED, file), "utf8");
    built = await builtFiles(GENERATED, {
      standardInput: await text(STANDARD_INPUT),
      releasedCode: await text(RELEASED_CODE),
    });
  });
  beforeEach(async () => {
    committed = join(folder.path, "generated");
    await cp(GENERATED, committed, { recursive: true });
  });

  it("names files that differ, are missing, or do not belong there, and nothing after an update", async () => {
    expect(await differences(built, committed, "generated")).to.deep.equal([]);
    const bytes = await readFile(join(committed, FACTORY));
    const last = bytes.indexOf('";', bytes.indexOf("const _bytecode")) - 1;
    bytes[last] = bytes[last]! ^ 1;
    await writeFile(join(committed, FACTORY), bytes);
    await rm(join(committed, "Relay.ts"));
    await writeFile(join(committed, "mocks", "Other.ts"), "");
    expect(await differences(built, committed, "generated")).to.have.members([
      `${FACTORY}: differs from the build`,
      "Relay.ts: missing",
      "mocks/Other.ts: not a generated file",
    ]);
    await updateGenerated(built, committed);
    expect(await differences(built, committed, "generated")).to.deep.equal([]);
  });
});
