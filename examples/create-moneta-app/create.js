#!/usr/bin/env node
// create-moneta-app <folder> [--client <file>] [--url <url>]: copies the template. It installs nothing and asks nobody.
import { copyFile, cp, mkdir, readdir, readFile, rename, stat, writeFile } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { parseArgs } from "node:util";

const USAGE = "Usage: create-moneta-app <folder> [--client <file of the package>] [--url <URL of Moneta>]";
const TEMPLATE = join(import.meta.dirname ?? new URL(".", import.meta.url).pathname, "template");

/** A mistake of the person who runs the command. */
class Mistake extends Error {}

async function main() {
  const { folder, client, url } = readArguments();
  const existing = await readdir(folder).catch((error) => {
    if (error.code === "ENOENT") return [];
    throw error.code === "ENOTDIR" ? new Mistake(`${folder} is a file. Name a new or an empty folder.`) : error;
  });
  if (existing.length > 0) throw new Mistake(`${folder} is not empty. Name a new or an empty folder.`);
  if (client !== undefined && !(await stat(client).catch(() => null))?.isFile()) {
    throw new Mistake(
      `--client must be the file of the package, such as moneta-client.tgz, and ${client} is not a file.`,
    );
  }

  const { version } = JSON.parse(await readFile(new URL("package.json", import.meta.url), "utf8"));
  await mkdir(folder, { recursive: true });
  await cp(TEMPLATE, folder, { recursive: true });
  // npm leaves a file with this name out of packages.
  await rename(join(folder, "gitignore"), join(folder, ".gitignore"));
  const manifest = JSON.parse(await readFile(join(folder, "package.json"), "utf8"));
  manifest.name = nameOf(folder);
  // A copy, so that the app can be installed on other machines.
  if (client !== undefined) await copyFile(client, join(folder, basename(client)));
  manifest.dependencies["@moneta/client"] = client === undefined ? version : `file:${basename(client)}`;
  await writeFile(join(folder, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
  const token = process.env.MONETA_TOKEN ?? "";
  const settings = [
    "# A token of your app in Moneta. Keep this file private: whoever has the token can mint.",
    `MONETA_TOKEN=${token}`,
    `MONETA_URL=${url}`,
    "PORT=4000",
    "# Where Moneta reaches this app. Without it, the webhook goes to this machine, which Moneta allows only on a local chain.",
    "# PUBLIC_URL=https://app.example",
  ];
  await writeFile(join(folder, ".env"), `${settings.join("\n")}\n`, { mode: 0o600 });
  const fillIn = token === "" ? `  Write your token to ${join(folder, ".env")}\n` : "";
  console.log(`The app is in ${folder}. Next:\n  cd ${folder}\n${fillIn}  npm install\n  npm start`);
}

function readArguments() {
  let parsed;
  try {
    parsed = parseArgs({ options: { client: { type: "string" }, url: { type: "string" } }, allowPositionals: true });
  } catch (error) {
    throw new Mistake(`${error.message}\n${USAGE}`);
  }
  const [folder, ...more] = parsed.positionals;
  if (folder === undefined || more.length > 0) throw new Mistake(USAGE);
  const url = parsed.values.url ?? process.env.MONETA_URL ?? "http://localhost:3000";
  if (!/^https?:\/\/[^\s/]+\/?$/.test(url)) {
    throw new Mistake(`--url must be an address without a path, such as https://nft.example, not "${url}".`);
  }
  const { client } = parsed.values;
  return { folder: resolve(folder), client: client === undefined ? undefined : resolve(client), url };
}

/** A name that npm allows. */
function nameOf(folder) {
  const name = basename(folder)
    .toLowerCase()
    .replace(/[^a-z0-9-]+/g, "-")
    .replace(/^-+|-+$/g, "");
  return name === "" ? "moneta-app" : name;
}

try {
  await main();
} catch (error) {
  if (!(error instanceof Mistake)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
