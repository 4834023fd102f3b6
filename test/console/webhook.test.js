import { createServer } from "node:http";
import { expect } from "chai";
import { listenOnLoopback } from "../../scripts/scene/loopback.ts";
import { copied, lastCall, expectNoAxeViolations, expectNoSidewaysScrolling, NARROW, useConsole, } from "./support/browser.ts";
const HOSTILE = "<script>document.title='ran'</script>";
describe("console > webhook", () => {
    const web = useConsole();
    it("registers, tests, redelivers, changes, rotates and removes", async () => {
        // The API answers 404 while there is no webhook. The screen expects that, but the browser reports it.
        web.allowProblems(/404/);
        let answer = 500;
        const receiver = await listenOnLoopback(createServer((_request, response) => void response.writeHead(answer, HOSTILE).end(HOSTILE)));
        try {
            const page = await web.open({ screen: "/webhook" });
            await page.getByRole("heading", { name: "Register a webhook" }).waitFor();
            await expectNoAxeViolations(page);
            await page.getByLabel("URL").fill(`${receiver.url}/?<script>`);
            await page.getByRole("button", { name: "Save the webhook" }).click();
            await page.getByText(/^whsec_/).waitFor();
            await expectNoAxeViolations(page);
            await page.getByRole("button", { name: "I have stored it" }).click();
            await page.getByText(/^whsec_/).waitFor({ state: "detached" });
            await page.getByRole("button", { name: "Send a test event" }).click();
            await lastCall(page, "POST /v1/webhook/test");
            expect(await copied(page, "Copy as TypeScript")).to.contain('client.POST("/v1/webhook/test")');
            const row = page.getByRole("row", { name: /test/ });
            await row.getByText(/HTTP 500/).waitFor();
            for (const [part, text] of [
                ["Payload", '"type": "test"'],
                ["Body", HOSTILE],
            ]) {
                await row.getByText(part, { exact: true }).click();
                await row.getByText(text).waitFor();
            }
            await expectNoAxeViolations(page);
            answer = 200;
            await row.getByRole("button", { name: "Redeliver" }).click();
            // The first delivery is also tried again by itself, so that both may be delivered by now.
            await page.getByText("Delivered", { exact: true }).first().waitFor();
            await lastCall(page, /redeliver/);
            expect(await copied(page, "Copy as curl")).to.match(/\/v1\/webhook\/deliveries\/[^/]+\/redeliver'/);
            await expectNoAxeViolations(page);
            await page.getByRole("button", { name: "Change" }).click();
            await page.getByLabel(/^Sent/).uncheck();
            await page.getByRole("button", { name: "Save the webhook" }).click();
            await page.getByText("completed, error, corrected").waitFor();
            await page.getByRole("button", { name: "Rotate the secret" }).click();
            await page.getByRole("dialog").getByRole("button", { name: "Rotate" }).click();
            await page.getByText(/^whsec_/).waitFor();
            await page.setViewportSize(NARROW);
            await expectNoSidewaysScrolling(page);
            await page.getByRole("button", { name: "Remove" }).click();
            await expectNoAxeViolations(page);
            await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
            await page.getByRole("heading", { name: "Register a webhook" }).waitFor();
            await page.getByText("DELETE /v1/webhook", { exact: true }).waitFor();
            expect(await page.title()).not.to.equal("ran");
        }
        finally {
            await receiver.stop();
        }
    });
    it("says at the field what is wrong with the URL", async () => {
        web.allowProblems(/404|422/);
        const page = await web.open({ screen: "/webhook" });
        await page.getByLabel("URL").fill("http://user:password@example.com/");
        await page.getByRole("button", { name: "Save the webhook" }).click();
        await page.getByText("Must not contain a user name or a password.").waitFor();
    });
});
