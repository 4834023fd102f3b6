import { cpSync, mkdirSync, symlinkSync } from "node:fs";
import { dirname, join, relative } from "node:path";

import { ROOT } from "../../support/process.ts";
import { projectFile } from "../support/project-file.ts";

interface LockedPackage {
  dev?: boolean;
  dependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
  peerDependencies?: Record<string, string>;
}

/** What the Dockerfile says. Its commands are not run. */
interface ImagePlan {
  /** Files and folders of the checkout that the image has. */
  copied: string[];
  /** Direct dependencies that it leaves out. */
  leftOut: string[];
}

export function imagePlan(): ImagePlan {
  const dockerfile = projectFile("Dockerfile").replaceAll("\\\n", " ");
  const lastStage = dockerfile.slice(dockerfile.lastIndexOf("\nFROM "));
  const copies = [...lastStage.matchAll(/^COPY (?!--from)(?:--\S+ )*(.+) \S+$/gm)];
  const removals = /npm pkg delete ([^&\n]+)/.exec(dockerfile)?.[1] ?? "";
  return {
    copied: copies.flatMap(([, sources]) => sources!.split(" ")),
    leftOut: removals
      .trim()
      .split(/\s+/)
      .map((key) => key.slice(key.indexOf(".") + 1)),
  };
}

/** .dockerignore leaves the sources of the console out. */
export function isInImage(path: string): boolean {
  return /^api\/console\/(?!built(\/|$))/.exec(path.replaceAll("\\", "/")) === null;
}

/** Makes a folder that has the image's files, and of all packages only those that the image has. */
export function layOut(plan: ImagePlan, folder: string): void {
  for (const path of plan.copied) {
    const filter = (source: string) => isInImage(relative(ROOT, source));
    cpSync(join(ROOT, path), join(folder, path), { recursive: true, filter });
  }
  for (const path of packagesOf(plan)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    symlinkSync(join(ROOT, path), join(folder, path), "junction");
  }
}

/** Paths of the packages that the image has, without those inside of others. */
function packagesOf({ leftOut }: ImagePlan): string[] {
  const { packages } = JSON.parse(projectFile("package-lock.json")) as {
    packages: Record<string, LockedPackage>;
  };
  // The Dockerfile leaves out the optional ones: the local chain.
  const { dependencies = {} } = packages[""]!;
  const found = new Set<string>();
  const visit = (from: string, name: string) => {
    const path = resolved(packages, from, name);
    // Optional packages for other platforms are in the lock file and not installed.
    if (path === null || found.has(path)) return;
    found.add(path);
    const { dependencies, optionalDependencies, peerDependencies } = packages[path]!;
    for (const next of Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies }))
      visit(path, next);
  };
  for (const name of Object.keys(dependencies)) {
    if (!leftOut.includes(name)) visit("", name);
  }
  return [...found].filter((path) => path.lastIndexOf("node_modules/") === 0);
}

/** Where Node finds a package that another one imports. */
function resolved(packages: Record<string, LockedPackage>, from: string, name: string): string | null {
  for (let folder = from; ; folder = folder.slice(0, folder.lastIndexOf("node_modules/")).replace(/\/$/, "")) {
    const path = folder === "" ? `node_modules/${name}` : `${folder}/node_modules/${name}`;
    if (packages[path] !== undefined) return path;
    if (folder === "") return null;
  }
}
