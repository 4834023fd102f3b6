import { expect } from "chai";

import { useService } from "../../support/use-service.ts";

const SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>';

describe("minting with an uploaded file", () => {
  const moneta = useService();

  it("keeps the upload's address, with and without copy_media", async () => {
    const response = await fetch(`${moneta.baseUrl}/v1/media`, {
      method: "POST",
      headers: { authorization: `Bearer ${moneta.app.token}`, "content-type": "image/svg+xml" },
      body: SVG,
    });
    expect(response.status).to.equal(200);
    const { uri } = (await response.json()) as { uri: string };
    const collection = await moneta.api.collection({ type: "ERC721" });
    const to = await moneta.api.wallet();
    for (const copy of [false, true]) {
      const mint = { collection_address: collection, to_address: to, image: uri, copy_media: copy };
      const { nft_token_id: id } = await moneta.api.completed("/v1/nfts", mint);
      const metadata = await moneta.api.ok("GET", `/metadata/31337/${collection}/${String(id)}`);
      expect(metadata).to.include({ image: uri });
    }
    const served = await fetch(`${moneta.baseUrl}/ipfs/${uri.slice("ipfs://".length)}`);
    expect(await served.text()).to.equal(SVG);
  });
});
