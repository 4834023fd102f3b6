import { expect } from "chai";
import { ROOT } from "../support/process.ts";
import { runProgram } from "../scripts/client/support.ts";
import { expectNoAxeViolations, expectNoSidewaysScrolling, NARROW, useConsole } from "./support/browser.ts";
describe("console: signing in", () => {
    const pages = useConsole();
    it("prints a command that makes a link when nobody is signed in", async () => {
        // The browser reports the answer 401 as an error.
        pages.allowProblems(/401/);
        const page = await pages.browser.open(`${pages.moneta.baseUrl}/console/`, { viewport: NARROW });
        const command = await page.getByText(/npm run cli -- console$/).textContent();
        // The command names no other database, because its address can contain a password.
        const { DATABASE_URL: url } = pages.moneta.env;
        const env = { ...process.env, ...(url === undefined ? {} : { DATABASE_URL: url }) };
        const { output, errors, code } = await runProgram("sh", ["-c", command], { cwd: ROOT, env });
        expect(code, output + errors).to.equal(0);
        expect(output).to.match(/\/console#code=/);
        await expectNoAxeViolations(page);
        await expectNoSidewaysScrolling(page);
    });
    it("signs in by a link, takes the code out of the address, and stays signed in", async () => {
        const { url } = await pages.link();
        const page = await pages.browser.open(url);
        await page.getByRole("heading", { name: "Home" }).waitFor();
        expect(page.url()).to.equal(`${pages.moneta.baseUrl}/console/#/`);
        await page.getByText("Make your first token").waitFor();
        await page.getByRole("link", { name: "Create the first collection" }).waitFor();
        await expectNoAxeViolations(page);
        await page.reload();
        await page.getByText("Make your first token").waitFor();
        expect(await page.evaluate("document.cookie")).to.equal("");
    });
    it("refuses a link that was used, and says so", async () => {
        pages.allowProblems(/40[01]|422/);
        const { url } = await pages.link();
        const first = await pages.browser.open(url);
        await first.getByRole("heading", { name: "Home" }).waitFor();
        const second = await pages.browser.open(url);
        await second.getByRole("alert").waitFor();
        expect(await second.getByRole("heading", { name: "Home" }).count()).to.equal(0);
        await expectNoAxeViolations(second);
    });
    it("names the operator on another chain than a local one, and shows no path of the machine", async () => {
        pages.allowProblems(/401/);
        const page = await pages.browser.open("about:blank");
        await page.route("**/console/", async (route) => {
            const response = await route.fetch();
            const body = (await response.text()).replace(/(name="moneta-cli" content=)"[^"]*"/, '$1""');
            await route.fulfill({ response, body });
        });
        await page.goto(`${pages.moneta.baseUrl}/console/`);
        await page.getByText("Ask the operator of this service for a link.").waitFor();
        expect(await page.getByText("npm run").count()).to.equal(0);
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
