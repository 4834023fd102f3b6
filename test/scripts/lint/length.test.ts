import { expect } from "chai";
import { ESLint } from "eslint";

const MAX_FILE = 450;
const MAX_FUNCTION = 60;

describe("lint: the length of files and functions", () => {
  // Loading the configuration loads the TypeScript compiler.
  const eslint = new ESLint();

  /** Names of the length rules that refuse `code`. */
  async function refusals(code: string, filePath = "scripts/lint/example.mjs"): Promise<(string | null)[]> {
    const [result] = await eslint.lintText(code, { filePath });
    const rules = result!.messages.map(({ ruleId }) => ruleId);
    return rules.filter((rule) => rule === null || rule === "max-lines" || rule === "moneta/function-length");
  }

  /** A block of exactly so many lines, braces included. */
  const block = (lines: number) => `{${"\n".repeat(lines - 1)}}`;

  it(`accepts a file of ${MAX_FILE} lines and refuses one more`, async () => {
    const statement = "use();\n";
    expect(await refusals(statement.repeat(MAX_FILE).trimEnd())).to.deep.equal([]);
    expect(await refusals(statement.repeat(MAX_FILE + 1).trimEnd())).to.deep.equal(["max-lines"]);
  });

  it(`accepts functions of ${MAX_FUNCTION} lines and refuses one more, of every kind`, async () => {
    for (const [kind, code] of Object.entries({
      function: (lines: number) => `export function act() ${block(lines)}\n`,
      method: (lines: number) => `export class Actor { act() ${block(lines)} }\n`,
      callback: (lines: number) => `act(() => ${block(lines)});\n`,
      "test callback": (lines: number) => `describe("a group", () => { it("acts", () => ${block(lines)}); });\n`,
      "callback of `printer.describe`": (lines: number) => `printer.describe(() => ${block(lines)});\n`,
    })) {
      expect(await refusals(code(MAX_FUNCTION)), kind).to.deep.equal([]);
      expect(await refusals(code(MAX_FUNCTION + 1)), kind).to.deep.equal(["moneta/function-length"]);
    }
  });

  it("does not count the callback of a group of tests", async () => {
    for (const group of ["describe", "describe.only", "describeOn", "context.skip", "suite"])
      expect(await refusals(`${group}("a group", function () ${block(MAX_FUNCTION + 1)});\n`), group).to.deep.equal([]);
  });

  it("exempts the lists of tables only", async () => {
    const settings = async (path: string) => {
      const { rules } = (await eslint.calculateConfigForFile(path)) as { rules: Record<string, unknown[]> };
      return [rules["max-lines"], rules["moneta/function-length"]].map((rule) => rule?.[0]);
    };
    const [off, error] = [0, 2];
    expect(await settings("api/store/db/schema.ts")).to.deep.equal([off, off]);
    expect(await settings("api/store/db/migrations/0001-initial.ts")).to.deep.equal([off, off]);
    expect(await settings("api/store/db/sql.ts")).to.deep.equal([error, error]);
    expect(await settings("test/scripts/lint/length.test.ts")).to.deep.equal([error, error]);
    expect(await settings("scripts/lint/main.ts")).to.deep.equal([error, error]);
  });
});
