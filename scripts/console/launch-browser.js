import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { chromium as playwright } from "playwright-core";
/**
 * The arguments that the package suggests are not used: they switch off the rules between origins, which tests of the console rely on. The
 * sandbox needs rights that containers do not have; the pages here are our own.
 */
const ARGS = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"];
/** `npm ci` empties it, so the browser is always that of the installed package. */
const FOLDER = join(import.meta.dirname, "../../node_modules/.cache/browser");
/** What unpacks the browser into the folder for temporary files of its process. */
const UNPACK = `await (await import("@sparticuz/chromium")).default.executablePath();`;
/** A real browser from npm packages alone. @param folder where its files are, or where they will be unpacked. */
export async function launchBrowser(folder = FOLDER) {
    if (!existsSync(folder))
        await unpack(folder);
    return playwright.launch({ executablePath: join(folder, "chromium"), args: ARGS, headless: true });
}
/** The package takes a file that another process is still writing for a whole one. So each process unpacks into a folder of its own. */
async function unpack(folder) {
    await mkdir(dirname(folder), { recursive: true });
    const draft = await mkdtemp(`${folder}-`);
    try {
        await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", UNPACK], {
            cwd: import.meta.dirname,
            env: { ...process.env, TMPDIR: draft },
        });
        await rename(draft, folder);
    }
    catch (error) {
        await rm(draft, { recursive: true, force: true });
        // Another process was first.
        if (!existsSync(folder))
            throw error;
    }
}
