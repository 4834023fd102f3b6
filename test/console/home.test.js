import { expect } from "chai";
import { expectNoAxeViolations, expectNoSidewaysScrolling, NARROW, useConsole } from "./support/browser.ts";
const HOLDER = "0x00000000000000000000000000000000000000b1";
describe("console > home", () => {
    const web = useConsole();
    const figure = (page, name) => page.locator(".figures .card").filter({ hasText: name }).locator("strong").innerText();
    it("leads an empty app to its first collection and token, while they happen", async () => {
        const { api } = web.moneta;
        const page = await web.open();
        await page.getByText("Make your first token").waitFor();
        await page.getByText("No requests yet.").waitFor();
        await expectNoAxeViolations(page);
        const create = page.getByRole("link", { name: "Create the first collection" });
        expect(await create.getAttribute("href")).to.equal("#/collections/new");
        await page.getByText("Live", { exact: true }).waitFor();
        const cats = await api.collection({ type: "ERC721", name: "Home cats" });
        await page.getByText("Mint your first token").waitFor();
        expect(await page.getByRole("link", { name: "Mint the first token" }).getAttribute("href")).to.equal(`#/collections/${cats}/mint`);
        await api.completed("/v1/nfts", { collection_address: cats, to_address: HOLDER });
        await page.getByText("Mint your first token").waitFor({ state: "detached" });
        await page.getByRole("link", { name: /Home cats ERC721 · 1 minted/ }).waitFor();
        expect(await figure(page, "Minted today")).to.equal("1");
        expect(await figure(page, "Requests today")).to.equal("2");
        expect(await figure(page, "Failed")).to.equal("0");
        expect(await figure(page, "Waiting")).to.equal("0");
        await page.getByText("The service can mint.").waitFor();
        await page.getByRole("row", { name: /Mint/ }).waitFor();
        await expectNoAxeViolations(page);
    });
    it("counts failures and leads to them, on a narrow and dark page", async () => {
        const { api } = web.moneta;
        const { body } = await api.send("GET", "/v1/collections");
        const mint = { collection_address: body.collections[0].address, to_address: HOLDER };
        const picture = { image: "http://10.0.0.1/picture.png", copy_media: true };
        await api.send("POST", "/v1/nfts", { ...mint, ...picture });
        const page = await web.open({ browser: { viewport: NARROW, colorScheme: "dark" } });
        await page.getByRole("link", { name: "Show why" }).waitFor();
        expect(await figure(page, "Failed")).to.equal("1");
        await expectNoSidewaysScrolling(page);
        await expectNoAxeViolations(page);
        await page.getByRole("link", { name: "Show why" }).click();
        await page.getByRole("row", { name: /Mint.*Failed/ }).waitFor();
        expect(await page.getByRole("button", { name: "Failed" }).getAttribute("aria-pressed")).to.equal("true");
    });
    it("says that the service cannot send, and what to do", async () => {
        const page = await web.open();
        await page.route("**/v1/summary", async (route) => {
            const answer = await route.fetch();
            await route.fulfill({ response: answer, json: { ...(await answer.json()), sending: "low_funds" } });
        });
        await page.reload();
        await page.getByText("Tell the operator of the service.").waitFor();
        await expectNoAxeViolations(page);
    });
    it("shows nothing that the session may not read, and offers no form without its scope", async () => {
        web.allowProblems(/403/);
        const without = await web.open({ scopes: ["mint"] });
        await without.getByText("This session cannot read").waitFor();
        await expectNoAxeViolations(without);
    });
});
