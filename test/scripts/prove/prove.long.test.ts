import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

import { expect } from "chai";

import { GENERATED, STANDARD_INPUT } from "../../../scripts/contracts/generated.ts";
import { committed, type Contract } from "../../../scripts/prove/bytecode.ts";
import { proveRelay, RELAY_THEOREMS } from "../../../scripts/prove/relay.ts";
import { report } from "../../../scripts/prove/report.ts";
import { type Answer, startSolver } from "../../../scripts/prove/solver.ts";

/**
 * The whole proof takes seconds, so it runs here at each change, and not only when the bytecode changed. The planted defects
 * show that the prover sees what it must see: each is the relay with one error.
 */

const RELAY = "project/contracts/Relay.sol";

type TheoremName = keyof typeof RELAY_THEOREMS;
const ALL: string[] = Object.values(RELAY_THEOREMS);

interface Defect {
  what: string;
  /** Each first text, which the source has once, is replaced by the second. */
  patch: [string, string][];
  /** Theorems that must be refused, with the function on the path of the refusal. */
  refused: Partial<Record<TheoremName, string>>;
}

const NO_GUARD_ON_EXECUTE: [string, string] = [
  "function execute(Call[] calldata calls) external nonReentrant",
  "function execute(Call[] calldata calls) external",
];
const WRITE_LAST_WORD = "if (bucket != _NO_BUCKET) _consumed[bucket] = word;\n        emit BatchExecuted";
const CANCEL = "if (isConsumed(number)) continue;\n            _consumed[number >> 8] |= 1 << (number & 0xff);";

const DEFECTS: Defect[] = [
  { what: "execute has no guard", patch: [NO_GUARD_ON_EXECUTE], refused: { guarded: "execute" } },
  {
    what: "cancel has no guard",
    patch: [
      ["cancel(uint256[] calldata numbers) external nonReentrant", "cancel(uint256[] calldata numbers) external"],
    ],
    refused: { reentered: "cancel" },
  },
  {
    what: "the last word of a batch is lost",
    patch: [[WRITE_LAST_WORD, "emit BatchExecuted"]],
    refused: { set: "execute" },
  },
  {
    what: "a word is lost when a number of another word comes",
    patch: [["if (bucket != _NO_BUCKET) _consumed[bucket] = word;\n                bucket", "bucket"]],
    refused: { set: "execute" },
  },
  {
    what: "cancel toggles",
    patch: [[CANCEL, "_consumed[number >> 8] ^= 1 << (number & 0xff);"]],
    refused: { kept: "cancel", stays: "cancel" },
  },
  {
    what: "cancel clears",
    patch: [[CANCEL, "_consumed[number >> 8] &= ~(1 << (number & 0xff));"]],
    refused: { kept: "cancel", reported: "cancel" },
  },
  {
    what: "execute does not check the bit",
    patch: [["if (word & bit != 0) {", "if (gasleft() == 1) {"]],
    refused: { clear: "execute" },
  },
  {
    what: "the bit is set after the call, without a guard",
    patch: [
      NO_GUARD_ON_EXECUTE,
      ["            word |= bit;\n", ""],
      [
        "_run(number, item.target, gasLimit, data);",
        "_run(number, item.target, gasLimit, data);\n            word |= bit;",
      ],
    ],
    refused: { guarded: "execute" },
  },
  {
    what: "the wrong word is written",
    patch: [[WRITE_LAST_WORD, "if (bucket != _NO_BUCKET) _consumed[bucket ^ 1] = word;\n        emit BatchExecuted"]],
    refused: { set: "execute", kept: "execute" },
  },
  {
    what: "the wrong bit is set",
    patch: [["word |= bit;", "word |= bit << 1;"]],
    refused: { set: "execute" },
  },
  {
    what: "another number is sent than the one consumed",
    patch: [["mstore(add(input, data.length), suffix)", "mstore(add(input, data.length), add(suffix, 1))"]],
    refused: { clear: "execute" },
  },
  {
    what: "a target runs with the relay's storage",
    patch: [["call(gasLimit, target, 0, input,", "delegatecall(gasLimit, target, input,"]],
    refused: { own: "execute" },
  },
];

interface Input {
  sources: Record<string, { content: string }>;
  settings: Record<string, unknown>;
}
interface Output {
  errors?: { severity: string; formattedMessage: string }[];
  contracts?: Record<string, Record<string, { evm: { bytecode: { object: string } } }>>;
}

/** Compiles the committed source of the relay, changed, with the committed settings. */
function compile(patch: Defect["patch"]): string {
  const { input } = JSON.parse(readFileSync(join(GENERATED, STANDARD_INPUT), "utf8")) as { input: Input };
  let content = input.sources[RELAY]?.content ?? "";
  for (const [before, after] of patch) {
    expect(content.split(before), `occurrences of "${before}"`).to.have.length(2);
    content = content.replace(before, () => after);
  }
  const sources = { ...input.sources, [RELAY]: { content } };
  const settings = { ...input.settings, outputSelection: { [RELAY]: { Relay: ["evm.bytecode.object"] } } };
  const solc = createRequire(import.meta.url)("solc") as { compile: (input: string) => string };
  const { errors, contracts } = JSON.parse(solc.compile(JSON.stringify({ ...input, sources, settings }))) as Output;
  const error = errors?.find(({ severity }) => severity === "error");
  if (error !== undefined) throw new Error(error.formattedMessage);
  return `0x${contracts?.[RELAY]?.["Relay"]?.evm.bytecode.object ?? ""}`;
}

describe("npm run prove", () => {
  let relay: Contract;

  before(async () => {
    relay = await committed("Relay");
  });

  // Most paths of a defective relay are those of the committed one, so their questions have answers already.
  const answers = new Map<string, Answer>();

  // A new z3 for each proof: one that has answered many questions is slower.
  async function prove(creation: string, theorems = ALL, until?: number) {
    const solver = await startSolver(until, until === undefined ? answers : new Map<string, Answer>());
    const outcomes = await proveRelay({ ...relay, creation }, solver, theorems);
    solver.stop();
    return report(theorems, outcomes);
  }

  it("compiles the relay to the committed bytecode, so the defects below are the only difference", () => {
    expect(compile([])).to.equal(relay.creation);
  });

  it("proves all theorems of the committed bytecode", async () => {
    const { lines, isProved } = await prove(relay.creation);
    expect(lines.filter((line) => line.startsWith("proved: "))).to.have.length(14);
    expect(lines.filter((line) => /^(NOT TRUE|undecided)/.test(line))).to.deep.equal([]);
    expect(isProved).to.equal(true);
  });

  it("is undecided, not proved, when the time is over", async () => {
    const { lines, isProved } = await prove(relay.creation, ALL, Date.now());
    expect(isProved).to.equal(false);
    expect(lines.some((line) => line.startsWith("undecided: "))).to.equal(true);
    expect(lines.some((line) => line.startsWith("NOT TRUE"))).to.equal(false);
  });

  for (const { what, patch, refused } of DEFECTS) {
    it(`refuses a relay where ${what}`, async () => {
      const { lines, isProved } = await prove(
        compile(patch),
        Object.keys(refused).map((theorem) => RELAY_THEOREMS[theorem as TheoremName]),
      );
      expect(isProved).to.equal(false);
      for (const [theorem, path] of Object.entries(refused)) {
        const start = `NOT TRUE: ${RELAY_THEOREMS[theorem as TheoremName]}. Path: ${path} `;
        expect(
          lines.filter((line) => line.startsWith(start)),
          `${start}\n${lines.join("\n")}`,
        ).not.to.be.empty;
      }
    });
  }
});
