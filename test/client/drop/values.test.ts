import { expect } from "chai";

import { DEFAULT_LIMITS, MAX_ATTRIBUTE_DEPTH, MAX_REFERENCE_LENGTH } from "../../../api/config/limits.ts";
import { MEDIA_FIELDS, METADATA_FIELDS } from "../../../api/domain/command.ts";
import { LIMITS, MEDIA, METADATA } from "../../../client/drop/values.ts";

describe("the checks of a drop", () => {
  it("know the fields and the default limits of the service", () => {
    expect(METADATA).to.have.members([...METADATA_FIELDS]);
    expect(MEDIA).to.deep.equal(MEDIA_FIELDS);
    const { name, description, symbol, uri, attributes, userIdentifier, unlockableBytes, mediaBytes, metadataBytes } =
      DEFAULT_LIMITS;
    expect(LIMITS).to.deep.include({
      name,
      description,
      symbol,
      uri,
      attributes,
      userIdentifier,
      unlockableBytes,
      mediaBytes,
      metadataBytes,
    });
    expect(LIMITS).to.include({ reference: MAX_REFERENCE_LENGTH, attributeDepth: MAX_ATTRIBUTE_DEPTH });
  });
});
