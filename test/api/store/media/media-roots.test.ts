import { expect } from "chai";

import { namedContent } from "../../../../api/content/cids.ts";
import { textsThatNameContent } from "../../../../api/store/media/media-roots.ts";
import { addApp, addCollection, addRequest, randomAddress } from "../../support/rows.ts";
import { useTestDatabase } from "../../../support/use-database.ts";

const CIDS = [
  "bafkreifzjut3te2nhyekklss27nh3k72ysco7y32koao5eei66wof36n5e",
  "bafkreigh2akiscaildcqabsyg3dfr6chu3fgpregiymsck7e7aqa4s52zy",
  "bafybeigdyrzt5sfp7udm7hu76uh7y26nf3efuylqabf3oclgtqy55fbzdi",
  "bafkreihdwdcefgh4dqkjv67uzcmw7ojee6xedzdetojuzjevtenxquvyku",
] as const;

describe("textsThatNameContent", () => {
  const database = useTestDatabase({ prepare: addApp });

  const named = async () => [...(await namedContent(textsThatNameContent(database.read))).keys()];

  it("names what collections refer to, and mints and freezes that are not final yet", async () => {
    await addCollection(database, {
      metadata: { image: `ipfs://${CIDS[0]}`, external_link: `https://a.example/ipfs/${CIDS[1]}` },
    });
    expect(await named()).to.have.members([CIDS[0], CIDS[1]]);
    const metadata = { attributes: [{ trait_type: "film", value: [`ipfs://${CIDS[2]}/1.mp4`] }] };
    await addRequest(database, { kind: "mint-erc721", collection: randomAddress(), to: randomAddress(), metadata });
    expect(await named()).to.have.members(CIDS.slice(0, 3));
    const freeze = {
      kind: "freeze-metadata",
      collection: randomAddress(),
      type: "ERC721",
      directory: CIDS[3],
    } as const;
    await addRequest(database, freeze);
    expect(await named()).to.have.members(CIDS);
  });
});
