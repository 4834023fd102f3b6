import axe, { type AxeResults } from "axe-core";
import { expect } from "chai";
import type { BrowserContextOptions, Locator, Page } from "playwright-core";

import { type ConsoleLink, createConsoleLink } from "../../../api/commands/console-session.ts";
import type { Scope } from "../../../api/commands/api-tokens.ts";
import { type BrowserFixture, useBrowser } from "../../support/browser.ts";
import { eventually } from "../../support/eventually.ts";
import type { ServiceOptions } from "../../support/own-service.ts";
import type { ServiceFixture } from "../../support/service.ts";
import { useService } from "../../support/use-service.ts";

export interface OpenOptions {
  /** The screen: `/`, `/collections/0x...`. Default `/`. */
  screen?: string;
  /** The operator's session instead of that of the service's app. */
  operator?: boolean;
  /** Default: every scope. */
  scopes?: readonly Scope[];
  /** Id of the app, in place of the fixture's own. */
  appId?: string;
  browser?: BrowserContextOptions;
}

/** The narrowest page that the console supports. */
export const NARROW = { width: 360, height: 740 };

/**
 * Gives the tests of a `describe` block a real service and pages of its console: as `useService`, the shared service unless there
 * are options. A test fails when its pages have an error
 * in the browser's console, which includes everything that the content security policy refuses.
 */
export function useConsole(options?: ServiceOptions): ConsoleFixture {
  const moneta = options === undefined ? useService() : useService(options);
  afterEach("the browser's console has no errors", () => {
    fixture.expectNoProblems();
  });
  const fixture = new ConsoleFixture(moneta, useBrowser());
  return fixture;
}

class ConsoleFixture {
  readonly moneta: ServiceFixture;
  readonly browser: BrowserFixture;
  #allowed: RegExp | null = null;

  constructor(moneta: ServiceFixture, browser: BrowserFixture) {
    this.moneta = moneta;
    this.browser = browser;
  }

  /** A link as `npm run cli -- console` prints it. */
  async link({ operator = false, scopes, appId }: OpenOptions = {}): Promise<ConsoleLink> {
    const { service, baseUrl, app } = this.moneta;
    return createConsoleLink(
      { database: service.database, publicUrl: baseUrl },
      { appId: operator ? null : (appId ?? app.appId), scopes: scopes ?? null },
    );
  }

  /** A page that a link has signed in, at a screen. */
  async open(options: OpenOptions = {}): Promise<Page> {
    const { url } = await this.link(options);
    const page = await this.browser.open(url, options.browser);
    await page.locator("#main h1").waitFor();
    if (options.screen !== undefined) await goTo(page, options.screen);
    return page;
  }

  /** For a test whose pages have errors on purpose, such as a picture that does not exist. */
  allowProblems(pattern: RegExp): void {
    this.#allowed = pattern;
  }

  expectNoProblems(): void {
    const allowed = this.#allowed;
    this.#allowed = null;
    expect(this.browser.problems.filter((problem) => allowed?.test(problem) !== true)).to.deep.equal([]);
  }
}

/** Opens another screen of a page, as a link does. */
export async function goTo(page: Page, screen: string): Promise<void> {
  await page.evaluate(`location.hash = ${JSON.stringify(`#${screen}`)}`);
  await page.locator("#main h1").waitFor();
}

/** Waits until the screen shows a call as its last one: it does so when the call is answered. */
export async function lastCall(page: Page, call: string | RegExp): Promise<void> {
  await page.getByRole("region", { name: "Your last call" }).getByText(call).waitFor();
}

/** Presses a button that copies. @param part of the page that has it. @returns what is in the clipboard then */
export async function copied(page: Page, button: string, part: Page | Locator = page): Promise<string> {
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  // The message of an earlier copy may still be shown.
  await page.evaluate("navigator.clipboard.writeText('')");
  await part.getByRole("button", { name: button }).click();
  await page
    .getByText(/^Copied /)
    .first()
    .waitFor();
  return eventually(async () => {
    const text = await page.evaluate<string>("navigator.clipboard.readText()");
    return text === "" ? undefined : text;
  });
}

/** Checks the page with axe. The content security policy does not concern scripts of the browser's driver. */
export async function expectNoAxeViolations(page: Page, rules?: readonly string[]): Promise<void> {
  await page.evaluate(axe.source);
  const options = rules === undefined ? {} : { runOnly: rules };
  const { violations } = await page.evaluate<AxeResults>(`axe.run(document, ${JSON.stringify(options)})`);
  const found = violations.map(({ id, help, nodes }) => `${id}: ${help}\n${nodes.map(({ html }) => html).join("\n")}`);
  expect(found.join("\n\n")).to.equal("");
}

/** No word of usual length is cut in two by the end of a line. What has no place to break, such as a long number, may be. */
export async function expectNoBrokenWords(page: Page): Promise<void> {
  const broken = await page.evaluate<string[]>(`(() => {
    const found = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let text = walker.nextNode(); text !== null; text = walker.nextNode()) {
      if (!text.parentElement.checkVisibility({ visibilityProperty: true })) continue;
      for (const { 0: word, index } of text.data.matchAll(/[^\\s-]+/g)) {
        if (word.includes("/") || word.length > (/^[\\d.,]+$/.test(word) ? 12 : 20)) continue;
        const range = document.createRange();
        range.setStart(text, index);
        range.setEnd(text, index + word.length);
        const lines = new Set([...range.getClientRects()].filter(({ width }) => width > 0).map(({ top }) => Math.round(top)));
        if (lines.size > 1) found.push(word + " in " + text.parentElement.outerHTML.slice(0, 120));
      }
    }
    return found;
  })()`);
  if (broken.length > 0) throw new Error(broken.join("\n"));
}

/** Checks that the page is not wider than its window, and that nothing in it can be scrolled sideways. */
export async function expectNoSidewaysScrolling(page: Page): Promise<void> {
  const wide = await page.evaluate<string[]>(`[...document.querySelectorAll("*")]
    .filter((one) => one === document.documentElement
      ? one.scrollWidth > innerWidth
      : one.scrollWidth > one.clientWidth + 1 && /auto|scroll/.test(getComputedStyle(one).overflowX))
    .map((one) => one.cloneNode().outerHTML)`);
  expect(wide).to.deep.equal([]);
}
