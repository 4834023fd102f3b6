import { expect } from "chai";

import { expectNoAxeViolations, expectNoSidewaysScrolling, goTo, NARROW, useConsole } from "./support/browser.ts";

const HOSTILE = "<img src=x onerror=\"document.title='ran'\">";

describe("console > operator", () => {
  // The screen shows all apps and the whole backlog.
  const web = useConsole({ node: "deployed" });

  it("says that nothing happened yet", async () => {
    const page = await web.open({ operator: true, screen: "/operator" });
    await page.getByText("No request became final in this time").waitFor();
    await expectNoAxeViolations(page);
  });

  it("shows the apps with their usage, and charts with a table", async () => {
    await web.moneta.createApp(HOSTILE);
    const body = { type: "ERC721", name: "Charted", symbol: "C" };
    const made = await web.moneta.api.send<{ request_id: string }>("POST", "/v1/collections", body);
    await web.moneta.api.client.waitFor(made.body.request_id);
    for (const colorScheme of ["light", "dark"] as const) {
      const page = await web.open({ operator: true, screen: "/operator", browser: { viewport: NARROW, colorScheme } });
      await page.getByText(/1 requests? completed/).waitFor();
      await page.locator("canvas").nth(2).waitFor();
      // Without a pointer, the legend speaks of the whole range, and the drawing has most of its card.
      expect(await page.locator(".u-legend").first().innerText()).to.match(/whole range\s*Completed\s*1\s*Failed/);
      const share = "document.querySelector('.u-over').clientWidth / document.querySelector('.uplot').clientWidth";
      expect(await page.evaluate<number>(share)).to.be.above(0.75);
      await page.getByText("The charts as a table").press("Enter");
      await page.getByRole("table", { name: "Requests, latency and fees over time" }).waitFor();
      await page.getByRole("button", { name: HOSTILE }).waitFor();
      expect(await page.title()).not.to.equal("ran");
      await expectNoSidewaysScrolling(page);
      await expectNoAxeViolations(page);
    }
  });

  it("draws charts in a browser whose language Intl refuses", async () => {
    const page = await web.open({ operator: true });
    // The charts are loaded only at their screen, which is opened afterwards.
    await page.evaluate(
      'Object.defineProperty(Navigator.prototype, "language", { configurable: true, get: () => "en-US@posix" })',
    );
    await goTo(page, "/operator");
    await page.locator("canvas").nth(2).waitFor();
    expect(await page.evaluate("navigator.language")).to.equal("en-US@posix");
  });

  it("shows the backlog, the lanes with their balances, and the findings of the doctor", async () => {
    const page = await web.open({ operator: true, screen: "/operator" });
    await page.getByText("0 wait for media, 0 to be sent, 0 for a block").waitFor();
    await page
      .getByRole("table", { name: /^Lanes/ })
      .getByText(/ETH$/)
      .first()
      .waitFor();
    await page.getByRole("table", { name: "Findings of the checks" }).waitFor();
    await page.getByRole("button", { name: "Check again" }).click();
    await page.getByRole("button", { name: "Read again" }).click();
    await page.getByRole("table", { name: "Findings of the checks" }).waitFor();
    await expectNoAxeViolations(page);
    await page.setViewportSize(NARROW);
    await expectNoSidewaysScrolling(page);
  });

  it("opens an app", async () => {
    const page = await web.open({ operator: true, screen: "/operator" });
    await page.getByRole("button", { name: "test", exact: true }).click();
    await page.getByRole("heading", { name: "Collections" }).waitFor();
    await goTo(page, "/requests");
    await page.getByRole("link", { name: /Create a collection/ }).waitFor();
  });

  it("is not offered to an app's session", async () => {
    web.allowProblems(/403/);
    const page = await web.open();
    expect(await page.getByRole("link", { name: "Operator" }).count()).to.equal(0);
    await goTo(page, "/operator");
    await page
      .getByText(/operator's console session/)
      .first()
      .waitFor();
  });
});
