import type { Browser, BrowserContextOptions, Page } from "playwright-core";

import { launchBrowser } from "../../scripts/console/launch-browser.ts";
import { atEndOfRun } from "../../scripts/scene/end-of-run.ts";

/** On a machine without a locale the browser names a language that `Intl` refuses, which no browser of a person does. */
const LOCALE = "en-US";

/** The browser of all test files of a process. */
let launching: Promise<Browser> | null = null;

/** Gives the tests of a `describe` block a browser. Each page is a person of its own, with no cookies. */
export function useBrowser(): BrowserFixture {
  const fixture = new BrowserFixture();
  before("start the browser", async () => {
    await fixture.start();
  });
  afterEach("close the pages", () => fixture.closePages());
  return fixture;
}

export class BrowserFixture {
  #browser: Browser | null = null;
  /** Errors in the consoles of the pages of this test: exceptions, failed loads, and what a content policy refused. */
  problems: string[] = [];

  async open(url: string, options: BrowserContextOptions = {}): Promise<Page> {
    if (this.#browser === null) throw new Error("The browser runs only during tests.");
    const context = await this.#browser.newContext({ locale: LOCALE, ...options });
    context.on("console", (message) => {
      if (message.type() === "error") this.problems.push(message.text());
    });
    context.on("weberror", (error) => this.problems.push(String(error.error())));
    const page = await context.newPage();
    page.setDefaultTimeout(90_000);
    await page.goto(url);
    return page;
  }

  async start(): Promise<void> {
    // One that crashed under an earlier file is replaced.
    if (launching === null || !(await launching).isConnected()) {
      launching = launchBrowser();
      atEndOfRun(stopBrowser);
    }
    this.#browser = await launching;
  }

  async closePages(): Promise<void> {
    this.problems = [];
    await Promise.all((this.#browser?.contexts() ?? []).map((context) => context.close()));
  }
}

async function stopBrowser(): Promise<void> {
  const browser = launching;
  launching = null;
  await (await browser)?.close();
}
