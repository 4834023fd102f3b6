import { createServer } from "node:http";

import { expect } from "chai";
import type { Page } from "playwright-core";

import { type Listening, listenOnLoopback } from "../../scripts/scene/loopback.ts";
import {
  copied,
  lastCall,
  expectNoAxeViolations,
  expectNoSidewaysScrolling,
  NARROW,
  useConsole,
} from "./support/browser.ts";

const CONTRACT = "0xA487a7aD5Dd6B34eD3732D495181d4FA70946C60";
const HOSTILE = "<script>document.title='ran'</script>";

describe("console > webhooks", () => {
  const web = useConsole();
  let receiver: Listening;
  let answer: number;
  beforeEach(async () => {
    answer = 500;
    const server = createServer((_request, response) => void response.writeHead(answer, HOSTILE).end(HOSTILE));
    receiver = await listenOnLoopback(server);
  });
  afterEach(() => receiver.stop());

  const rowOf = (page: Page) => page.getByRole("row", { name: /test/ });

  async function createAndTest(page: Page): Promise<void> {
    await page.getByRole("heading", { name: "Create a webhook" }).waitFor();
    await expectNoAxeViolations(page);
    await page.getByLabel("URL").fill(`${receiver.url}/?<script>`);
    await page.getByLabel("Description").fill(HOSTILE);
    await page.getByRole("button", { name: "Save the webhook" }).click();
    await page.getByText(/^whsec_/).waitFor();
    await expectNoAxeViolations(page);
    await page.getByRole("button", { name: "I have stored it" }).click();
    await page.getByText(/^whsec_/).waitFor({ state: "detached" });

    await expectNoAxeViolations(page);
    await page.getByRole("link", { name: HOSTILE }).click();
    await page.getByRole("button", { name: "Send a test event" }).click();
    await lastCall(page, /^POST \/v1\/webhooks\/[^/]+\/test/);
    expect(await copied(page, "Copy as TypeScript")).to.contain('client.POST("/v1/webhooks/{id}/test"');
    const row = rowOf(page);
    await row.getByText(/HTTP 500/).waitFor();
    for (const [part, text] of [
      ["Payload", '"type": "test"'],
      ["Body", HOSTILE],
    ] as const) {
      await row.getByText(part, { exact: true }).click();
      await row.getByText(text).waitFor();
    }
  }

  async function seeFailing(page: Page): Promise<void> {
    await page.getByText("Failing", { exact: true }).waitFor();
    await expectNoAxeViolations(page);
    await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Home" }).click();
    await page.getByText(/does not get its events: the receiver answered 500/).waitFor();
    await page.getByRole("link", { name: "Webhooks 1 failing" }).waitFor();
    await expectNoAxeViolations(page);
    await page.getByRole("link", { name: "Show its deliveries" }).click();
    answer = 200;
    await rowOf(page).getByRole("button", { name: "Redeliver" }).click();
    // The first delivery is also tried again by itself, so that both may be delivered by now.
    await page.getByText("Delivered", { exact: true }).first().waitFor();
    await lastCall(page, /redeliver/);
    expect(await copied(page, "Copy as curl")).to.match(/\/v1\/webhook\/deliveries\/[^/]+\/redeliver'/);
    await expectNoAxeViolations(page);
  }

  async function changeAndRemove(page: Page): Promise<void> {
    await page.getByRole("button", { name: "Change" }).click();
    await page.getByLabel(/^Sent/).uncheck();
    await page.getByRole("button", { name: "Save the webhook" }).click();
    await page.getByText("completed, error, corrected", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Change" }).click();
    await page.getByLabel("Token received by a wallet of the app").check();
    await page.getByLabel("Contracts").fill("0x12");
    await page.getByRole("button", { name: "Save the webhook" }).click();
    await page.getByText("Must be an address: 0x and 40 hex digits.").waitFor();
    await page.getByLabel("Contracts").fill(CONTRACT.toLowerCase());
    await page.getByRole("button", { name: "Save the webhook" }).click();
    await page.getByText("completed, error, corrected, token.received").waitFor();
    await page.getByText(CONTRACT).waitFor();

    await page.getByRole("button", { name: "Rotate the secret" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Rotate" }).click();
    await page.getByText(/^whsec_/).waitFor();

    await page.setViewportSize(NARROW);
    await expectNoSidewaysScrolling(page);
    await page.getByRole("button", { name: "Remove" }).click();
    await expectNoAxeViolations(page);
    await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
    await page.getByText("No webhooks yet").waitFor();
    expect(await page.title()).not.to.equal("ran");
  }

  it("creates, tests, redelivers, changes, rotates and removes one, and shows that it fails", async () => {
    // A wrong address is refused.
    web.allowProblems(/422/);
    const page = await web.open({ screen: "/webhooks" });
    await createAndTest(page);
    await seeFailing(page);
    await changeAndRemove(page);
  });

  it("says at the field what is wrong with the URL", async () => {
    web.allowProblems(/422/);
    const page = await web.open({ screen: "/webhooks" });
    await page.getByLabel("URL").fill("http://user:password@example.com/");
    await page.getByRole("button", { name: "Save the webhook" }).click();
    await page.getByText("Must not contain a user name or a password.").waitFor();
  });
});
