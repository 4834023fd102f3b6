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

  it("finds nothing in an unchanged copy", async () => {
    expect(await differences(built, committed, "generated")).to.deep.equal([]);
  });

  it("names the file in which one byte of bytecode changed", async () => {
    const bytes = await readFile(join(committed, FACTORY));
    const last = bytes.indexOf('";', bytes.indexOf("const _bytecode")) - 1;
    bytes[last] = bytes[last]! ^ 1;
    await writeFile(join(committed, FACTORY), bytes);
    expect(await differences(built, committed, "generated")).to.deep.equal([`${FACTORY}: differs from the build`]);
  });

  it("names a file that is missing", async () => {
    await rm(join(committed, FACTORY));
    expect(await differences(built, committed, "generated")).to.deep.equal([`${FACTORY}: missing`]);
  });

  it("names a file that does not belong there", async () => {
    await writeFile(join(committed, "mocks", "Other.ts"), "");
    expect(await differences(built, committed, "generated")).to.deep.equal(["mocks/Other.ts: not a generated file"]);
  });

  it("finds nothing after an update", async () => {
    await writeFile(join(committed, "mocks", "Other.ts"), "");
    await rm(join(committed, FACTORY));
    await updateGenerated(built, committed);
    expect(await differences(built, committed, "generated")).to.deep.equal([]);
    expect([...built.keys()]).to.include(FACTORY);
  });
});
