import { check } from "../check.ts";
import { withOutsideAccount } from "../outside-account.ts";
import { complete, held } from "../tour.ts";
const TOKEN = 42;
/** Wallets can hold and transfer any standard token, including tokens of contracts that somebody else deployed. */
export async function transferForeignTokens(tour, { alice, bob }) {
    const { api, report, rpcUrl } = tour;
    await withOutsideAccount(rpcUrl, async ({ wallet, erc721, erc1155 }) => {
        report.step("Transfer an ERC721 token of a contract that the service did not deploy");
        const contract721 = await erc721.getAddress();
        await (await erc721.mint(alice, TOKEN)).wait();
        report.line(`${wallet.address} deployed ${contract721}`);
        report.line(`and minted token ${TOKEN} to tour-alice`);
        const transfer = { from_address: alice, to_address: bob, token_id: TOKEN };
        await complete(tour, api.POST("/v1/transfers", { body: { ...transfer, contract_address: contract721 } }));
        check((await erc721.ownerOf(TOKEN)) === bob, "tour-bob does not own the ERC721 token on chain");
        check((await held(tour, bob, contract721, TOKEN)) !== undefined, "the API does not list the ERC721 token for tour-bob");
        report.step("Transfer 3 of 8 copies of an ERC1155 token of another such contract");
        const contract1155 = await erc1155.getAddress();
        await (await erc1155.mint(alice, TOKEN, 8)).wait();
        report.line(`${wallet.address} deployed ${contract1155}`);
        report.line(`and minted 8 copies of token ${TOKEN} to tour-alice`);
        const body = { ...transfer, contract_address: contract1155, amount: 3 };
        await complete(tour, api.POST("/v1/transfers", { body }));
        check((await erc1155.balanceOf(bob, TOKEN)) === 3n, "tour-bob does not have the 3 copies on chain");
        const listed = [await held(tour, alice, contract1155, TOKEN), await held(tour, bob, contract1155, TOKEN)];
        check(listed[0]?.quantity === 5 && listed[1]?.quantity === 3, "the API lists the wrong number of copies");
    });
}
