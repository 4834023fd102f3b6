import { expect } from "chai";
import { copied, expectNoAxeViolations, expectNoSidewaysScrolling, NARROW, useConsole } from "./support/browser.ts";
describe("console > tokens", () => {
    const web = useConsole();
    async function statusWith(token) {
        const headers = { authorization: `Bearer ${token}` };
        return (await fetch(`${web.moneta.baseUrl}/v1/requests`, { headers })).status;
    }
    it("creates a token, shows it once, and revokes it", async () => {
        const page = await web.open({ screen: "/tokens", browser: { viewport: NARROW } });
        await page.getByRole("button", { name: "Create an API key" }).click();
        const dialog = page.getByRole("dialog");
        await dialog.getByLabel("Name").fill("<script>document.title='ran'</script>");
        const create = dialog.getByRole("button", { name: "Create" });
        expect(await create.isDisabled()).to.equal(true);
        await dialog.getByText("Choose at least one scope.").waitFor();
        await dialog.getByLabel("read", { exact: true }).check();
        await dialog.getByText("Read everything that the app has.").waitFor();
        await dialog.getByLabel("Expires after").selectOption("30");
        await expectNoAxeViolations(page);
        await create.press("Enter");
        const token = (await page.getByText(/^moneta_/).textContent());
        expect(await statusWith(token)).to.equal(200);
        await expectNoAxeViolations(page);
        await expectNoSidewaysScrolling(page);
        await page.setViewportSize({ width: 1280, height: 800 });
        const lines = "[...document.querySelectorAll('td .button')].map((button) => button.scrollHeight <= 40)";
        expect(await page.evaluate(lines))
            .to.include(true)
            .and.not.include(false);
        const command = await copied(page, "Copy as curl");
        expect(command).to.contain("/v1/console/session").and.not.to.contain(token);
        await page.getByRole("button", { name: "I have stored it" }).click();
        await page.getByText(/^moneta_/).waitFor({ state: "detached" });
        await page.getByRole("button", { name: /^Revoke .*script/ }).click();
        await expectNoAxeViolations(page);
        await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
        await page.getByText("DELETE /v1/tokens/{token_id}").waitFor();
        expect(await copied(page, "Copy as curl")).to.match(/\/v1\/tokens\/[^/]+'/);
        await page.getByText("Revoked", { exact: true }).waitFor();
        expect(await statusWith(token)).to.equal(401);
        expect(await page.title()).not.to.equal("ran");
    });
    it("offers only the scopes of the session", async () => {
        const page = await web.open({ screen: "/tokens", scopes: ["read"] });
        await page.getByRole("button", { name: "Create an API key" }).click();
        await page.getByRole("dialog").getByLabel("read", { exact: true }).waitFor();
        expect(await page.getByRole("dialog").getByRole("checkbox").count()).to.equal(1);
    });
});
