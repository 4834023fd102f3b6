import { answerOf } from "../../../../client/client.ts";
import { check } from "../check.ts";
import { gem, paw } from "../pictures/emblems.ts";
import { dataUri, fileOf } from "../pictures/picture.ts";
import { complete, held } from "../tour.ts";
const CAP = 150;
const ROYALTY_BASIS_POINTS = 500;
const GEM = 7;
/** @returns the address of the collection. */
export async function createErc721(tour, { alice }) {
    const { api, report } = tour;
    report.step(`Create a hosted ERC721 collection: at most ${CAP} tokens, ${ROYALTY_BASIS_POINTS / 100} % royalties`);
    const { uri: image } = await api.uploadMedia(fileOf(paw()));
    const { collection } = await complete(tour, api.POST("/v1/collections", {
        body: {
            type: "ERC721",
            name: "Tour Cats",
            symbol: "CATS",
            description: "Cats of the tour",
            image,
            mint_supply_count: CAP,
            seller_fee_basis_points: ROYALTY_BASIS_POINTS,
            fee_recipient: alice,
        },
    }));
    check(collection !== null, "the collection completed without an address");
    report.line(`collection  ${collection}`);
    const { collections } = await answerOf(api.GET("/v1/collections"));
    const listed = collections.find(({ address }) => address === collection);
    check(listed !== undefined, "the collection is not listed");
    check(listed.mint_supply_count === CAP, "the collection has the wrong supply cap");
    check(listed.seller_fee_basis_points === ROYALTY_BASIS_POINTS, "the collection has the wrong royalties");
    check(listed.image === image, "the collection has the wrong picture");
    check(listed.fee_recipient === alice, "the royalties go to the wrong recipient");
    return collection;
}
export async function createErc1155(tour, { alice, bob }) {
    const { api, report } = tour;
    report.step("Create a hosted ERC1155 collection");
    const { uri: image } = await api.uploadMedia(fileOf(gem("sapphire")));
    const { collection } = await complete(tour, api.POST("/v1/collections", {
        body: {
            type: "ERC1155",
            name: "Tour Gems",
            symbol: "GEMS",
            image,
        },
    }));
    check(collection !== null, "the collection completed without an address");
    report.line(`collection  ${collection}`);
    const stone = gem("amethyst");
    report.step(`Create token ${GEM} of it, with 10 copies for tour-alice`);
    await complete(tour, api.POST("/v1/nfts", {
        body: {
            collection_address: collection,
            token_id: GEM,
            initial_supply: 10,
            initial_owner: alice,
            name: "Gem {token_id}",
            image: dataUri(stone),
            attributes: stone.attributes,
            copy_media: true,
        },
    }));
    report.step(`Mint 5 more copies of token ${GEM} for tour-bob`);
    await complete(tour, api.POST("/v1/nfts", {
        body: { collection_address: collection, token_id: GEM, quantity: 5, to_address: bob },
    }));
    const [ofAlice, ofBob] = [await held(tour, alice, collection, GEM), await held(tour, bob, collection, GEM)];
    check(ofAlice?.quantity === 10 && ofBob?.quantity === 5, "the wallets hold the wrong number of copies");
    check(ofAlice.metadata?.name === `Gem ${GEM}`, "the token has the wrong name");
}
