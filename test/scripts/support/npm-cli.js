// Stands in for npm in a test of scripts/setup/packages.mjs. Notes its arguments in the file npm-calls, and makes the record of
// installed packages that npm would make. FAKE_NPM says what goes wrong: `ci fails`, `install leaves out chai`.
import { appendFileSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";

const known = ["--no-audit", "--no-fund", "--no-progress", "--loglevel=error"];
const args = process.argv.slice(2).filter((argument) => !known.includes(argument));
appendFileSync("npm-calls", `${args.join(" ")}\n`);
console.log("added 9 packages");
console.error("npm warn deprecated");
const behaviour = process.env.FAKE_NPM ?? "";
if (args[0] === "ci") rmSync("node_modules", { recursive: true, force: true });
if (behaviour === `${args[0]} fails`) process.exit(9);

const left = /^(?:(ci|install) )?leaves out (.*)$/.exec(behaviour);
const leftOut = left !== null && (left[1] === undefined || left[1] === args[0]) ? left[2] : undefined;
const { packages } = JSON.parse(readFileSync("package-lock.json", "utf8"));
const installed = Object.entries(packages).filter(
  ([path, { dev }]) =>
    path !== "" &&
    path !== `node_modules/${leftOut}` &&
    path !== "node_modules/@nomicfoundation/edr-other" &&
    (dev !== true || args.includes("--include=dev")),
);
mkdirSync("node_modules/node/bin", { recursive: true });
rmSync("node_modules/node/bin/node", { force: true });
symlinkSync(process.execPath, "node_modules/node/bin/node");
writeFileSync("node_modules/.package-lock.json", JSON.stringify({ packages: Object.fromEntries(installed) }));
