import { expect } from "chai";
import { expectNoAxeViolations, goTo, useConsole } from "./support/browser.ts";
const DONE = "Done. It is on the chain.";
describe("forms of the console that write", () => {
    const console = useConsole();
    let [alice, bob, collection] = ["", "", ""];
    before(async () => {
        const { api } = console.moneta;
        alice = await api.wallet("alice");
        bob = await api.wallet("bob");
        collection = await api.collection({ type: "ERC721", name: "Cats" });
        await api.completed("/v1/nfts", { collection_address: collection, to_address: alice, name: "Tom" });
    });
    it("create a self-hosted ERC1155 collection, from the list of collections", async () => {
        const page = await console.open({ screen: "/collections" });
        await page.getByRole("link", { name: "Create a collection" }).click();
        await page.getByLabel("ERC1155").check();
        await page.getByLabel("Self-hosted").check();
        await page.getByLabel(/^Name/).fill("Gems");
        await page.getByLabel(/^Symbol/).fill("GEM");
        await page.getByLabel(/^Base URI/).fill("https://gems.example/all.json");
        await expectNoAxeViolations(page);
        console.allowProblems(/422/);
        await page.getByRole("button", { name: "Create the collection" }).click();
        await page.getByText("Must contain {id} for an ERC1155 collection").waitFor();
        await page.getByLabel(/^Base URI/).fill("https://gems.example/{id}.json");
        await page.getByRole("button", { name: "Create the collection" }).click();
        await page.getByText(DONE).waitFor();
        await page.getByRole("link", { name: "Open the collection" }).click();
        await page.getByRole("heading", { name: "Gems" }).waitFor();
        await page.getByRole("link", { name: "Mint the first token" }).waitFor();
    });
    it("show what an accepted call probably does not do as it was meant", async () => {
        const page = await console.open({ screen: "/collections/new" });
        await page.getByLabel("Self-hosted").check();
        await page.getByLabel(/^Name/).fill("Flat");
        await page.getByLabel(/^Symbol/).fill("FLAT");
        await page.getByLabel(/^Base URI/).fill("https://cats.example/cats");
        await page.getByRole("button", { name: "Create the collection" }).click();
        await page.getByText("The URI of token 1 will be https://cats.example/cats1").waitFor();
        await expectNoAxeViolations(page);
        await goTo(page, `/collections/${collection}/import`);
        const buffer = Buffer.from("name,user_identifier,external_url\nA {id},alice,\nB,bob,ipfs://b/{id}\nC {id},bob,");
        await page.getByLabel("Files").setInputFiles({ name: "flat.csv", mimeType: "text/csv", buffer });
        await page.getByRole("button", { name: "Mint 3 tokens" }).click();
        await page.getByText("Nobody replaces {id} here. Write {token_id}. flat.csv, line 2; flat.csv, line 4.").waitFor();
        await page.getByText("Nobody replaces {id} here. Write {token_id}. flat.csv, line 3.").waitFor();
        await expectNoAxeViolations(page);
    });
    it("create a collection with a royalty in percent, and show it afterwards", async () => {
        const page = await console.open({ screen: "/collections/new" });
        await page.getByLabel(/^Name/).fill("Paid");
        await page.getByLabel(/^Symbol/).fill("PAID");
        await page.getByText("More fields").click();
        await page
            .getByLabel(/^Royalty/)
            .first()
            .fill("2.5");
        await page
            .getByLabel(/recipient|gets the royalty/i)
            .first()
            .fill(alice);
        await page.getByRole("button", { name: "Create the collection" }).click();
        await page.getByText(DONE).waitFor();
        await page.getByRole("link", { name: "Open the collection" }).click();
        await page.getByText("2.5 % to alice").waitFor();
        await expectNoAxeViolations(page);
    });
    it("change the metadata of a token, and transfer it", async () => {
        const page = await console.open({ screen: `/collections/${collection}/1` });
        await page.getByRole("link", { name: "Change" }).click();
        await page.getByRole("button", { name: "Save" }).click();
        await page.getByText("Nothing is different from before.").waitFor();
        await page.getByLabel(/^Name/).fill("Tom the second");
        await expectNoAxeViolations(page);
        await page.getByRole("button", { name: "Save" }).click();
        await page.getByText(DONE).waitFor();
        await page.getByRole("link", { name: "Open the token" }).click();
        await page.getByRole("heading", { name: "Tom the second" }).waitFor();
        await page.getByRole("link", { name: "Transfer" }).click();
        await page.getByRole("combobox", { name: /^To/ }).fill("bob");
        await expectNoAxeViolations(page);
        await page.getByRole("button", { name: "Transfer" }).click();
        await page.getByText(DONE).waitFor();
        const token = await console.moneta.api.ok("GET", `/v1/collections/${collection}/1`);
        expect(token.owner).to.equal(bob);
    });
    it("burn a token only after a dialog that says what it means, and list the request by its type", async () => {
        const { api } = console.moneta;
        const minted = await api.completed("/v1/nfts", { collection_address: collection, to_address: bob, name: "Ash" });
        const id = String(minted.nft_token_id);
        const page = await console.open({ screen: `/collections/${collection}/${id}` });
        await page.getByRole("link", { name: "Burn" }).click();
        await page.getByText("This can never be undone.").waitFor();
        await expectNoAxeViolations(page);
        const ask = page.getByRole("button", { name: "Burn for ever" });
        const dialog = page.getByRole("dialog", { name: "This cannot be undone" });
        await ask.click();
        await dialog.waitFor();
        await expectNoAxeViolations(page);
        await dialog.getByRole("button", { name: "Cancel" }).click();
        await dialog.waitFor({ state: "hidden" });
        expect((await api.ok("GET", "/v1/requests?type=burn")).requests).to.deep.equal([]);
        await ask.click();
        await dialog.getByRole("button", { name: "Burn for ever" }).click();
        await page.getByText(DONE).waitFor();
        await page.getByRole("link", { name: "Open the token" }).click();
        await page.getByText("Nobody: the token was burnt.").waitFor();
        expect(await page.getByRole("link", { name: "Burn" }).count()).to.equal(0);
        const { requests } = await api.ok("GET", "/v1/requests?type=burn");
        expect(requests.map((request) => String(request.nft_token_id))).to.deep.equal([id]);
        await goTo(page, "/requests");
        await page.getByLabel(/^Type/).selectOption({ label: "Burn" });
        await page.getByRole("button", { name: "Find" }).click();
        await page.getByRole("row").filter({ hasText: "Burn" }).first().waitFor();
    });
    it("burn copies: ask only for a number that can be burnt, and show what is wrong at the amount", async () => {
        const { api } = console.moneta;
        const wallet = await api.wallet();
        const editions = await api.collection({ type: "ERC1155", name: "Editions" });
        const copies = { collection_address: editions, token_id: 7, initial_supply: 2, initial_owner: wallet };
        await api.completed("/v1/nfts", copies);
        const page = await console.open({ screen: `/burn/${wallet}/${editions}/7` });
        console.allowProblems(/422/);
        const dialog = page.getByRole("dialog", { name: "This cannot be undone" });
        const amount = page.getByLabel(/^Amount/);
        const said = async () => page.locator(`#${(await amount.getAttribute("aria-describedby"))?.split(" ").join(", #") ?? ""}`).allInnerTexts();
        await page.getByRole("button", { name: "Burn for ever" }).click();
        await page.getByText("This field is required.").waitFor();
        expect(await dialog.count()).to.equal(0);
        await amount.fill("3");
        await page.getByRole("button", { name: "Burn for ever" }).click();
        await dialog.getByRole("button", { name: "Burn for ever" }).click();
        await dialog.waitFor({ state: "hidden" });
        await page.locator('[aria-invalid="true"]').waitFor();
        expect((await said()).join(" ")).to.match(/fewer|enough|holds/i);
        expect(await page.getByText("token_id").count()).to.equal(0);
    });
    it("change a collection, and freeze it only after its name is typed", async () => {
        const page = await console.open({ screen: `/collections/${collection}` });
        await page.getByRole("link", { name: "Change" }).click();
        await page.getByLabel(/^Description/).fill("All of them");
        await page.getByRole("button", { name: "Save" }).click();
        await page.getByText(DONE).waitFor();
        await page.getByRole("link", { name: "Open the collection" }).click();
        await page.getByRole("link", { name: "Freeze" }).click();
        await page.getByRole("button", { name: "Freeze for ever" }).click();
        await page.getByText("This is not the name.").waitFor();
        await expectNoAxeViolations(page);
        await page.getByLabel(/^Type the name/).fill("Cats");
        await page.getByRole("button", { name: "Freeze for ever" }).click();
        await page.getByText(DONE).waitFor();
    });
});
