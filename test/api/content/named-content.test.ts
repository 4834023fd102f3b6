import { expect } from "chai";

import { namedContent } from "../../../api/content/cids.ts";
import { streamOf } from "../support/content.ts";

const CID = "bafkreifzjut3te2nhyekklss27nh3k72ysco7y32koao5eei66wof36n5e";
const OLD = "QmXxSDCDe6Vc47Lp5YpgHuXmDuP2YAgmUYNvxFT2SrRyTz";

describe("namedContent", () => {
  const named = async (...texts: string[]) => [...(await namedContent(streamOf(...texts))).keys()];

  it("is found in every form, each once", async () => {
    for (const text of [
      `{"image":"ipfs://${CID}"}`,
      `{"image":"IPFS://${CID}"}`,
      `{"image":"ipfs://ipfs/${CID}/a/b.png"}`,
      `{"image":"https://nft.example/ipfs/${CID}"}`,
      `{"image":"http://localhost:3000/ipfs/${CID}/1.png?x"}`,
      `{"description":"see ipfs://${CID}, it is good"}`,
      `ipfs://${CID}/{id}.json`,
    ])
      expect(await named(text), text).to.deep.equal([CID]);
    const found = await named(
      `ipfs://${OLD} ipfs://${CID}`,
      `/ipfs/${CID}`,
      "ipfs://cats",
      "ipfs://",
      `{"name":"${CID}"}`,
    );
    expect(found).to.have.length(2);
    expect(found).to.include(CID);
  });
});
