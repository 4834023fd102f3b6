import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";

import type { BrowserContextOptions, Page } from "playwright-core";

import { freePort, listenOnLoopback } from "../scene/loopback.ts";
import { Program } from "../scene/program.ts";
import { launchBrowser } from "./launch-browser.ts";
import { waitUntil } from "./wait-until.ts";

/**
 * `npm run update -- screenshots`: starts a local chain and the service as `npm start` does, with the tour's tokens, and writes
 * docs/images/console/*.png. Look at each picture before you commit it.
 */

const FOLDER = "docs/images/console";
// Without a locale, the browser takes that of the machine, such as `en-US@posix`, which is not a valid language tag.
const WIDE: BrowserContextOptions = {
  viewport: { width: 1280, height: 680 },
  colorScheme: "light",
  locale: "en-US",
  // No picture in the middle of a change of colours.
  reducedMotion: "reduce",
};
/** The tour takes about a minute. */
const READY_MS = 300_000;

async function start(dataDir: string): Promise<Program> {
  const [port, rpcPort] = [await freePort(), await freePort()];
  const places = { PORT: port.toString(), RPC_PORT: rpcPort.toString(), DATA_DIR: dataDir };
  return new Program(["scripts/start/main.ts"], { env: { ...process.env, ...places, NO_COLOR: "1" } });
}

/** Opens a screen and waits until its parts and the pictures in view are loaded. */
async function open(page: Page, screen: string): Promise<void> {
  await page.evaluate(`location.hash = ${JSON.stringify(`#${screen}`)}`);
  await page.locator("#main h1").waitFor();
  await waitUntil(page, "document.querySelector('.loading') === null");
  await waitUntil(
    page,
    "Array.from(document.images).every((image) => image.complete || image.getBoundingClientRect().top > innerHeight)",
  );
}

/** @param part scrolled into view */
async function shoot(page: Page, screen: string, name: string, part = "h1"): Promise<void> {
  await open(page, screen);
  await page.locator(`#main ${part}`).first().scrollIntoViewIfNeeded();
  await page.screenshot({ path: join(FOLDER, `${name}.png`) });
  console.log(`${FOLDER}/${name}.png`);
}

/** The screen behind the first link that begins with a path. */
async function behind(page: Page, screen: string, prefix: string): Promise<string> {
  await open(page, screen);
  const address = await page.locator(`#main a:not(.button)[href^="#${prefix}"]`).first().getAttribute("href");
  return address?.slice(1) ?? screen;
}

/** Sends a mint that fails, because the service does not copy a picture from this address. */
async function failMint(page: Page, collection: string): Promise<void> {
  await open(page, `${collection}/mint`);
  await page.getByLabel(/^To/).fill("tour-alice");
  await page
    .getByRole("group", { name: /^Picture/ })
    .getByLabel("URI")
    .fill("http://10.0.0.1/cat.png");
  await page.getByText("More fields").click();
  await page.getByLabel(/^Copy the media/).check();
  await page.getByRole("button", { name: "Mint", exact: true }).click();
  await page.getByText("Failed", { exact: true }).waitFor();
}

/** A webhook whose receiver fails, with the answer, in the list and on the home screen. */
async function shootWebhook(page: Page): Promise<void> {
  const server = createServer((_request, response) => {
    response.writeHead(500, { "content-type": "text/plain" }).end("no such table: orders");
  });
  const receiver = await listenOnLoopback(server);
  try {
    await open(page, "/webhooks");
    await page.getByLabel("URL").fill(`${receiver.url}/moneta`);
    await page.getByLabel("Description").fill("Orders");
    await page.getByRole("button", { name: "Save the webhook" }).click();
    await page.getByRole("button", { name: "I have stored it" }).click();
    await page.getByRole("link", { name: "Orders" }).click();
    await page.getByRole("button", { name: "Send a test event" }).click();
    await page.getByText("Body", { exact: true }).click();
    const dismiss = page.getByRole("button", { name: "Dismiss" });
    await dismiss.first().waitFor();
    while ((await dismiss.count()) > 0) await dismiss.first().click();
    await shoot(page, await page.evaluate<string>("location.hash.slice(1)"), "webhook", "details[open]");
    await shoot(page, "/webhooks", "webhooks");
    await shoot(page, "/", "home");
  } finally {
    await receiver.stop();
  }
}

async function takeAll(consoleLink: string): Promise<void> {
  const browser = await launchBrowser();
  try {
    const context = await browser.newContext(WIDE);
    const page = await context.newPage();
    await page.goto(consoleLink);
    // The link is the operator's. Its only app is chosen at once.
    await page.locator("#main table").first().waitFor();
    const collection = await behind(page, "/collections", "/collections/0x");
    const token = await behind(page, collection, `${collection}/`);
    await shoot(page, collection, "collection");
    await shoot(page, token, "token");
    await shoot(page, `${collection}/mint`, "mint");
    await shoot(page, await behind(page, "/wallets", "/wallets/0x"), "wallet");
    await shoot(page, "/operator", "operator");
    await shoot(page, "/operator/time", "operator-time", ".chart:last-child .u-legend");
    await page.setViewportSize({ width: 360, height: 740 });
    await shoot(page, token, "token-narrow");
    await page.setViewportSize({ width: 1280, height: 680 });
    await page.emulateMedia({ colorScheme: "dark" });
    await shoot(page, "/collections", "collections-dark");
    await page.emulateMedia({ colorScheme: "light" });
    await failMint(page, collection);
    await shoot(page, "/requests", "requests");
    await shootWebhook(page);
  } finally {
    await browser.close();
  }
}

const folder = await mkdtemp(join(tmpdir(), "moneta-screenshots-"));
await mkdir(FOLDER, { recursive: true });
const moneta = await start(folder);
try {
  // It works once.
  const [consoleLink] = await moneta.printed(/https?:\S+\/console\/?#code=[\w-]+/, READY_MS);
  await takeAll(consoleLink);
} finally {
  await moneta.end("SIGINT");
  await rm(folder, { recursive: true, force: true });
}
