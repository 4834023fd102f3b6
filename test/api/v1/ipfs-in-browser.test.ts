import { createServer } from "node:http";

import { expect } from "chai";

import { eventually } from "../../support/eventually.ts";
import { useBrowser } from "../../support/browser.ts";
import { listenOnLoopback } from "../../../scripts/scene/loopback.ts";
import { useService } from "../../support/use-service.ts";

const SVG =
  '<svg xmlns="http://www.w3.org/2000/svg" width="8" height="8" onload="document.title=\'ran\'"><script>document.title="ran";fetch("/v1/usage")</script><rect width="8" height="8"/></svg>';

describe("an SVG that an app hosts", () => {
  const moneta = useService();
  const browser = useBrowser();
  let url: string;

  before(async () => {
    const answer = await fetch(`${moneta.baseUrl}/v1/media`, {
      method: "POST",
      headers: { authorization: `Bearer ${moneta.app.token}`, "content-type": "image/svg+xml" },
      body: SVG,
    });
    const { cid } = (await answer.json()) as { cid: string };
    url = `${moneta.baseUrl}/ipfs/${cid}`;
  });

  it("is shown by a page of another origin", async () => {
    const server = createServer((_request, response) => {
      response.setHeader("content-type", "text/html").end(`<!doctype html><img src="${url}">`);
    });
    const site = await listenOnLoopback(server);
    try {
      const page = await browser.open(site.url);
      expect(await page.evaluate("document.images[0].naturalWidth")).to.equal(8);
    } finally {
      await site.stop();
    }
  });

  it("runs no script when it is opened directly", async () => {
    const page = await browser.open(url);
    expect(await page.locator("rect").count()).to.equal(1);
    expect(await page.title()).not.to.equal("ran");
    const blocked = /Blocked script execution in .* sandboxed/;
    await eventually(() => Promise.resolve(browser.problems.some((problem) => blocked.test(problem)) || undefined));
  });
});
