import { expect } from "chai";

import { expectNoSidewaysScrolling, goTo, NARROW, useConsole } from "./support/browser.ts";

const SCREENS = [
  "/",
  "/collections/new",
  "/requests",
  "/wallets",
  "/webhook",
  "/tokens",
  "/operator",
  "/operator/apps",
  "/operator/time",
];

describe("console > phone", () => {
  // Its only app is chosen at once.
  const web = useConsole({ node: "deployed" });

  it("shows every link of the navigation, and no screen of the navigation is wider than the page", async () => {
    web.allowProblems(/404/);
    const page = await web.open({ operator: true, browser: { viewport: NARROW } });
    await page.getByRole("heading", { level: 1 }).first().waitFor();
    const hidden = await page.evaluate<string[]>(
      `[...document.querySelectorAll(".navigation nav a")]
        .filter((link) => { const box = link.getBoundingClientRect(); return box.left < 0 || box.right > innerWidth; })
        .map((link) => link.textContent)`,
    );
    expect(hidden).to.deep.equal([]);
    for (const screen of SCREENS) {
      await goTo(page, screen);
      await page.locator(".loading").first().waitFor({ state: "detached" });
      await expectNoSidewaysScrolling(page);
    }
  });
});
