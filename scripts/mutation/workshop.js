import { cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { Program } from "../scene/program.ts";
import { apply } from "./mutants.ts";
/** Longest run of the tests, in milliseconds. A mutant that takes longer is an endless loop: it is killed. */
const RUN_TIMEOUT = 300_000;
/** Tests that measure gas, code size or compare bytes notice every change, so they say nothing about the others. */
const LEFT_OUT = /(?:gas|GasProbe|generated|code-size)\.test\.ts$/u;
/**
 * A copy of the contracts, compiled without the optimizer: that takes seconds. A mutant is written there. First the tests run
 * that are named after its contract, then the other ones, then the Solidity tests; the first failure ends the run.
 */
export class Workshop {
    #root;
    /** Path from the root of the project. */
    #folder;
    /** @param name of the copy. Workshops with different names can work at the same time. */
    constructor(root, name) {
        this.#root = root;
        this.#folder = join("cache", "mutation", name);
        const folder = join(root, this.#folder);
        rmSync(folder, { recursive: true, force: true });
        mkdirSync(folder, { recursive: true });
        cpSync(join(root, "contracts"), join(folder, "contracts"), { recursive: true });
        rmSync(join(folder, "contracts", "generated"), { recursive: true });
        cpSync(join(root, "test", "contracts"), join(folder, "test", "contracts"), {
            recursive: true,
            filter: (path) => !/\.(?:ts|json)$/u.test(path),
        });
        writeFileSync(join(folder, "hardhat.config.ts"), configOf(this.#folder.replaceAll("\\", "/")));
    }
    async judge(mutant) {
        const file = join(this.#root, this.#folder, mutant.file);
        const text = readFileSync(file, "utf8");
        writeFileSync(file, apply(text, mutant));
        try {
            return (await this.run(mutant.file)).verdict;
        }
        finally {
            writeFileSync(file, text);
        }
    }
    /** @param file path of the changed contract from the root of the project. */
    async run(file) {
        const build = await this.#hardhat(["build", "--no-tests", "--quiet"]);
        if (!build.isGood)
            return { verdict: "invalid", output: build.output };
        for (const tests of [...testsOf(file).map((files) => ["mocha", "--no-compile", ...files]), ["solidity"]]) {
            const { isGood, output } = await this.#hardhat(["test", ...tests]);
            if (!isGood)
                return { verdict: "killed", output };
        }
        return { verdict: "survived", output: "" };
    }
    async #hardhat(args) {
        const config = join(this.#root, this.#folder, "hardhat.config.ts");
        const hardhat = new Program(["node_modules/hardhat/dist/src/cli.js", "--config", config, ...args]);
        const timer = setTimeout(() => {
            hardhat.signal("SIGKILL");
        }, RUN_TIMEOUT);
        const ended = await hardhat.gone();
        clearTimeout(timer);
        return { isGood: ended === 0, output: hardhat.output };
    }
}
/** The files with mocha tests: those of the contract, then the other ones. */
function testsOf(file) {
    const words = [basename(file, ".sol"), basename(dirname(file)), basename(file, ".sol").replace("Collection", "")]
        .map((word) => word.toLowerCase())
        .filter((word) => word !== "" && word !== "contracts");
    const all = globSync("test/contracts/**/*.test.ts").filter((path) => !LEFT_OUT.test(path));
    const isNear = (path) => words.some((word) => path.toLowerCase().includes(word));
    return [all.filter(isNear), all.filter((path) => !isNear(path))]
        .map((files) => files.sort())
        .filter((files) => files.length > 0);
}
function configOf(folder) {
    return `import base from "../../../hardhat.config.ts";
const folder = "${folder}";
const { version, path, settings: { viaIR, optimizer, ...settings } } = base.solidity.profiles.default;
export default {
  ...base,
  solidity: { version, path, settings },
  paths: {
    sources: folder + "/contracts",
    artifacts: folder + "/artifacts",
    cache: folder + "/cache",
    tests: { ...base.paths.tests, solidity: folder + "/test/contracts" },
  },
  test: { ...base.test, mocha: { ...base.test.mocha, bail: true } },
  networks: { ...base.networks, default: { type: "edr-simulated", allowUnlimitedContractSize: true } },
  typechain: { ...base.typechain, dontOverrideCompile: true },
};
`;
}
