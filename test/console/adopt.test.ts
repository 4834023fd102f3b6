import { join } from "node:path";

import { expect } from "chai";

import type { Shape } from "../../client/client.ts";
import { WizardERC721__factory } from "../../types/ethers-contracts/factories/mocks/WizardERC721__factory.ts";
import { runCli } from "../api/cli/support/run.ts";
import { useFolder } from "../support/use-folder.ts";
import { copied, expectNoAxeViolations, expectNoSidewaysScrolling, NARROW, useConsole } from "./support/browser.ts";

describe("console: adoption of a contract", () => {
  const pages = useConsole();
  const folder = useFolder();

  it("shows the text to sign, takes the signature, and shows how far the contract is read", async () => {
    const owner = await pages.moneta.provider.getSigner(3);
    const contract = await new WizardERC721__factory(owner).deploy(owner.address, 3);
    const page = await pages.open({ screen: "/collections", browser: { viewport: NARROW } });
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
    await page.getByText(/still where the contract says/).waitFor();
    await expectNoAxeViolations(page);
  });

  it("shows what the last copy of the metadata has found, and the call of the owner", async () => {
    const { env, app, provider } = pages.moneta;
    const owner = await provider.getSigner(3);
    const contract = await new WizardERC721__factory(owner).deploy(owner.address, 3);
    await (await contract.setBaseURI('data:,{"image":"data:,none"}#')).wait();
    const address = await contract.getAddress();
    await runCli(env, "collection", "adopt", address, "--app", app.appId, "--allow");
    await runCli(env, "collection", "rescue", address, "--folder", join(folder.path, "rescued"));
    const page = await pages.open({ screen: `/collections/${address}`, browser: { viewport: NARROW } });
    const report = page.getByRole("region", { name: "Copy of the metadata" });
    await report.getByText("0 of 3 tokens").waitFor();
    expect(await report.innerText()).to.match(/Not metadata\s+3, of token 0, token 1, token 2/);
    await expectNoAxeViolations(page);
    await expectNoSidewaysScrolling(page);
    const base = `http://localhost:0/metadata/31337/${address}/`;
    expect(await copied(page, "Copy the data of the call", report)).to.equal(
      contract.interface.encodeFunctionData("setBaseURI", [base]),
    );
    await report.getByRole("link", { name: "token 1" }).click();
    await page.getByRole("heading", { name: "Token 1", level: 1 }).waitFor();
  });
});
