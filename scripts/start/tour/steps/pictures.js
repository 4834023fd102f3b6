import { answerOf } from "../../../../client/client.ts";
import { check } from "../check.ts";
import { cat, CATS } from "../pictures/cats.ts";
import { dataUri, SVG_TYPE } from "../pictures/picture.ts";
/**
 * Mints tokens with pictures, all by one call. `copy_media` makes the service host what `image` names, so the pictures stay
 * when the place that they came from is gone. Here they come in `data:` URIs; `https:` and `ipfs:` work in the same way.
 * @returns the metadata of the tokens: now their pictures have addresses on IPFS.
 */
export async function mintPictures(tour, collection, { alice }) {
    const { api, requests, report } = tour;
    report.step(`Mint ${CATS} cats for tour-alice with one call; the service hosts their pictures (copy_media)`);
    const cats = Array.from({ length: CATS }, (_, number) => cat(number));
    const items = cats.map((picture) => ({
        collection_address: collection,
        to_address: alice,
        name: "Cat {token_id}",
        image: dataUri(picture),
        attributes: picture.attributes,
        copy_media: true,
    }));
    const { results } = await answerOf(api.POST("/v1/nfts/batch", { body: { items } }));
    const accepted = results.flatMap((result) => ("request_id" in result ? result.request_id : []));
    check(accepted.length === CATS, `only ${accepted.length} of ${CATS} mints were accepted`);
    const completed = await Promise.all(accepted.map((requestId) => requests.completed(requestId)));
    report.shared(completed, requests);
    const path = { address: collection };
    const { nfts } = await answerOf(api.GET("/v1/collections/{address}", { params: { path } }));
    const minted = nfts.flatMap(({ metadata }) => metadata ?? []);
    check(minted.length === CATS, `${minted.length} tokens have metadata`);
    const first = nfts.find(({ token_id: tokenId }) => tokenId === completed[0]?.tokenId);
    await checkPicture(tour, first?.metadata?.image ?? "", cats[0]?.svg ?? "");
    return minted;
}
/** Checks that the service answers with the picture at its place on IPFS, as any page would ask for it. */
async function checkPicture({ baseUrl, report, signal }, uri, expected) {
    check(uri.startsWith("ipfs://"), `the picture is at ${uri}, not on IPFS`);
    const url = `${baseUrl}/ipfs/${uri.slice("ipfs://".length)}`;
    const answer = await fetch(url, { signal });
    check(answer.headers.get("content-type") === SVG_TYPE, `${url} is no SVG`);
    check((await answer.text()) === expected, `${url} is another picture`);
    report.line(`a picture   ${url}`);
}
