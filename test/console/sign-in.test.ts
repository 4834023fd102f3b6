import { expect } from "chai";

import { expectNoAxeViolations, expectNoSidewaysScrolling, NARROW, useConsole } from "./support/browser.ts";

describe("console: signing in", () => {
  const pages = useConsole();

  it("says which command prints a link when nobody is signed in", async () => {
    // The browser reports the answer 401 as an error.
    pages.allowProblems(/401/);
    const page = await pages.browser.open(`${pages.moneta.baseUrl}/console/`, { viewport: NARROW });
    await page.getByText("npm run cli -- console", { exact: true }).waitFor();
    await expectNoAxeViolations(page);
    await expectNoSidewaysScrolling(page);
  });

  it("signs in by a link, takes the code out of the address, and stays signed in", async () => {
    const { url } = await pages.link();
    const page = await pages.browser.open(url);
    await page.getByRole("heading", { name: "Collections" }).waitFor();
    expect(page.url()).to.equal(`${pages.moneta.baseUrl}/console/#/`);
    await page.getByText("No collections yet").waitFor();
    await expectNoAxeViolations(page);
    await page.reload();
    await page.getByText("No collections yet").waitFor();
    expect(await page.evaluate("document.cookie")).to.equal("");
  });

  it("refuses a link that was used, and says so", async () => {
    pages.allowProblems(/40[01]|422/);
    const { url } = await pages.link();
    const first = await pages.browser.open(url);
    await first.getByRole("heading", { name: "Collections" }).waitFor();
    const second = await pages.browser.open(url);
    await second.getByRole("alert").waitFor();
    expect(await second.getByRole("heading", { name: "Collections" }).count()).to.equal(0);
    await expectNoAxeViolations(second);
  });

  it("signs out", async () => {
    pages.allowProblems(/401/);
    const page = await pages.open();
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByText("You are not signed in.").waitFor();
    await page.reload();
    await page.getByText("You are not signed in.").waitFor();
  });

  it("moves the focus to the content by the keyboard", async () => {
    const page = await pages.open();
    await page.keyboard.press("Tab");
    expect(await page.evaluate("document.activeElement.textContent")).to.equal("Skip to the content");
    await page.keyboard.press("Enter");
    expect(await page.evaluate("document.activeElement.id")).to.equal("main");
    expect(page.url()).to.match(/#\/$/);
  });
});
