import { readdir } from "node:fs/promises";
import { join } from "node:path";

import { expect } from "chai";

import { launchBrowser } from "../../../scripts/console/launch-browser.ts";
import { useFolder } from "../../support/use-folder.ts";

describe("the browser of the tests", () => {
  const folder = useFolder();

  it("starts while another process unpacks it", async () => {
    const place = join(folder.path, "browser");
    const browsers = await Promise.all([launchBrowser(place), launchBrowser(place)]);
    try {
      for (const browser of browsers) expect(browser.isConnected()).to.equal(true);
      expect(await readdir(folder.path)).to.deep.equal(["browser"]);
    } finally {
      await Promise.all(browsers.map((browser) => browser.close()));
    }
  });
});
