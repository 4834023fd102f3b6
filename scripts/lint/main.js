import { globSync } from "node:fs";
import { Program } from "../scene/program.ts";
/** `npm run lint`: runs all linters in parallel. Each reports its result, also when others fail. */
const CONTRACTS = globSync("contracts/**/*.sol", { exclude: ["contracts/mocks/**"] });
const TEST_CONTRACTS = globSync(["contracts/mocks/**/*.sol", "test/contracts/**/*.sol"]);
const linters = [
    { name: "eslint", run: ["eslint/bin/eslint.js", ".", "--max-warnings", "0"] },
    {
        name: "import directions",
        run: [
            "dependency-cruiser/bin/dependency-cruiser.mjs",
            "--no-progress",
            "api",
            "client",
            "console",
            "examples",
            "scripts",
            "test",
            "hardhat.config.ts",
        ],
    },
    ...solhint("solhint", ".solhint.json", CONTRACTS),
    ...solhint("solhint of tests", "scripts/lint/solhint-tests.json", TEST_CONTRACTS),
    { name: "published document", run: ["scripts/lint/document.ts"] },
    { name: "licences", run: ["scripts/lint/licenses.ts"] },
    { name: "prettier", run: ["prettier/bin/prettier.cjs", "--check", "--log-level", "warn", "."] },
];
function solhint(name, config, files) {
    // Without files solhint would read standard input.
    if (files.length === 0)
        return [];
    return [
        { name, run: ["solhint/solhint.js", "--noPoster", "--disc", "--max-warnings", "0", "--config", config, ...files] },
    ];
}
async function lint({ name, run: [program, ...args] }) {
    const entry = program.startsWith("scripts/") ? program : `node_modules/${program}`;
    const linter = new Program([entry, ...args]);
    const clean = (await linter.gone()) === 0;
    console.log(clean ? `${name}: clean` : `${name}: failed\n${linter.output.trim()}\n`);
    return clean;
}
const results = await Promise.all(linters.map(lint));
process.exitCode = results.every(Boolean) ? 0 : 1;
