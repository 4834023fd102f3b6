import { expect } from "chai";

import {
  copied,
  expectNoAxeViolations,
  expectNoBrokenWords,
  expectNoSidewaysScrolling,
  NARROW,
  useConsole,
} from "./support/browser.ts";

describe("console > the pages around it", () => {
  const web = useConsole();

  for (const width of [390, 1024, 1280]) {
    it(`break no words at ${width.toString()} px`, async () => {
      const page = await web.browser.open(`${web.moneta.baseUrl}/docs/errors`, { viewport: { width, height: 800 } });
      await page.locator("h1 img").waitFor();
      await expectNoSidewaysScrolling(page);
      await expectNoBrokenWords(page);
    });
  }

  for (const colorScheme of ["light", "dark"] as const) {
    it(`fit a phone and are readable, ${colorScheme}`, async () => {
      for (const path of ["/", "/docs/errors"]) {
        const page = await web.browser.open(web.moneta.baseUrl + path, { viewport: NARROW, colorScheme });
        await page.locator("h1 img").waitFor();
        expect(await page.evaluate("document.querySelector('h1 img').naturalWidth")).to.be.above(0);
        await expectNoSidewaysScrolling(page);
        await expectNoAxeViolations(page);
      }
    });

    it(`show the document of the API in the same colours, ${colorScheme}`, async () => {
      const page = await web.browser.open(`${web.moneta.baseUrl}/docs`, { viewport: NARROW, colorScheme });
      await page.getByText("List the app's collections").first().waitFor();
      const colour = (selector: string) =>
        page.evaluate<string>(`getComputedStyle(document.querySelector("${selector}")).backgroundColor`);
      expect(await colour(".swagger-ui")).to.equal(await colour("body"));
      expect(await colour("body")).to.equal(colorScheme === "light" ? "rgb(247, 247, 249)" : "rgb(18, 18, 23)");
      await page.emulateMedia({ colorScheme: colorScheme === "light" ? "dark" : "light" });
      expect(await colour(".swagger-ui")).to.equal(await colour("body"));
      expect(await page.evaluate("document.documentElement.scrollWidth - innerWidth")).to.be.at.most(0);
    });
  }

  it("and the console show the mark and the icons", async () => {
    const page = await web.open();
    const link = (await page.locator('link[rel="icon"]').getAttribute("href")) ?? "";
    for (const url of [new URL(link, page.url()).href, `${web.moneta.baseUrl}/favicon.ico`]) {
      const answer = await fetch(url);
      expect(answer.headers.get("content-type")).to.contain("image/svg+xml");
      // So a new version is seen at once.
      expect(answer.headers.get("cache-control")).to.equal("public, max-age=0");
    }
    // A symbol that does not exist has no size.
    const icons = page.locator(".navigation svg use");
    await icons.last().waitFor();
    const sizes = await page.evaluate<number[]>(
      '[...document.querySelectorAll(".navigation svg use")].map((one) => one.getBoundingClientRect().width)',
    );
    expect(sizes.length).to.be.above(6);
    expect(Math.min(...sizes)).to.be.above(0);
  });

  it("messages cover nothing", async () => {
    await web.moneta.api.wallet();
    for (const viewport of [{ width: 1280, height: 680 }, NARROW]) {
      const page = await web.open({ screen: "/wallets", browser: { viewport } });
      await copied(page, "Copy the address");
      await page.evaluate("scrollTo(0, document.documentElement.scrollHeight)");
      const covered = await page.evaluate<string[]>(`(() => {
        const toast = document.querySelector(".toast").getBoundingClientRect();
        return [...document.querySelectorAll("main .screen > *, .navigation a, .navigation button, .session > *")]
          .filter((one) => one.closest(".toasts") === null)
          .filter((one) => {
            const box = one.getBoundingClientRect();
            return box.width > 0 && box.left < toast.right && box.right > toast.left && box.top < toast.bottom && box.bottom > toast.top;
          })
          .map((one) => one.textContent);
      })()`);
      expect(covered).to.deep.equal([]);
    }
  });
});
