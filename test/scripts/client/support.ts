import { spawn } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { text } from "node:stream/consumers";

import { packClient } from "../../../scripts/client/pack.ts";
import { ROOT } from "../../support/process.ts";

/** Packs the client, and installs the package with its dependencies in an empty folder. */
export async function installClient(folder: string): Promise<{ app: string; tarball: string; files: string[] }> {
  const app = join(folder, "app");
  await mkdir(app);
  await writeFile(join(app, "package.json"), JSON.stringify({ name: "app", private: true, type: "module" }));
  const tarball = await packClient(folder);
  await installOffline(app, folder, await dependenciesOf(join(ROOT, "client")), [tarball]);
  const files = await npm(["pack", "--dry-run", "--json", join(app, "node_modules/@moneta/client")], app);
  const [listing] = Object.values(JSON.parse(files) as Record<string, { files: { path: string }[] }>);
  return { app, tarball, files: (listing?.files ?? []).map(({ path }) => path).sort() };
}

/**
 * Installs packages of this project, so that no registry is asked.
 * @param folder for their tarballs.
 * @param packages their folders.
 */
export async function installOffline(app: string, folder: string, packages: string[], more: string[] = []) {
  const packed = await npm(["pack", "--ignore-scripts", "--pack-destination", folder, ...packages], folder);
  const tarballs = packed
    .trim()
    .split("\n")
    .map((name) => join(folder, name));
  await npm(["install", "--offline", "--no-audit", "--no-fund", ...more, ...tarballs], app);
}

/** Folders of the packages that a package needs, and of those that these need. They are all at the top of node_modules. */
export async function dependenciesOf(folder: string): Promise<string[]> {
  const folders = [folder];
  for (const next of folders) {
    const manifest = JSON.parse(await readFile(join(next, "package.json"), "utf8")) as { dependencies?: object };
    const needed = Object.keys(manifest.dependencies ?? {}).map((name) => join(ROOT, "node_modules", name));
    folders.push(...needed.filter((place) => !folders.includes(place)));
  }
  return folders.slice(1);
}

/** The environment in which `node` is the machine's own, not the project's. */
export function machineEnvironment(): NodeJS.ProcessEnv {
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  const PATH = folders.filter((path) => !path.startsWith(join(ROOT, "node_modules"))).join(delimiter);
  return { ...process.env, PATH };
}

export async function npm(args: string[], cwd: string): Promise<string> {
  const { output, errors, code } = await runProgram("npm", args, { cwd, env: machineEnvironment() });
  if (code !== 0) throw new Error(`npm ${args.join(" ")} failed:\n${output}${errors}`);
  return output;
}

export interface ProgramEnd {
  output: string;
  errors: string;
  code: number | null;
}

/** Runs a program to its end. */
export async function runProgram(
  program: string,
  args: string[],
  options: { cwd: string; env?: NodeJS.ProcessEnv },
): Promise<ProgramEnd> {
  const child = spawn(program, args, { ...options, stdio: ["ignore", "pipe", "pipe"] });
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  const [output, errors, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  return { output, errors, code };
}

/** The blocks of a language in a Markdown file, in order. */
export async function snippetsOf(file: string, language: string): Promise<string[]> {
  const markdown = await readFile(join(ROOT, file), "utf8");
  return [...markdown.matchAll(new RegExp(`^\`\`\`${language}\n([^]*?)^\`\`\``, "gm"))].map(([, content]) => content!);
}
