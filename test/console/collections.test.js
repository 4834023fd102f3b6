import { expect } from "chai";
import { waitUntil } from "../../scripts/console/wait-until.ts";
import { expectNoAxeViolations, expectNoSidewaysScrolling, goTo, NARROW, useConsole } from "./support/browser.ts";
const CAT = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"><rect width="8" height="8" fill="#e66"/><circle cx="4" cy="4" r="2" fill="#fff"/></svg>';
const PICTURE = `data:image/svg+xml;base64,${Buffer.from(CAT).toString("base64")}`;
describe("console: collections and tokens", () => {
    const pages = useConsole();
    let cats;
    let cups;
    let holder;
    before("mint", async () => {
        const { api } = pages.moneta;
        holder = await api.wallet();
        cats = await api.collection({ type: "ERC721", name: "Cats", description: "Twelve cats", image: PICTURE });
        cups = await api.collection({ type: "ERC1155", name: "Cups" });
        await Promise.all([
            api.completed("/v1/nfts", {
                collection_address: cats,
                to_address: holder,
                name: "Tom",
                description: "A red cat.",
                image: PICTURE,
                copy_media: true,
                external_url: "https://cats.example/tom",
                attributes: [{ trait_type: "fur", value: "red" }, "loud"],
            }),
            api.completed("/v1/nfts", { collection_address: cups, initial_owner: holder, initial_supply: 5, token_id: 7 }),
        ]);
    });
    const naturalWidth = (page, selector) => waitUntil(page, `document.querySelector(${JSON.stringify(selector)})?.naturalWidth > 0`);
    it("shows the collections as pictures, and a drawn one where there is none", async () => {
        const page = await pages.open({ screen: "/collections" });
        await page.getByRole("link", { name: /Cats/ }).waitFor();
        await naturalWidth(page, ".tile img");
        expect(await page.locator(".tile").count()).to.equal(2);
        expect(await page.locator(".tile .placeholder").count()).to.equal(1);
        await expectNoAxeViolations(page);
    });
    it("opens a collection and a token by their links", async () => {
        const page = await pages.open({ screen: "/collections" });
        await page.getByRole("link", { name: /Cats/ }).click();
        await page.getByRole("heading", { name: "Cats", level: 1 }).waitFor();
        await page.getByText("Twelve cats").waitFor();
        await naturalWidth(page, ".tile img");
        expect(await page.locator(".tile img").getAttribute("src")).to.contain("/ipfs/");
        await expectNoAxeViolations(page);
        await page.getByRole("link", { name: /Tom/ }).click();
        await page.getByRole("heading", { name: "Tom", level: 1 }).waitFor();
        await page.getByRole("cell", { name: "Minted" }).waitFor();
        expect(await page.locator(".attributes").innerText()).to.match(/fur\s+red\s+Value\s+loud/);
        expect(await page.locator("pre").innerText()).to.contain('"trait_type": "fur"');
        expect(await page.getByRole("link", { name: "https://cats.example/tom" }).getAttribute("rel")).to.contain("noopener");
        expect(await page.title()).to.equal("Tom · Moneta");
        await expectNoAxeViolations(page);
    });
    it("shows the owners and the copies of an ERC1155 id", async () => {
        const page = await pages.open({ screen: `/collections/${cups}/7` });
        await page.getByText("5 copies, 1 owner").waitFor();
        await page.getByText("× 5").waitFor();
        await page.locator(`code[title="${holder}"]`).first().waitFor();
        await expectNoAxeViolations(page);
    });
    it("disables what a frozen collection refuses, and says why", async () => {
        const { api } = pages.moneta;
        const [frozen, editions] = await Promise.all([
            api.collection({ type: "ERC721", name: "Frozen" }),
            api.collection({ type: "ERC1155", name: "Frozen editions" }),
        ]);
        for (const address of [frozen, editions]) {
            await api.settled(await api.accept(`/v1/collections/${address}/freeze`, {}));
        }
        const page = await pages.open({ screen: `/collections/${frozen}` });
        await page.getByText("Metadata frozen", { exact: true }).waitFor();
        for (const name of ["Mint", "Mint many", "Change", "Freeze"]) {
            const button = page.getByRole("button", { name, exact: true });
            expect(await button.isDisabled(), name).to.equal(true);
            const reason = await button.getAttribute("aria-describedby");
            expect(await page.locator(`[id="${reason ?? ""}"]`).innerText()).to.equal("The metadata of this collection is frozen.");
        }
        await expectNoAxeViolations(page);
        for (const screen of ["mint", "import"]) {
            await goTo(page, `/collections/${frozen}/${screen}`);
            await page.getByText("The metadata of this collection is frozen. No new token can be minted.").waitFor();
        }
        // Copies of ids that exist can still be minted.
        await goTo(page, `/collections/${editions}`);
        await page.getByRole("link", { name: "Mint", exact: true }).click();
        expect(await page.getByLabel("A new token id").isDisabled()).to.equal(true);
        expect(await page.getByLabel("More copies of an existing id").isChecked()).to.equal(true);
        await expectNoAxeViolations(page);
    });
    it("finds tokens by their owner and by a trait, also by the link of an attribute", async () => {
        const value = "a/b 50% <i>%2F</i>?#é";
        const { api } = pages.moneta;
        const made = { collection_address: cats, to_address: "0x00000000000000000000000000000000000000b2" };
        await api.completed("/v1/nfts", { ...made, name: "Odd", attributes: [{ trait_type: "odd / %", value }] });
        const page = await pages.open({ screen: `/collections/${cats}` });
        const tiles = page.locator(".tile");
        await tiles.nth(1).waitFor();
        await page.getByText("Find tokens").click();
        await page.getByLabel("Trait").fill("fur");
        await page.getByLabel("Value").fill("red");
        await page.getByLabel("Value").press("Enter");
        await page.getByText("Only tokens with fur: red.").waitFor();
        await tiles.filter({ hasText: "Tom" }).waitFor();
        expect(await tiles.count()).to.equal(1);
        await expectNoAxeViolations(page);
        await page.getByRole("link", { name: "Show all" }).click();
        await tiles.nth(1).waitFor();
        await page.getByText("Find tokens").click();
        await page.getByLabel("Owner", { exact: true }).fill(made.to_address);
        await page.getByLabel("Owner", { exact: true }).press("Enter");
        await page.getByText(`Only tokens of ${made.to_address}.`).waitFor();
        await tiles.filter({ hasText: "Odd" }).click();
        await page.getByRole("link", { name: value }).click();
        await page.getByText(`Only tokens with odd / %: ${value}.`).waitFor();
        await tiles.filter({ hasText: "Odd" }).waitFor();
        await goTo(page, `/collections/${cats}`);
        await page.getByText("Find tokens").click();
        await page.getByLabel("Name", { exact: true }).fill("tO");
        await page.getByLabel("Name", { exact: true }).press("Enter");
        await page.getByText("Only tokens with a name that begins with tO.").waitFor();
        await tiles.filter({ hasText: "Tom" }).waitFor();
        expect(await tiles.count()).to.equal(1);
        await goTo(page, `/collections/${cats}`);
        await page.getByLabel("Order").selectOption("newest");
        await tiles.first().filter({ hasText: "Odd" }).waitFor();
        await page.getByLabel("Order").selectOption("oldest");
        await tiles.first().filter({ hasText: "Tom" }).waitFor();
        await goTo(page, `/collections/${cats}/of/nobody`);
        await page.getByText("No such tokens").waitFor();
        await page.setViewportSize(NARROW);
        await page.getByText("Find tokens").click();
        await expectNoSidewaysScrolling(page);
        await expectNoAxeViolations(page);
    });
    it("names the app's users and collections in place of their addresses", async () => {
        const { api } = pages.moneta;
        const address = await api.wallet("ann");
        const mint = { collection_address: cats, to_address: address, name: "Hers" };
        const { nft_token_id: id } = await api.completed("/v1/nfts", mint);
        const page = await pages.open({ screen: `/collections/${cats}/${String(id)}` });
        await page.getByRole("table").getByRole("link", { name: "ann", exact: true }).waitFor();
        await page.getByRole("region", { name: "Owners" }).getByRole("link", { name: "ann", exact: true }).click();
        await page.getByRole("heading", { name: "Wallet of ann", level: 1 }).waitFor();
        await page.getByRole("table").getByRole("link", { name: "ann", exact: true }).waitFor();
        await expectNoAxeViolations(page);
        await goTo(page, "/requests");
        await page.getByRole("row", { name: new RegExp(`Cats #${String(id)}`) }).waitFor();
        await expectNoAxeViolations(page);
    });
    it("shows a token that is minted while the page is open", async () => {
        const page = await pages.open({ screen: `/collections/${cats}` });
        await page.getByText("Live", { exact: true }).waitFor();
        await page.getByRole("link", { name: /Tom/ }).waitFor();
        await pages.moneta.api.completed("/v1/nfts", { collection_address: cats, to_address: holder, name: "Newborn" });
        await page.getByRole("link", { name: /Newborn/ }).waitFor();
    });
    it("says what to do when an address is wrong", async () => {
        const page = await pages.open({ screen: `/collections/${holder}` });
        await page.getByRole("alert").getByText("has no collection at this address").waitFor();
        await expectNoAxeViolations(page);
        await goTo(page, "/nothing/here");
        await page.getByRole("link", { name: "Go to the collections" }).click();
        await page.getByRole("heading", { name: "Collections", level: 1 }).waitFor();
    });
});
