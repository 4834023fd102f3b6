import { expect } from "chai";

import type { Shape } from "../../client/client.ts";
import { WizardERC721__factory } from "../../types/ethers-contracts/factories/mocks/WizardERC721__factory.ts";
import { expectNoAxeViolations, expectNoSidewaysScrolling, NARROW, useConsole } from "./support/browser.ts";

describe("console: adoption of a contract", () => {
  const pages = useConsole();

  it("shows the text to sign, takes the signature, and shows how far the contract is read", async () => {
    const owner = await pages.moneta.provider.getSigner(3);
    const contract = await new WizardERC721__factory(owner).deploy(owner.address, 3);
    const page = await pages.open({ screen: "/collections", ...NARROW });
    await page.getByRole("link", { name: "Adopt a contract" }).click();
    await page.getByLabel("Address").fill(await contract.getAddress());
    await page.getByRole("button", { name: "Show the text to sign" }).click();
    const shown = page.getByLabel("The text to sign", { exact: true });
    await shown.waitFor();
    await expectNoAxeViolations(page);
    await expectNoSidewaysScrolling(page);

    const { domain, types, message } = JSON.parse(await shown.innerText()) as Shape<"TypedText">;
    const { EIP712Domain: _domain, ...own } = types as Record<string, { name: string; type: string }[]>;
    pages.allowProblems(/status of 422/);
    const signature = page.getByLabel("Signature");
    await signature.fill("0x1234");
    await page.getByRole("button", { name: "Adopt the contract" }).click();
    await page.getByText(/Must be the signature of the text/).waitFor();
    await signature.fill(await owner.signTypedData(domain, own, message));
    await page.getByRole("button", { name: "Adopt the contract" }).click();
    await page.getByRole("link", { name: "Open the collection" }).click();
    await page.getByRole("heading", { name: "Wizard 721", level: 1 }).waitFor();
    await page.getByText("Adopted", { exact: true }).waitFor();
    await page.getByText("3, no limit").waitFor();
    expect(await page.getByText(/being read/).count()).to.equal(0);
    await expectNoAxeViolations(page);
  });
});
