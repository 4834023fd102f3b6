import { expect } from "chai";
import { expectNoAxeViolations, expectNoSidewaysScrolling, NARROW, useConsole } from "./support/browser.ts";
const REFERENCE = "order-<b>77</b>";
describe("console > search over everything", () => {
    const web = useConsole();
    let cats;
    let alice;
    let mint;
    let transaction;
    before("mint", async () => {
        const { api } = web.moneta;
        cats = await api.collection({ type: "ERC721", name: "Searchable cats", symbol: "SCAT" });
        alice = await api.wallet("searched-alice");
        const body = { collection_address: cats, to_address: alice, name: "Tom", reference: REFERENCE };
        const minted = await api.completed("/v1/nfts", body);
        mint = minted.request_id;
        transaction = minted.transaction_hash;
    });
    async function openSearch(page) {
        await page.keyboard.press("Control+K");
        return page.getByRole("combobox", { name: "Search for" });
    }
    const focused = (page) => page.evaluate("document.activeElement.ariaLabel ?? document.activeElement.textContent");
    const options = (page) => page.getByRole("listbox", { name: "Results" }).getByRole("option");
    it("opens by its button and by Ctrl-K, and gives the focus back", async () => {
        const page = await web.open();
        const button = page.getByRole("button", { name: /^Search/ });
        await button.click();
        const field = page.getByRole("combobox", { name: "Search for" });
        await field.waitFor();
        expect(await focused(page)).to.equal("Search for");
        await expectNoAxeViolations(page);
        await page.keyboard.press("Escape");
        await field.waitFor({ state: "detached" });
        expect(await focused(page)).to.match(/^Search/);
        await (await openSearch(page)).waitFor();
    });
    it("finds a screen, a collection and a user by how they begin, by keys alone", async () => {
        const page = await web.open();
        await (await openSearch(page)).pressSequentially("req");
        await options(page).filter({ hasText: "Requests" }).waitFor();
        await page.keyboard.press("Enter");
        await page.getByRole("heading", { name: "Requests", level: 1 }).waitFor();
        await (await openSearch(page)).pressSequentially("SEARCH");
        await options(page).filter({ hasText: "searched-alice" }).waitFor();
        await page.getByText("2 results").waitFor();
        await expectNoAxeViolations(page);
        await page.keyboard.press("ArrowDown");
        const field = page.getByRole("combobox", { name: "Search for" });
        const marked = page.getByRole("listbox").getByRole("option", { selected: true });
        expect(await marked.innerText()).to.contain("searched-alice");
        expect(await field.getAttribute("aria-activedescendant")).to.equal(await marked.getAttribute("id"));
        await page.keyboard.press("Enter");
        await page.getByRole("heading", { name: "searched-alice", level: 1 }).waitFor();
        await (await openSearch(page)).fill("scat");
        await page.keyboard.press("Enter");
        await page.getByRole("heading", { name: "Searchable cats", level: 1 }).waitFor();
    });
    const exact = [
        ["the address of a wallet", () => alice.toLowerCase(), /User\s*searched-alice/],
        ["the address of a collection", () => cats, /Collection\s*Searchable cats/],
        ["a token", () => `${cats} #1`, /Token\s*Tom/],
        ["a request", () => mint, /Request\s*mint, completed/],
        ["a reference", () => REFERENCE, /Request\s*mint, completed/],
        ["a transaction", () => transaction, /Request\s*mint, completed/],
    ];
    for (const [what, text, result] of exact) {
        it(`finds ${what}`, async () => {
            const page = await web.open();
            await (await openSearch(page)).fill(text());
            await options(page).filter({ hasText: result }).first().click();
            await page.getByRole("dialog").waitFor({ state: "detached" });
            expect(await page.evaluate("location.hash")).not.to.equal("#/");
        });
    }
    it("says that it found nothing, on a narrow and dark page", async () => {
        const page = await web.open({ browser: { viewport: NARROW, colorScheme: "dark" } });
        await page.getByRole("button", { name: /^Search/ }).click();
        await page.getByRole("combobox").fill("<img src=x onerror=\"document.title='ran'\">");
        await page.getByText("Nothing found.").waitFor();
        expect(await page.title()).not.to.equal("ran");
        await expectNoSidewaysScrolling(page);
        await expectNoAxeViolations(page);
    });
    it("makes at most three calls for a text, and none for letters that follow at once", async () => {
        const page = await web.open();
        const calls = [];
        page.on("request", (request) => {
            if (/\/v1\/(accounts|collections|requests)\?/.test(request.url()) && /search=|reference=/.test(request.url()))
                calls.push(request.url());
        });
        // The page's clock stands still while the letters come: on a busy machine they take longer than the page waits for the next.
        await page.clock.install();
        const box = await openSearch(page);
        await box.waitFor();
        await page.clock.pauseAt(Date.now() + 60_000);
        await box.pressSequentially("searchable", { delay: 0 });
        expect(calls).to.deep.equal([]);
        await page.clock.resume();
        await options(page).filter({ hasText: "Searchable cats" }).waitFor();
        expect(calls.length).to.be.within(1, 3);
        expect(calls.at(-1)).to.match(/=searchable(&|$)/);
    });
    it("shows a session without the scope read only its screens", async () => {
        web.allowProblems(/403/);
        const page = await web.open({ scopes: ["webhooks"] });
        await (await openSearch(page)).fill("w");
        await page.getByText("1 result", { exact: true }).waitFor();
        expect(await options(page).allInnerTexts()).to.have.length(1);
    });
});
