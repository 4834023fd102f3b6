import { spawn } from "node:child_process";
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

import packageJson from "../../client/package.json" with { type: "json" };
import starterJson from "../../examples/create-moneta-app/package.json" with { type: "json" };
import projectJson from "../../package.json" with { type: "json" };

const ROOT = resolve(import.meta.dirname, "../..");
const CLIENT = join(ROOT, "client");
const STARTER = join(ROOT, "examples/create-moneta-app");

/** Packs `create-moneta-app`. @returns the path of the tarball in the folder. */
export async function packStarter(folder: string): Promise<string> {
  requireVersion("examples/create-moneta-app/package.json", starterJson.version);
  return pack(STARTER, folder);
}

/** Builds the client and packs it for `npm install`. @returns the path of the tarball in the folder. */
export async function packClient(folder: string): Promise<string> {
  requireVersion("client/package.json", packageJson.version);
  const stage = await mkdtemp(join(tmpdir(), "moneta-client-"));
  try {
    const dist = join(stage, "dist");
    await run(process.execPath, [join(ROOT, "node_modules/typescript/bin/tsc"), "-p", CLIENT, "--outDir", dist], ROOT);
    await correctTypes(dist);
    await cp(join(CLIENT, "package.json"), join(stage, "package.json"));
    await cp(join(CLIENT, "README.md"), join(stage, "README.md"));
    await cp(join(ROOT, "LICENSE"), join(stage, "LICENSE"));
    return await pack(stage, folder);
  } finally {
    await rm(stage, { recursive: true, force: true });
  }
}

function requireVersion(file: string, version: string): void {
  if (version === projectJson.version) return;
  throw new Error(`Set the version of ${file} to ${projectJson.version}, that of package.json.`);
}

async function pack(from: string, folder: string): Promise<string> {
  const target = resolve(folder);
  const printed = await run("npm", ["pack", "--json", "--ignore-scripts", "--pack-destination", target], from);
  return join(target, tarballOf(printed));
}

/**
 * The compiler leaves `./errors.ts` in declarations, and not every tool finds `errors.d.ts` by that name. It indents by four spaces;
 * tabs make the package smaller.
 */
async function correctTypes(dist: string): Promise<void> {
  const declarations = (await readdir(dist, { recursive: true })).filter((name) => name.endsWith(".d.ts"));
  await Promise.all(
    declarations.map(async (name) => {
      const text = await readFile(join(dist, name), "utf8");
      const named = text.replace(/(from |import\()"(\.{1,2}\/[^"]+)\.ts"/g, '$1"$2.js"');
      await writeFile(
        join(dist, name),
        named.replace(/^( {4})+/gm, (spaces) => "\t".repeat(spaces.length / 4)),
      );
    }),
  );
}

/** npm prints a list of packages, from version 12 on an object of them. */
function tarballOf(printed: string): string {
  const [packed] = Object.values(JSON.parse(printed) as { filename: string }[] | Record<string, { filename: string }>);
  if (packed === undefined) throw new Error(`npm pack printed no package: ${printed}`);
  return packed.filename;
}

/** Runs a program to its end. @returns what it printed. @throws with its output when it fails. */
async function run(program: string, args: string[], cwd: string): Promise<string> {
  const child = spawn(program, args, {
    cwd,
    stdio: ["ignore", "pipe", "pipe"],
    shell: process.platform === "win32" && program === "npm",
  });
  const [output, errors]: Buffer[][] = [[], []];
  child.stdout.on("data", (chunk: Buffer) => output?.push(chunk));
  child.stderr.on("data", (chunk: Buffer) => errors?.push(chunk));
  const code = await new Promise<number | null>((done, fail) => {
    child.once("error", fail);
    child.once("close", done);
  });
  const printed = Buffer.concat(output ?? []).toString("utf8");
  if (code === 0) return printed;
  throw new Error(`${program} ${args.join(" ")} failed:\n${printed}${Buffer.concat(errors ?? []).toString("utf8")}`);
}
