import { createConsoleLink } from "../../api/commands/console-session.ts";
import { createApp, rotateToken } from "../../api/operate/apps.ts";
import { issueToken } from "../../api/commands/api-tokens.ts";
import { revokeApiToken } from "../../api/store/apps/api-tokens.ts";
import { setQuotas } from "../../api/store/apps/quotas.ts";
import { PlainERC721__factory } from "../../contracts/generated/factories/mocks/PlainERC721__factory.ts";
import { HostileERC721__factory } from "../../types/ethers-contracts/factories/mocks/HostileERC721__factory.ts";
import { ProgrammableReceiver__factory } from "../../types/ethers-contracts/factories/mocks/ProgrammableReceiver__factory.ts";
/** Modes of `ProgrammableReceiver` and `HostileERC721`. */
const [REVERT_WITH_REASON, ACCEPT_SIMULATED, BURN_ALL_GAS] = [2, 8, 2];
/** Transfers of which the service asks the hostile contract for the owner. */
const CLAIMED = 300;
/** Of the ERC721 collection. The first is transferred, the last is burnt; each of the others is in one request under way. */
const TOKENS = 12;
/** Makes apps, and completes and fails requests of every type. */
export async function finishRequests(world) {
    const apps = await makeApps(world);
    const { shop, press, closing } = apps;
    const wallet = async (app, body = {}) => String((await world.call(app, "POST", "/v1/accounts", body))["address"]);
    const wallets = [
        await wallet(shop, { user_identifier: "ann" }),
        await wallet(shop, { user_identifier: "bob" }),
        await wallet(shop),
    ];
    await wallet(press);
    const collection = async (app, body) => String((await world.completed(app, "/v1/collections", { name: "Stones", symbol: "STN", ...body }))["nft_collection"]);
    const royalties = {
        seller_fee_basis_points: 250,
        fee_recipient: wallets[2],
        image: `${world.outside.origin}/media/cover.svg`,
    };
    const made = {
        wallets,
        erc721: await collection(shop, { type: "ERC721", mint_supply_count: 1000, ...royalties }),
        selfHosted: await collection(shop, { type: "ERC1155", base_uri: `${world.outside.origin}/meta/{id}` }),
        erc1155: await collection(shop, { type: "ERC1155" }),
        ofPress: await collection(press, { type: "ERC721" }),
        ofClosing: await collection(closing, { type: "ERC721", soulbound: true }),
    };
    await mintAndTransfer(world, { ...apps, ...made });
    await freeze(world, shop, wallets[0]);
    await failRequests(world, { ...apps, ...made });
    return { ...apps, ...made, foreign: await followContracts(world, shop, wallets) };
}
async function makeApps({ database, ...world }) {
    const make = async (name) => {
        const { appId: id, token } = await createApp({ database }, name);
        return { id, name, token };
    };
    const [shop, press, closing] = [await make("shop"), await make("press"), await make("closing")];
    const order = { appId: shop.id, scopes: ["read"], expiresAt: null };
    const revoked = await issueToken({ database }, { ...order, name: "revoked" });
    await database.write((trx) => revokeApiToken(trx, revoked.id, Date.now()));
    await createConsoleLink({ database, publicUrl: "http://localhost:3000" }, { appId: press.id, scopes: null });
    const replaced = await issueToken({ database }, { ...order, name: "replaced" });
    await rotateToken({ database }, replaced.id, 3_600_000);
    await database.write((trx) => setQuotas(trx, press.id, { media_bytes: 1_000_000, media_requests: 50, wallets: 10 }));
    for (const { name } of [press, closing])
        world.outside.broken.add(`/hook/${name}`);
    return { shop, press, closing };
}
/** Mints of every kind, with media and unlockable content, transfers and changes of metadata. */
async function mintAndTransfer(world, made) {
    const { shop, wallets, erc721, erc1155, selfHosted } = made;
    for (const app of [shop, made.press, made.closing]) {
        await world.call(app, "PUT", "/v1/webhook", { url: `${world.outside.origin}/hook/${app.name}` });
    }
    await world.call(shop, "POST", "/v1/webhook/secret");
    const mint = (body) => world.accept(shop, "/v1/nfts", { ...body });
    const image = (name) => `${world.outside.origin}/media/${name}.svg`;
    const first = [
        await mint({
            collection_address: erc721,
            to_address: wallets[0],
            name: "One",
            attributes: [{ trait_type: "Kind", value: "first" }],
            reference: "order 1",
            unlockable_content: "the first secret",
        }),
        await mint({
            collection_address: erc721,
            to_address: wallets[0],
            name: "Two",
            image: image("two"),
            copy_media: true,
        }),
        ...(await Promise.all(Array.from({ length: TOKENS - 2 }, () => mint({ collection_address: erc721, to_address: wallets[0] })))),
        await mint({ collection_address: erc1155, initial_owner: wallets[0], token_id: 7, initial_supply: 100 }),
        await mint({
            collection_address: selfHosted,
            initial_owner: wallets[1],
            token_id: 1,
            initial_supply: 5,
            uri: "ipfs://own",
        }),
        await world.accept(made.press, "/v1/nfts", { collection_address: made.ofPress, to_address: wallets[1] }),
        await world.accept(made.closing, "/v1/nfts", { collection_address: made.ofClosing, to_address: wallets[1] }),
    ];
    for (const [index, id] of first.entries()) {
        const app = [made.press, made.closing][index - (first.length - 2)] ?? shop;
        await world.final(app, id);
    }
    await world.completed(shop, "/v1/nfts", {
        collection_address: erc1155,
        to_address: wallets[1],
        token_id: 7,
        quantity: 9,
    });
    const transfer = { from_address: wallets[0], to_address: wallets[1] };
    await world.completed(shop, "/v1/transfers", { ...transfer, contract_address: erc721, token_id: 1 });
    await world.completed(shop, "/v1/transfers", { ...transfer, contract_address: erc1155, token_id: 7, amount: 3 });
    await world.completed(shop, `/v1/collections/${erc721}/2`, { name: "Two, changed" }, "PATCH");
    const burnt = { contract_address: erc721, from_address: wallets[0], token_id: TOKENS };
    await world.completed(shop, "/v1/burns", burnt);
}
async function freeze(world, shop, to) {
    const body = { type: "ERC721", name: "Frozen", symbol: "ICE" };
    const frozen = String((await world.completed(shop, "/v1/collections", body))["nft_collection"]);
    await world.completed(shop, "/v1/nfts", { collection_address: frozen, to_address: to, name: "Ice" });
    await world.completed(shop, `/v1/collections/${frozen}/freeze`);
}
/** One failure before sending and one on the chain. */
async function failRequests(world, { shop, erc721 }) {
    const outsider = await world.node.provider.getSigner(5);
    for (const mode of [REVERT_WITH_REASON, ACCEPT_SIMULATED]) {
        const receiver = await (await new ProgrammableReceiver__factory(outsider).deploy()).waitForDeployment();
        await (await receiver.program(mode)).wait();
        const to = await receiver.getAddress();
        const request = await world.final(shop, await world.accept(shop, "/v1/nfts", { collection_address: erc721, to_address: to }));
        if (request["status"] !== "failed")
            throw new Error(`a mint to ${to} must fail: ${JSON.stringify(request)}`);
    }
}
/** Follows three contracts of others: one honest, one that is quarantined, one that is followed no more. @returns the first. */
async function followContracts(world, shop, wallets) {
    const outsider = await world.node.provider.getSigner(5);
    const plain = async () => (await new PlainERC721__factory(outsider).deploy()).waitForDeployment();
    const [honest, left] = [await plain(), await plain()];
    for (let id = 1; id <= 6; id++)
        await (await honest.mint(wallets[0], id)).wait();
    const hostile = await (await new HostileERC721__factory(outsider).deploy()).waitForDeployment();
    const addresses = await Promise.all([honest, left, hostile].map((contract) => contract.getAddress()));
    const [foreign = "", unfollowed = "", attacker = ""] = addresses;
    for (const address of addresses)
        await becomes(world, shop, wallets[0], address, "followed");
    await world.until("the wallet was read", async () => {
        await world.mine(1);
        return (await world.call(shop, "GET", `/v1/accounts/${wallets[0]}/${foreign}`))["as_of_block"] !== null;
    });
    const move = { from_address: wallets[0], to_address: wallets[1], contract_address: foreign, token_id: 1 };
    await world.completed(shop, "/v1/transfers", move);
    await world.call(shop, "DELETE", `/v1/contracts/${unfollowed}`);
    await (await hostile.program(BURN_ALL_GAS)).wait();
    await (await hostile.spam(outsider.address, wallets[0], 1, CLAIMED)).wait();
    await becomes(world, shop, wallets[0], attacker, "quarantined");
    return foreign;
}
async function becomes(world, app, wallet, address, state) {
    await world.until(`${address} is ${state}`, async () => {
        await world.call(app, "GET", `/v1/accounts/${wallet}/${address}`);
        await world.mine(1);
        const { contracts } = await world.call(app, "GET", "/v1/contracts");
        return contracts.some((one) => one.address === address && one.state === state);
    });
}
