import chromium from "@sparticuz/chromium";
import { type Browser, chromium as playwright } from "playwright-core";

/**
 * The arguments that the package suggests are not used: they switch off the rules between origins, which tests of the console rely on. The
 * sandbox needs rights that containers do not have; the pages here are our own.
 */
const ARGS = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"];

/** A real browser from npm packages alone. */
export async function launchBrowser(): Promise<Browser> {
  return playwright.launch({ executablePath: await chromium.executablePath(), args: ARGS, headless: true });
}
