import { expect } from "chai";

import { RejectingReceiver__factory } from "../../types/ethers-contracts/factories/mocks/RejectingReceiver__factory.ts";
import { randomAddress } from "../api/support/rows.ts";
import { expectNoAxeViolations, expectNoSidewaysScrolling, goTo, NARROW, useConsole } from "./support/browser.ts";

const DONE = "Done. It is on the chain.";

describe("receivers in the forms of the console", () => {
  const console = useConsole();
  let [alice, collection, refusing, delegated] = ["", "", "", ""];

  before(async () => {
    const { api, provider } = console.moneta;
    alice = await api.wallet("alice");
    collection = await api.collection({ type: "ERC721", name: "Cats" });
    refusing = await (await new RejectingReceiver__factory(await provider.getSigner(3)).deploy()).getAddress();
    delegated = randomAddress();
    await provider.send("hardhat_setCode", [delegated, `0xef0100${refusing.slice(2).toLowerCase()}`]);
  });

  it("are named while somebody types them", async () => {
    const page = await console.open({ screen: `/collections/${collection}/mint` });
    const to = page.getByRole("combobox", { name: /^To/ });
    const cases: [typed: string, words: string][] = [
      [alice, "The wallet of the user alice."],
      ["alice", "The wallet of the user alice."],
      ["nobody", "The app has no user of this name yet."],
      [randomAddress(), "An account that is not a wallet of the app."],
      [delegated, `which does not accept ERC721 tokens.`],
      [refusing, "The contract does not accept ERC721 tokens."],
      ["0x12", ""],
    ];
    for (const [typed, words] of cases) {
      await to.fill(typed);
      if (words !== "") await page.getByText(words).waitFor();
      await expectNoAxeViolations(page);
    }
    // What is said of an earlier text goes.
    await page.getByText("The contract does not accept").waitFor({ state: "detached" });
  });

  it("that would not accept the token are a warning before a mint is sent, which a second click overrides", async () => {
    const page = await console.open({ screen: `/collections/${collection}/mint` });
    let sent = 0;
    await page.route("**/v1/nfts", async (route) => {
      sent += 1;
      await route.continue();
    });
    const mint = page.getByRole("button", { name: "Mint", exact: true });
    await page.getByRole("combobox", { name: /^To/ }).fill(delegated);
    await page.getByText("which does not accept ERC721 tokens").waitFor();
    await mint.click();
    await page.getByText("To try it nevertheless, press the button again.").waitFor();
    expect(sent).to.equal(0);
    await expectNoAxeViolations(page);
    await mint.click();
    await page.getByRole("heading", { name: "Your new token" }).waitFor();
    expect(sent).to.equal(1);
  });

  it("that would not accept the token are a warning in the form of a transfer, also on a phone", async () => {
    const { api } = console.moneta;
    const { nft_token_id: id } = await api.completed("/v1/nfts", { collection_address: collection, to_address: alice });
    const page = await console.open({ browser: { viewport: NARROW } });
    await goTo(page, `/transfer/${alice}/${collection}/${String(id)}`);
    await page.getByRole("combobox", { name: /^To/ }).fill(refusing);
    await page.getByRole("button", { name: "Transfer", exact: true }).click();
    await page.getByText("To try it nevertheless, press the button again.").waitFor();
    await expectNoSidewaysScrolling(page);
    await expectNoAxeViolations(page);
    await page.getByRole("combobox", { name: /^To/ }).fill(randomAddress());
    await page.getByText("An account that is not a wallet of the app.").waitFor();
    await page.getByRole("button", { name: "Transfer", exact: true }).click();
    await page.getByText(DONE).waitFor();
  });
});
