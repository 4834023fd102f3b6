import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { build } from "vite";

const SOURCES = fileURLToPath(new URL("../../console/", import.meta.url));
/** The committed files, which the service serves at `/console/`. */
export const BUILT = join(SOURCES, "built");

/** Files that become one script: many small ones compress badly. What only one screen needs, such as charts, stays apart. */
const CHUNKS = [
  { name: "base", test: /\/console\/(parts|service|shell)\// },
  {
    name: "lists",
    test: /\/console\/screens\/(collections?\.|home|token|request|use-live|merge|wallet|holding|create-(wallet|token)|webhook|deliver)/,
  },
  {
    name: "forms",
    test: /\/console\/(forms|write|import|screens\/(change-|create-|freeze|import|mint|transfer))/,
  },
] as const;

/** Builds the console. The same sources and packages always give the same bytes. */
export async function bundle(folder: string): Promise<void> {
  await build({
    configFile: false,
    root: SOURCES,
    // Relative URLs, so that the console works behind a proxy that adds a prefix.
    base: "./",
    logLevel: "warn",
    publicDir: false,
    oxc: { jsx: { runtime: "automatic", importSource: "preact", development: false } },
    build: {
      outDir: folder,
      emptyOutDir: true,
      target: "es2022",
      // Data URLs would need an exception in the content security policy.
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      license: { fileName: "licenses.md" },
      reportCompressedSize: false,
      rolldownOptions: { output: { codeSplitting: { includeDependenciesRecursively: false, groups: [...CHUNKS] } } },
    },
  });
}

/** @returns one line for each file in `built` that differs from the sources, is missing, or does not belong there. */
export async function compareWithSources(): Promise<string[]> {
  const folder = await mkdtemp(join(tmpdir(), "moneta-console-"));
  try {
    await bundle(folder);
    const [fresh, committed] = await Promise.all([contentsOf(folder), contentsOf(BUILT)]);
    const names = [...new Set([...fresh.keys(), ...committed.keys()])].sort();
    return names.flatMap((name) => {
      const [wanted, present] = [fresh.get(name), committed.get(name)];
      if (wanted === undefined) return [`${name}: not a built file`];
      if (present === undefined) return [`${name}: missing`];
      return wanted.equals(present) ? [] : [`${name}: differs from the build`];
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The files of a folder by their paths in it. A folder that does not exist has none. */
export async function contentsOf(folder: string): Promise<Map<string, Buffer>> {
  const contents = new Map<string, Buffer>();
  try {
    for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile()) continue;
      const path = join(entry.parentPath, entry.name);
      contents.set(path.slice(folder.length + 1).replaceAll("\\", "/"), await readFile(path));
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
  return contents;
}
